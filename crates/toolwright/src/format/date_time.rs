//! Moments: a date and a time with its offset (RFC 3339, section 5.6). What is a right date or time alone is not here.

use std::borrow::Cow;

use super::date::Day;
use super::time::Time;
use super::{Format, Formatted};

/// A moment, as it is written: `2026-11-21T10:00:00Z`. The format `date-time`.
///
/// Moments are equal and ordered as their texts are, so two ways to write one moment differ; compare
/// [`DateTime::unix_seconds`] and [`DateTime::nanosecond`] to compare points in time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    pub(super) text: String,
    day: Day,
    time: Time,
}

impl DateTime {
    /// The year at its offset, 0 to 9999.
    pub fn year(&self) -> u16 {
        self.day.year
    }

    /// The month at its offset, 1 to 12.
    pub fn month(&self) -> u8 {
        self.day.month
    }

    /// The day of the month at its offset, 1 to 31.
    pub fn day(&self) -> u8 {
        self.day.day
    }

    /// The hour at its offset, 0 to 23.
    pub fn hour(&self) -> u8 {
        self.time.hour
    }

    /// The minute, 0 to 59.
    pub fn minute(&self) -> u8 {
        self.time.minute
    }

    /// The second, 0 to 60: 60 is a leap second.
    pub fn second(&self) -> u8 {
        self.time.second
    }

    /// The nanosecond of the second; digits beyond the ninth are cut.
    pub fn nanosecond(&self) -> u32 {
        self.time.nanosecond
    }

    /// Minutes ahead of UTC; negative west of it, 0 also for the unknown offset `-00:00`.
    pub fn offset_minutes(&self) -> i16 {
        self.time.offset
    }

    /// Seconds from 1970-01-01T00:00:00Z, leap seconds not counted: one is as the second after it.
    pub fn unix_seconds(&self) -> i64 {
        let minutes = i64::from(self.time.hour) * 60 + i64::from(self.time.minute);
        let utc_minutes = minutes - i64::from(self.time.offset);
        (self.day.since_epoch() * 24 * 60 + utc_minutes) * 60 + i64::from(self.time.second)
    }
}

impl Formatted for DateTime {
    const FORMAT: Format = Format::DateTime;

    fn of_text(text: &str) -> Option<Self> {
        parse(text).map(|(day, time)| Self { text: text.to_owned(), day, time })
    }

    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

pub(super) fn is_date_time(text: &str) -> bool {
    parse(text).is_some()
}

/// The length of a date in bytes.
const DATE: usize = 10;

fn parse(text: &str) -> Option<(Day, Time)> {
    let (date, rest) = text.split_at_checked(DATE)?;
    let day = Day::parse(date)?;
    let time = Time::parse(rest.strip_prefix(['T', 't'])?)?;
    // On which days there is one is announced half a year before, not written in the grammar (RFC 3339, 5.6 and 5.7).
    (!time.is_leap_second() || time.is_end_of_utc_day()).then_some((day, time))
}
