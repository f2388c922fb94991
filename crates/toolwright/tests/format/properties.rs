//! Property tests with generated texts: nothing panics, and values survive a round trip.

use proptest::prelude::*;
use toolwright::codec::{Decode, Encode, from_json, to_json};
use toolwright::format::{Date, DateTime, Format, Ipv6, Uuid};

/// Texts that are similar to those of a format: pieces of valid texts in any order.
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

/// Valid date-times.
fn date_times() -> impl Strategy<Value = String> {
    let date = (0..=9999_u16, 1..=12_u8, 1..=28_u8);
    let time = (0..24_u8, 0..60_u8, 0..60_u8, "(\\.[0-9]{1,12})?");
    let offset = prop_oneof!["Z", "z", "[+-](0[0-9]|1[0-9]|2[0-3]):[0-5][0-9]"];
    (date, "[Tt]", time, offset).prop_map(|((year, month, day), t, (hour, minute, second, fraction), offset)| {
        format!("{year:04}-{month:02}-{day:02}{t}{hour:02}:{minute:02}:{second:02}{fraction}{offset}")
    })
}

/// Decodes a text as a JSON string and encodes it again.
fn round_trip<T: Decode + Encode>(text: &str) -> Option<String> {
    let json = to_json(text).unwrap();
    from_json::<T>(json.as_bytes()).ok().map(|value| {
        let written = to_json(&value).unwrap();
        assert_eq!(written, json);
        written
    })
}

/// Checks a text by every format, and that the types agree.
fn check(text: &str) {
    let valid = Format::ALL.map(|format| (format, format.is_valid(text)));
    for (format, valid) in valid {
        let typed = match format {
            Format::DateTime => round_trip::<DateTime>(text).is_some(),
            Format::Date => round_trip::<Date>(text).is_some(),
            Format::Uuid => round_trip::<Uuid>(text).is_some(),
            Format::Ipv4 => round_trip::<std::net::Ipv4Addr>(text).is_some(),
            Format::Ipv6 => round_trip::<Ipv6>(text).is_some(),
            _ => continue,
        };
        assert_eq!(typed, valid, "{format} {text:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_checked(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn similar_texts_are_checked(text in pieces()) {
        check(&text);
    }

    #[test]
    fn punycode_is_checked(text in "xn--[a-z0-9-]{0,59}") {
        check(&text);
    }

    #[test]
    fn date_times_survive_a_round_trip(text in date_times()) {
        let date_time = DateTime::parse(&text).unwrap();
        prop_assert_eq!(date_time.to_string(), text.as_str());
        let midnight = i64::from(date_time.offset_minutes()) * -60;
        let seconds = [(date_time.hour(), 3600), (date_time.minute(), 60), (date_time.second(), 1)];
        let of_day: i64 = seconds.iter().map(|(count, each)| i64::from(*count) * each).sum();
        let day = Date::parse(&text[..10]).unwrap();
        prop_assert_eq!((day.year(), day.month(), day.day()), (date_time.year(), date_time.month(), date_time.day()));
        prop_assert_eq!((date_time.unix_seconds() - midnight - of_day).rem_euclid(86_400), 0);
    }

    #[test]
    fn uuids_survive_a_round_trip(bytes in any::<u128>()) {
        let digits = format!("{bytes:032x}");
        let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
        let uuid = Uuid::parse(&parts.join("-")).unwrap();
        prop_assert_eq!(u128::from_be_bytes(uuid.to_bytes()), bytes);
        prop_assert_eq!(uuid.to_string(), parts.join("-"));
    }

    #[test]
    fn addresses_survive_a_round_trip(address in any::<std::net::Ipv6Addr>()) {
        let text = address.to_string();
        prop_assert_eq!(Ipv6::parse(&text).unwrap().addr(), address);
        prop_assert!(round_trip::<Ipv6>(&text).is_some());
    }
}
