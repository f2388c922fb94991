//! Tests of conversions from and to the types of jiff, chrono, time and uuid: edge cases and round trips.

use chrono::{FixedOffset, NaiveDate, TimeZone, Timelike, Utc};
use jiff::tz::{Offset, TimeZone as Zone};
use jiff::{Timestamp, Zoned, civil};
use proptest::prelude::*;
use time::{OffsetDateTime, UtcOffset};
use toolwright::format::{Date, DateTime, Uuid};

use crate::date_times::date_time;

/// The first and last date-times of RFC 3339, with true if jiff has them and true if time has them.
const EDGES: [(&str, bool, bool); 6] = [
    ("0000-01-01T00:00:00+23:59", true, true),
    ("9999-12-30T22:00:00Z", true, true),
    ("9999-12-30T22:00:01Z", false, true),
    ("9999-12-31T23:59:59.999999999Z", false, true),
    ("9999-12-31T23:59:60Z", false, false),
    ("9999-12-31T23:59:59-00:01", false, false),
];

#[test]
fn date_times_at_the_edges_convert_if_the_crate_can_hold_them() {
    for (text, jiff, time) in EDGES {
        let at = date_time(text);
        assert_eq!(Timestamp::try_from(&at).is_ok(), jiff, "{text}");
        assert_eq!(Zoned::try_from(&at).is_ok(), jiff, "{text}");
        assert_eq!(OffsetDateTime::try_from(&at).is_ok(), time, "{text}");
        let chrono = chrono::DateTime::<FixedOffset>::from(&at);
        assert_eq!(DateTime::try_from(chrono), Ok(at), "{text}");
    }
    let error = Timestamp::try_from(date_time("9999-12-31T00:00:00Z")).unwrap_err().to_string();
    let expected = "found 9999-12-31T00:00:00Z, \
        expected a time that jiff can hold, until 9999-12-30T22:00:00Z";
    assert_eq!(error, expected);
}

#[test]
fn a_leap_second_is_kept_in_chrono_and_becomes_the_next_second_elsewhere() {
    let leap = date_time("2017-01-01T00:59:60.5+01:00");
    let after = date_time("2017-01-01T00:00:00.5Z");
    let chrono = chrono::DateTime::<FixedOffset>::from(&leap);
    assert_eq!((chrono.second(), chrono.nanosecond()), (59, 1_500_000_000));
    assert_eq!(DateTime::try_from(chrono).unwrap().as_str(), leap.as_str());
    assert_eq!(Timestamp::try_from(&leap).map(DateTime::try_from).unwrap(), Ok(after.clone()));
    assert_eq!(OffsetDateTime::try_from(&leap).map(DateTime::try_from).unwrap(), Ok(after));
}

#[test]
fn a_leap_second_that_rfc_3339_does_not_have_is_an_error() {
    for (hour, minute, second) in [(12, 0, 59), (23, 59, 58)] {
        let time = Utc.with_ymd_and_hms(2016, 12, 31, hour, minute, second).unwrap();
        let leap = time.with_nanosecond(1_000_000_000).unwrap();
        assert!(DateTime::try_from(leap).is_err(), "{leap:?}");
    }
}

#[test]
fn seconds_of_an_offset_are_dropped_and_the_time_is_kept() {
    let expected = "1970-01-01T00:19:00+00:19";
    let zone = Zone::fixed(Offset::from_seconds(19 * 60 + 32).unwrap());
    let jiff = DateTime::try_from(Timestamp::UNIX_EPOCH.to_zoned(zone)).unwrap();
    let offset = FixedOffset::east_opt(19 * 60 + 32).unwrap();
    let chrono = DateTime::try_from(chrono::DateTime::UNIX_EPOCH.with_timezone(&offset)).unwrap();
    let offset = UtcOffset::from_whole_seconds(19 * 60 + 32).unwrap();
    let time = DateTime::try_from(OffsetDateTime::UNIX_EPOCH.to_offset(offset)).unwrap();
    assert_eq!([jiff.as_str(), chrono.as_str(), time.as_str()], [expected; 3]);
}

