//! Tests of the types of formats: their fields, codecs and errors.

use std::net::Ipv4Addr;

use toolwright::codec::{Decode, Encode, Length, Reader, Writer, from_json, to_json};
use toolwright::format::{Date, DateTime, Format, FormatError, Ipv6, Uuid};

/// A struct with a field of each type, as in generated code.
#[derive(Debug, PartialEq)]
struct Event {
    at: DateTime,
    email: String,
    day: Option<Date>,
}

const SHORT: Length = Length::ANY.at_most(20);

impl Decode for Event {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        let (mut at, mut email, mut day) = (None, None, None);
        let mut object = input.object()?;
        while let Some(key) = object.next_key(input) {
            match key {
                "at" => at = input.formatted_as(SHORT),
                "email" => email = input.formatted(Format::Email, SHORT),
                "day" => day = Date::decode(input),
                _ => object.unknown_key(input, &["at", "email", "day"]),
            }
        }
        let (at, email) =
            (object.required(input, "at", at), object.required(input, "email", email));
        Some(Self { at: at?, email: email?, day })
    }
}

impl Encode for Event {
    fn encode(&self, out: &mut Writer) {
        let Some(mut object) = out.object() else { return };
        object.key("at").formatted_as(&self.at, SHORT);
        object.key("email").formatted(&self.email, Format::Email, SHORT);
        object.end();
    }
}

fn sentence<T: Decode>(json: &str) -> String {
    from_json::<T>(json.as_bytes()).err().map(|invalid| invalid.to_string()).unwrap_or_default()
}

#[test]
fn a_date_has_fields_and_keeps_its_text() {
    let date = Date::parse("2024-02-29").unwrap();
    assert_eq!((date.year(), date.month(), date.day()), (2024, 2, 29));
    assert_eq!((date.as_str(), date.to_string().as_str()), ("2024-02-29", "2024-02-29"));
    assert!(date < Date::parse("2024-03-01").unwrap());
}

#[test]
fn a_date_time_has_the_fields_of_its_offset() {
    let at = DateTime::parse("1990-12-31T15:59:60.1234567891-08:00").unwrap();
    assert_eq!((at.year(), at.month(), at.day()), (1990, 12, 31));
    assert_eq!((at.hour(), at.minute(), at.second()), (15, 59, 60));
    assert_eq!((at.nanosecond(), at.offset_minutes()), (123_456_789, -480));
}

#[test]
fn a_date_time_converts_to_unix_time() {
    let cases = [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00+00:01", -60),
        ("1985-04-12T23:20:50.52Z", 482_196_050),
        ("1996-12-19T16:39:57-08:00", 851_042_397),
        ("1990-12-31T23:59:60Z", 662_688_000),
        ("2000-02-29T00:00:00Z", 951_782_400),
        ("2000-03-01T00:00:00Z", 951_868_800),
        ("0000-01-01T00:00:00Z", -62_167_219_200),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ];
    for (text, seconds) in cases {
        assert_eq!(DateTime::parse(text).unwrap().unix_seconds(), seconds, "{text}");
    }
}

#[test]
fn a_uuid_keeps_the_case_of_its_digits_and_has_bytes() {
    let (small, large) =
        ("00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-AABBCCDDEEFF");
    let (small, large) = (Uuid::parse(small).unwrap(), Uuid::parse(large).unwrap());
    assert_ne!(small, large);
    assert_eq!(small.to_bytes(), large.to_bytes());
    assert_eq!(small.to_bytes(), std::array::from_fn(|place| u8::try_from(place * 0x11).unwrap()));
}

#[test]
fn an_address_keeps_its_text() {
    for json in [r#""2001:DB8:0:0::1""#, r#""::ffff:192.0.2.1""#] {
        assert_eq!(to_json(&from_json::<Ipv6>(json.as_bytes()).unwrap()).unwrap(), json);
    }
    let address = Ipv6::parse("0:0::1").unwrap();
    assert_eq!(address.addr(), std::net::Ipv6Addr::LOCALHOST);
    assert_eq!(Ipv6::from(address.addr()).as_str(), "::1");
    assert_eq!(from_json::<Ipv4Addr>(br#""192.0.2.1""#), Ok(Ipv4Addr::new(192, 0, 2, 1)));
    assert_eq!(to_json(&Ipv4Addr::LOCALHOST).unwrap(), r#""127.0.0.1""#);
}

#[test]
fn the_issue_of_an_invalid_text_is_a_sentence() {
    let cases = [
        (
            sentence::<DateTime>(r#""tomorrow""#),
            r#"the payload: found "tomorrow", expected a date-time such as 2026-11-21T10:00:00Z"#,
        ),
        (
            sentence::<Vec<Ipv4Addr>>(r#"["127.0.0.1","::1"]"#),
            r#"`/1`: found "::1", expected an IPv4 address such as 192.0.2.1"#,
        ),
        (sentence::<Uuid>("7"), "the payload: found the number 7, expected a string"),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn the_issue_of_an_invalid_text_has_the_format_as_data() {
    let invalid = from_json::<Date>(br#""2026-02-30""#).unwrap_err();
    let issue = invalid.to_value().pointer("/0").map(ToString::to_string).unwrap();
    let expected = r#"{"pointer":"","code":"format","message":"found \"2026-02-30\", expected a date such as 2026-11-21","expected":"date","found":"2026-02-30"}"#;
    assert_eq!(issue, expected);
}

#[test]
fn formats_and_lengths_are_reported_together() {
    let json =
        r#"{"at":"tomorrow at noon, please","email":"nobody, whose name is long","day":"x"}"#;
    let found = sentence::<Event>(json);
    let codes: Vec<&str> = found.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(codes, ["`/at`", "`/at`", "`/email`", "`/email`", "`/day`"]);
}

#[test]
fn values_that_decoding_refuses_are_not_written() {
    let at = DateTime::parse("2026-11-21T10:00:00.000Z").unwrap();
    let event = Event { at, email: "nobody".to_owned(), day: None };
    let found = to_json(&event).unwrap_err().to_string();
    let expected = "`/at`: has 24 characters, at most 20 allowed\n\
        `/email`: found \"nobody\", expected an email address such as name@example.com";
    assert_eq!(found, expected);
}

#[test]
fn a_payload_with_formats_survives_a_round_trip() {
    let json = r#"{"at":"2026-11-21t10:00:00z","email":"a@b.c"}"#;
    let event: Event = from_json(json.as_bytes()).unwrap();
    assert_eq!(to_json(&event).unwrap(), json);
}

#[test]
fn texts_parse_and_errors_name_the_format() {
    let uuid: Result<Uuid, FormatError> = "x".parse();
    let error = uuid.unwrap_err();
    assert_eq!(error.format(), Format::Uuid);
    let expected = "found \"x\", expected a UUID such as 123e4567-e89b-42d3-a456-426614174000";
    assert_eq!(error.to_string(), expected);
    let date = Date::try_from("2026-11-21".to_owned()).unwrap();
    assert_eq!(format!("{date:>12}"), "  2026-11-21");
    assert_eq!(String::from(date), "2026-11-21");
}

#[test]
fn serde_uses_the_same_codec() {
    let date: Date = serde_json::from_str(r#""2026-11-21""#).unwrap();
    assert_eq!(serde_json::to_string(&date).unwrap(), r#""2026-11-21""#);
    let error = serde_json::from_str::<Date>(r#""2026-13-21""#).unwrap_err().to_string();
    assert!(error.contains("expected a date such as"), "{error}");
}
