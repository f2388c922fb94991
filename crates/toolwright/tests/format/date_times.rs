//! Tests of date-times: their order, Unix time and range, also compared with jiff.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::{Duration, SystemTime};

use jiff::tz::Offset;
use jiff::{Timestamp, civil};
use proptest::prelude::*;
use toolwright::codec::{from_json, to_json};
use toolwright::format::{Date, DateTime};

/// Each row has several texts of one instant; the rows are in the order of time.
const IN_ORDER: [&[&str]; 9] = [
    &["0000-01-01T00:00:00+23:59"],
    &["0000-01-01T00:00:00Z", "0000-01-01T23:59:00+23:59"],
    &["1969-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.9999999999Z"],
    &["1970-01-01T00:00:00Z", "1970-01-01t00:00:00z", "1970-01-01T00:00:00.000-00:00"],
    &["2016-12-31T23:59:59.999999999Z", "2017-01-01T08:59:59.999999999+09:00"],
    &["2016-12-31T23:59:60Z", "2016-12-31T15:59:60.0-08:00"],
    &["2016-12-31T23:59:60.5Z", "2017-01-01T00:59:60.50+01:00"],
    &["2017-01-01T00:00:00Z", "2016-12-31T23:59:00-00:01"],
    &["9999-12-31T23:59:59Z", "9999-12-31T22:59:59-01:00"],
];

/// Seconds and nanoseconds since 1970, and their text.
const UNIX: [(i64, i128, &str); 7] = [
    (0, 0, "1970-01-01T00:00:00Z"),
    (-1, -1, "1969-12-31T23:59:59.999999999Z"),
    (482_196_050, 482_196_050_520_000_000, "1985-04-12T23:20:50.52Z"),
    (951_782_400, 951_782_400_000_000_001, "2000-02-29T00:00:00.000000001Z"),
    (951_868_799, 951_868_799_100_000_000, "2000-02-29T23:59:59.1Z"),
    (-62_167_219_200, -62_167_219_200_000_000_000, "0000-01-01T00:00:00Z"),
    (253_402_300_799, 253_402_300_799_999_999_999, "9999-12-31T23:59:59.999999999Z"),
];

pub(crate) fn date_time(text: &str) -> DateTime {
    DateTime::parse(text).unwrap_or_else(|| panic!("{text} is a date_time"))
}

fn hash(at: &DateTime) -> u64 {
    let mut hasher = DefaultHasher::new();
    at.hash(&mut hasher);
    hasher.finish()
}

#[test]
fn texts_of_one_instant_are_equal_and_others_are_ordered() {
    let rows = IN_ORDER.iter().enumerate();
    let all: Vec<_> = rows.flat_map(|(row, texts)| texts.iter().map(move |t| (row, *t))).collect();
    for (row, text) in &all {
        for (other_row, other) in &all {
            let (left, right) = (date_time(text), date_time(other));
            assert_eq!(left.cmp(&right), row.cmp(other_row), "{text} and {other}");
            assert_eq!(left == right, row == other_row, "{text} and {other}");
            assert_eq!(left.partial_cmp(&right), Some(left.cmp(&right)));
            assert!(left != right || hash(&left) == hash(&right), "{text} and {other}");
        }
    }
}

#[test]
fn a_date_time_is_encoded_with_its_original_text() {
    for text in IN_ORDER.iter().copied().flatten() {
        let json = format!("\"{text}\"");
        assert_eq!(to_json(&from_json::<DateTime>(json.as_bytes()).unwrap()).unwrap(), json);
    }
}

#[test]
fn date_times_convert_from_unix_time() {
    for (seconds, nanoseconds, text) in UNIX {
        let at = DateTime::from_unix_nanoseconds(nanoseconds).unwrap();
        assert_eq!(at.as_str(), text);
        assert_eq!((at.unix_seconds(), at.unix_nanoseconds()), (seconds, nanoseconds), "{text}");
        let whole = DateTime::from_unix_seconds(seconds).unwrap();
        assert_eq!((whole.unix_seconds(), whole.nanosecond()), (seconds, 0), "{text}");
    }
}

#[test]
fn unix_time_outside_the_years_0_to_9999_is_refused() {
    for seconds in [-62_167_219_201, 253_402_300_800, i64::MIN, i64::MAX] {
        assert_eq!(DateTime::from_unix_seconds(seconds), None, "{seconds}");
    }
    for nanoseconds in [-62_167_219_200_000_000_001, i128::MIN, i128::MAX] {
        assert_eq!(DateTime::from_unix_nanoseconds(nanoseconds), None, "{nanoseconds}");
    }
}