#[test]
fn values_that_rfc_3339_cannot_express_are_errors() {
    let wide = Zone::fixed(Offset::from_seconds(24 * 3600).unwrap());
    assert!(DateTime::try_from(Timestamp::UNIX_EPOCH.to_zoned(wide)).is_err());
    let wide = UtcOffset::from_hms(-24, 0, 0).unwrap();
    assert!(DateTime::try_from(OffsetDateTime::UNIX_EPOCH.to_offset(wide)).is_err());
    assert!(DateTime::try_from(Timestamp::MIN).is_err());
    assert!(DateTime::try_from(chrono::DateTime::<Utc>::MAX_UTC).is_err());
    assert!(DateTime::try_from(chrono::DateTime::<Utc>::MIN_UTC).is_err());
    let error = Date::try_from(civil::date(-1, 12, 31)).unwrap_err().to_string();
    assert_eq!(error, "found -000001-12-31, expected a date in the years 0 to 9999");
    assert!(Date::try_from(NaiveDate::MAX).is_err());
    assert!(Date::try_from(time::Date::MIN).is_err());
}

/// Date-times that all three crates have.
fn date_times() -> impl Strategy<Value = DateTime> {
    let text = (-62_167_000_000_i64..253_402_000_000, 0..1_000_000_000_i32, -1_439..1_440_i32);
    text.prop_map(|(second, nanosecond, minutes)| {
        let offset = Offset::from_seconds(minutes * 60).unwrap();
        let at = Timestamp::new(second, 0).unwrap() + jiff::SignedDuration::new(0, nanosecond);
        date_time(&at.display_with_offset(offset).to_string())
    })
}

/// The time and the offset, which a round trip must keep, although the text may differ.
fn parts(at: &DateTime) -> (i128, i16) {
    (at.unix_nanoseconds(), at.offset_minutes())
}

proptest! {
    #[test]
    fn date_times_survive_a_round_trip_through_each_crate(at in date_times()) {
        let zoned = Zoned::try_from(&at).unwrap();
        prop_assert_eq!(zoned.timestamp(), at.as_str().parse::<Timestamp>().unwrap());
        prop_assert_eq!(parts(&DateTime::try_from(&zoned).unwrap()), parts(&at));
        prop_assert_eq!(DateTime::try_from(zoned.timestamp()), Ok(at.clone()));

        let chrono = chrono::DateTime::<FixedOffset>::from(&at);
        prop_assert_eq!(i128::from(chrono.timestamp_micros()), at.unix_nanoseconds().div_euclid(1_000));
        prop_assert_eq!(parts(&DateTime::try_from(&chrono).unwrap()), parts(&at));
        let utc = chrono::DateTime::<Utc>::from(&at);
        prop_assert_eq!(utc, chrono);
        prop_assert_eq!(DateTime::try_from(utc), Ok(at.clone()));

        let time = OffsetDateTime::try_from(&at).unwrap();
        prop_assert_eq!(time.unix_timestamp_nanos(), at.unix_nanoseconds());
        prop_assert_eq!((time.hour(), time.minute()), (at.hour(), at.minute()));
        prop_assert_eq!(parts(&DateTime::try_from(time).unwrap()), parts(&at));
    }

    #[test]
    fn dates_survive_a_round_trip_through_each_crate(year in 0..=9_999_u16, month in 1..=12_u8, day in 1..=31_u8) {
        prop_assume!(Date::new(year, month, day).is_some());
        let date = Date::new(year, month, day).unwrap();
        let jiff = civil::Date::from(&date);
        prop_assert_eq!(jiff.to_string(), date.as_str());
        prop_assert_eq!(Date::try_from(jiff), Ok(date));
        let chrono = NaiveDate::from(&date);
        prop_assert_eq!(chrono.to_string(), date.as_str());
        prop_assert_eq!(Date::try_from(chrono), Ok(date));
        let time = time::Date::from(&date);
        prop_assert_eq!(time.to_string(), date.as_str());
        prop_assert_eq!(Date::try_from(time), Ok(date));
    }

    #[test]
    fn uuids_survive_a_round_trip_through_uuid(bytes in any::<u128>()) {
        let theirs = uuid::Uuid::from_u128(bytes);
        let ours = Uuid::from(theirs);
        prop_assert_eq!(ours.as_str(), theirs.to_string());
        prop_assert_eq!(uuid::Uuid::from(&ours), theirs);
        let large = Uuid::parse(&ours.as_str().to_uppercase()).unwrap();
        prop_assert_eq!(uuid::Uuid::from(large), theirs);
    }
}
