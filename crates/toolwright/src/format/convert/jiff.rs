//! Conversions from and to the types of jiff. Its times end at 9999-12-30T22:00:00Z, and it has no leap seconds: one
//! becomes the second after it.

use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned, civil};

use super::by_value;
use crate::format::{Date, DateTime, RangeError};

impl TryFrom<&DateTime> for Timestamp {
    type Error = RangeError;

    fn try_from(at: &DateTime) -> Result<Self, RangeError> {
        let expected = "a time that jiff can hold, until 9999-12-30T22:00:00Z";
        Self::from_nanosecond(at.unix_nanoseconds())
            .map_err(|_| RangeError::new(at.to_string(), expected))
    }
}

/// Converts to a date-time in UTC.
impl TryFrom<Timestamp> for DateTime {
    type Error = RangeError;

    fn try_from(at: Timestamp) -> Result<Self, RangeError> {
        Self::from_unix_nanoseconds(at.as_nanosecond())
            .ok_or_else(|| RangeError::not_a_date_time(at.to_string()))
    }
}

/// Converts to a time zone that is the fixed offset.
impl TryFrom<&DateTime> for Zoned {
    type Error = RangeError;

    fn try_from(at: &DateTime) -> Result<Self, RangeError> {
        let offset = Offset::from_seconds(i32::from(at.offset_minutes()) * 60)
            .expect("jiff has all offsets below 24 hours");
        Ok(Timestamp::try_from(at)?.to_zoned(TimeZone::fixed(offset)))
    }
}

/// Keeps the time and the offset; the name of the time zone and the seconds of the offset are lost.
impl TryFrom<&Zoned> for DateTime {
    type Error = RangeError;

    fn try_from(at: &Zoned) -> Result<Self, RangeError> {
        let offset = super::minutes(at.offset().seconds());
        Self::from_unix(at.timestamp().as_nanosecond(), offset)
            .ok_or_else(|| RangeError::not_a_date_time(at.to_string()))
    }
}

impl From<&Date> for civil::Date {
    fn from(date: &Date) -> Self {
        let within = "a year has four digits, a month and a day have two";
        civil::date(
            i16::try_from(date.year()).expect(within),
            i8::try_from(date.month()).expect(within),
            i8::try_from(date.day()).expect(within),
        )
    }
}

impl TryFrom<civil::Date> for Date {
    type Error = RangeError;

    fn try_from(date: civil::Date) -> Result<Self, RangeError> {
        super::date((date.year(), date.month(), date.day()), &date)
    }
}

by_value! {
    From<Date> for civil::Date;
    TryFrom<DateTime> for Timestamp;
    TryFrom<DateTime> for Zoned;
    TryFrom<Zoned> for DateTime;
}
