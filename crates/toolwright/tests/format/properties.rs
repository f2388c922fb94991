//! Properties over generated texts: nothing panics, and what is read is written back.

use proptest::prelude::*;
use toolwright::codec::{Decode, Encode, from_json, to_json};
use toolwright::format::{Date, DateTime, Format, Ipv6, Uuid};

/// Texts that are nearly of some format: pieces of texts that are, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "2026-11-21",
        "T10:00:00",
        "Z",
        "23:59:60",
        ".5",
        "+01:00",
        "P",
        "1Y",
        "2M",
        "T",
        "3S",
        "1W",
        "::",
        "1",
        ":",
        "ffff",
        "127.0.0.1",
        "[",
        "]",
        "/",
        "//",
        "?",
        "#",
        "@",
        "%4",
        "%41",
        "a",
        "a.b",
        ".",
        "-",
        "xn--",
        "-3ya",
        "\"",
        "\\",
        "\\u",
        "\\u{41}",
        "{2,3}",
        "{",
        "}",
        "(",
        ")",
        "(?<a>",
        "(?=",
        "\\k<a>",
        "\\1",
        "\\p{",
        "L}",
        "*",
        "|",
        "^",
        "~0",
        "~",
        "é",
        "\u{200c}",
        "\n",
        " ",
        "123e4567-e89b-42d3-a456-426614174000",
    ]);
    prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

/// Moments that exist.
fn moments() -> impl Strategy<Value = String> {
    let date = (0..=9999_u16, 1..=12_u8, 1..=28_u8);
    let time = (0..24_u8, 0..60_u8, 0..60_u8, "(\\.[0-9]{1,12})?");
    let offset = prop_oneof!["Z", "z", "[+-](0[0-9]|1[0-9]|2[0-3]):[0-5][0-9]"];
    (date, "[Tt]", time, offset).prop_map(|((year, month, day), t, (hour, minute, second, fraction), offset)| {
        format!("{year:04}-{month:02}-{day:02}{t}{hour:02}:{minute:02}:{second:02}{fraction}{offset}")
    })
}

/// Reads a text as JSON and writes it back.
fn carried<T: Decode + Encode>(text: &str) -> Option<String> {
    let json = to_json(text).unwrap();
    from_json::<T>(json.as_bytes()).ok().map(|value| {
        let written = to_json(&value).unwrap();
        assert_eq!(written, json);
        written
    })
}

/// Judges a text by every format; the types must agree with the checkers.
fn judge(text: &str) {
    let valid = Format::ALL.map(|format| (format, format.is_valid(text)));
    for (format, valid) in valid {
        let typed = match format {
            Format::DateTime => carried::<DateTime>(text).is_some(),
            Format::Date => carried::<Date>(text).is_some(),
            Format::Uuid => carried::<Uuid>(text).is_some(),
            Format::Ipv4 => carried::<std::net::Ipv4Addr>(text).is_some(),
            Format::Ipv6 => carried::<Ipv6>(text).is_some(),
            _ => continue,
        };
        assert_eq!(typed, valid, "{format} {text:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_judged(text in any::<String>()) {
        judge(&text);
    }

    #[test]
    fn nearly_right_texts_are_judged(text in pieces()) {
        judge(&text);
    }

    #[test]
    fn punycode_is_judged(text in "xn--[a-z0-9-]{0,59}") {
        judge(&text);
    }

    #[test]
    fn moments_are_read_and_written_back(text in moments()) {
        let moment = DateTime::parse(&text).unwrap();
        prop_assert_eq!(moment.to_string(), text.as_str());
        let midnight = i64::from(moment.offset_minutes()) * -60;
        let seconds = [(moment.hour(), 3600), (moment.minute(), 60), (moment.second(), 1)];
        let of_day: i64 = seconds.iter().map(|(count, each)| i64::from(*count) * each).sum();
        let day = Date::parse(&text[..10]).unwrap();
        prop_assert_eq!((day.year(), day.month(), day.day()), (moment.year(), moment.month(), moment.day()));
        prop_assert_eq!((moment.unix_seconds() - midnight - of_day).rem_euclid(86_400), 0);
    }

    #[test]
    fn uuids_are_read_and_written_back(bytes in any::<u128>()) {
        let digits = format!("{bytes:032x}");
        let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
        let uuid = Uuid::parse(&parts.join("-")).unwrap();
        prop_assert_eq!(u128::from_be_bytes(uuid.to_bytes()), bytes);
        prop_assert_eq!(uuid.to_string(), parts.join("-"));
    }

    #[test]
    fn addresses_are_read_and_written_back(address in any::<std::net::Ipv6Addr>()) {
        let text = address.to_string();
        prop_assert_eq!(Ipv6::parse(&text).unwrap().addr(), address);
        prop_assert!(carried::<Ipv6>(&text).is_some());
    }
}