#[test]
fn a_leap_second_counts_as_the_next_second_in_unix_time() {
    let (leap, after) = (date_time("2016-12-31T23:59:60.5Z"), date_time("2017-01-01T00:00:00.5Z"));
    assert!(leap < after);
    assert_eq!(leap.unix_nanoseconds(), after.unix_nanoseconds());
    assert_eq!(SystemTime::try_from(&leap), SystemTime::try_from(&after));
}

#[test]
fn now_is_between_two_readings_of_the_clock() {
    let before = DateTime::try_from(SystemTime::now()).unwrap();
    let now = DateTime::now();
    let after = DateTime::try_from(SystemTime::now()).unwrap();
    assert!(before <= now && now <= after, "{before} {now} {after}");
    assert_eq!(DateTime::parse(now.as_str()), Some(now));
}

#[test]
fn a_system_time_after_the_year_9999_is_an_error() {
    let late = SystemTime::UNIX_EPOCH + Duration::new(253_402_300_800, 0);
    let error = DateTime::try_from(late).unwrap_err().to_string();
    assert!(error.contains("expected a time in the years 0 to 9999"), "{error}");
}

/// Times that jiff and RFC 3339 have at any offset, in nanoseconds since 1970.
fn nanoseconds() -> impl Strategy<Value = i128> {
    let second = -62_167_000_000_i128..253_402_000_000;
    let nanosecond = prop_oneof![Just(0), Just(500_000_000), 0..1_000_000_000_i128];
    (second, nanosecond).prop_map(|(second, nanosecond)| second * 1_000_000_000 + nanosecond)
}

fn offset() -> impl Strategy<Value = Offset> {
    (-1_439..1_440_i32).prop_map(|minutes| Offset::from_seconds(minutes * 60).unwrap())
}

proptest! {
    #[test]
    fn texts_of_jiff_are_parsed_as_in_jiff(nanoseconds in nanoseconds(), offset in offset()) {
        let theirs = Timestamp::from_nanosecond(nanoseconds).unwrap();
        prop_assert_eq!(DateTime::from_unix_nanoseconds(nanoseconds).unwrap().to_string(), theirs.to_string());
        let text = theirs.display_with_offset(offset).to_string();
        let ours = date_time(&text);
        prop_assert_eq!(ours.unix_nanoseconds(), nanoseconds);
        prop_assert_eq!(i32::from(ours.offset_minutes()) * 60, offset.seconds());
        prop_assert_eq!(ours.to_string(), text);
    }

    #[test]
    fn date_times_are_ordered_as_in_jiff(
        first in nanoseconds(),
        apart in prop_oneof![Just(0), -2..=2_i128, -100_000_000_000_000..100_000_000_000_000_i128],
        offsets in (offset(), offset()),
    ) {
        let first = Timestamp::from_nanosecond(first).unwrap();
        let second = Timestamp::from_nanosecond(first.as_nanosecond() + apart).unwrap();
        let left = date_time(&first.display_with_offset(offsets.0).to_string());
        let right = date_time(&second.display_with_offset(offsets.1).to_string());
        prop_assert_eq!(left.cmp(&right), first.cmp(&second));
        prop_assert_eq!(left == right, first == second);
        prop_assert!(left != right || hash(&left) == hash(&right));
    }

    #[test]
    fn date_times_survive_a_round_trip_through_the_system_time(nanoseconds in nanoseconds()) {
        let at = DateTime::from_unix_nanoseconds(nanoseconds).unwrap();
        let time = SystemTime::try_from(&at).unwrap();
        prop_assert_eq!(DateTime::try_from(time), Ok(at.clone()));
        prop_assert_eq!(Timestamp::try_from(time).unwrap().as_nanosecond(), nanoseconds);
    }

    #[test]
    fn every_date_of_jiff_is_a_date(
        year in prop_oneof![0..=9_999_i16, Just(1_900), Just(2_000), Just(10_000)],
        month in 0..=13_i8,
        day in 0..=32_i8,
    ) {
        let theirs = civil::Date::new(year, month, day).ok();
        let theirs = theirs.map(|date| date.to_string());
        let [year, month, day] = [year, month.into(), day.into()].map(|part| u16::try_from(part).unwrap());
        let ours = Date::new(year, month.try_into().unwrap(), day.try_into().unwrap());
        prop_assert_eq!(ours.map(String::from), theirs);
        prop_assert_eq!(ours.as_ref().and_then(|date| Date::parse(date.as_str())), ours);
    }
}
