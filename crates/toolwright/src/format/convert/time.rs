//! Conversions from and to the types of the crate `time`, which has no leap seconds: one becomes the second after it.

use time::{Month, OffsetDateTime, UtcOffset};

use super::by_value;
use crate::format::{Date, DateTime, RangeError};

/// Keeps the time and the offset.
impl TryFrom<&DateTime> for OffsetDateTime {
    type Error = RangeError;

    fn try_from(at: &DateTime) -> Result<Self, RangeError> {
        let offset = UtcOffset::from_whole_seconds(i32::from(at.offset_minutes()) * 60);
        let time = Self::from_unix_timestamp_nanos(at.unix_nanoseconds());
        let time = offset.and_then(|offset| Ok(time?.to_offset(offset)));
        let expected = "a time that `time` can hold, until the year 9999 in UTC";
        time.map_err(|_| RangeError::new(at.to_string(), expected))
    }
}

/// Keeps the time and the offset; the seconds of the offset are lost.
impl TryFrom<OffsetDateTime> for DateTime {
    type Error = RangeError;

    fn try_from(at: OffsetDateTime) -> Result<Self, RangeError> {
        let offset = super::minutes(at.offset().whole_seconds());
        Self::from_unix(at.unix_timestamp_nanos(), offset)
            .ok_or_else(|| RangeError::not_a_date_time(at.to_string()))
    }
}

impl From<&Date> for time::Date {
    fn from(date: &Date) -> Self {
        Month::try_from(date.month())
            .and_then(|month| Self::from_calendar_date(date.year().into(), month, date.day()))
            .expect("`time` has all days of the years 0 to 9999")
    }
}

impl TryFrom<time::Date> for Date {
    type Error = RangeError;

    fn try_from(date: time::Date) -> Result<Self, RangeError> {
        super::date((date.year(), u8::from(date.month()), date.day()), &date)
    }
}

by_value! {
    From<Date> for time::Date;
    TryFrom<DateTime> for OffsetDateTime;
}
