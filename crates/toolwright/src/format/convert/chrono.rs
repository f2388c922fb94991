//! Conversions from and to the types of chrono, which has all times of RFC 3339, including leap seconds.

use chrono::{Datelike, FixedOffset, NaiveDate, Offset, TimeZone, Utc};

use super::by_value;
use crate::format::{Date, DateTime, RangeError};

impl From<&DateTime> for chrono::DateTime<Utc> {
    fn from(at: &DateTime) -> Self {
        let (seconds, nanosecond) = at.instant();
        Self::from_timestamp(seconds, nanosecond).expect("chrono has all years from 0 to 9999")
    }
}

impl From<&DateTime> for chrono::DateTime<FixedOffset> {
    fn from(at: &DateTime) -> Self {
        let offset = FixedOffset::east_opt(i32::from(at.offset_minutes()) * 60);
        let offset = offset.expect("chrono has all offsets below 24 hours");
        chrono::DateTime::<Utc>::from(at).with_timezone(&offset)
    }
}

/// Keeps the time and the offset; the name of the time zone and the seconds of the offset are lost.
impl<Zone: TimeZone> TryFrom<&chrono::DateTime<Zone>> for DateTime {
    type Error = RangeError;

    fn try_from(at: &chrono::DateTime<Zone>) -> Result<Self, RangeError> {
        let offset = super::minutes(at.offset().fix().local_minus_utc());
        Self::from_instant(at.timestamp(), at.timestamp_subsec_nanos(), offset)
            .ok_or_else(|| RangeError::not_a_date_time(format!("{at:?}")))
    }
}

/// Keeps the time and the offset; the name of the time zone and the seconds of the offset are lost.
impl<Zone: TimeZone> TryFrom<chrono::DateTime<Zone>> for DateTime {
    type Error = RangeError;

    fn try_from(at: chrono::DateTime<Zone>) -> Result<Self, RangeError> {
        Self::try_from(&at)
    }
}

impl From<&Date> for NaiveDate {
    fn from(date: &Date) -> Self {
        Self::from_ymd_opt(date.year().into(), date.month().into(), date.day().into())
            .expect("chrono has all days of the years 0 to 9999")
    }
}

impl TryFrom<NaiveDate> for Date {
    type Error = RangeError;

    fn try_from(date: NaiveDate) -> Result<Self, RangeError> {
        super::date((date.year(), date.month(), date.day()), &date)
    }
}

by_value! {
    From<DateTime> for chrono::DateTime<Utc>;
    From<DateTime> for chrono::DateTime<FixedOffset>;
    From<Date> for NaiveDate;
}
