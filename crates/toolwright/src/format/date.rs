//! Dates (RFC 3339, section 5.6, `full-date`, and section 5.7).

use std::borrow::Cow;
use std::str::FromStr;

use super::text::AsciiText;
use super::{Format, Formatted};

/// A date of the format `date`: `2026-11-21`.
///
/// Dates are ordered as days. Each day has only one text, and the order of the texts is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    pub(super) text: AsciiText<10>,
    day: Day,
}

impl Date {
    /// Creates a date from a year (0 to 9999), a month (1 to 12) and a day of that month; `None` if there is no such
    /// day.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        Self::from_text(&format!("{year:04}-{month:02}-{day:02}"))
    }

    /// The year, 0 to 9999.
    pub const fn year(&self) -> u16 {
        self.day.year
    }

    /// The month, 1 to 12.
    pub const fn month(&self) -> u8 {
        self.day.month
    }

    /// The day of the month, 1 to 31.
    pub const fn day(&self) -> u8 {
        self.day.day
    }
}

impl Formatted for Date {
    const FORMAT: Format = Format::Date;

    fn from_text(text: &str) -> Option<Self> {
        Some(Self { text: AsciiText::new(text)?, day: Day::parse(text)? })
    }

    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

pub(super) fn is_date(text: &str) -> bool {
    Day::parse(text).is_some()
}

/// A day that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Day {
    pub(super) year: u16,
    pub(super) month: u8,
    pub(super) day: u8,
}

impl Day {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (year, rest) = digits(text, 4)?;
        let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
        let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
        let parsed = Self { year, month, day };
        (rest.is_empty() && parsed.exists()).then_some(parsed)
    }

    fn exists(self) -> bool {
        self.year <= 9999
            && (1..=12).contains(&self.month)
            && (1..=self.days_in_month()).contains(&self.day)
    }

    /// The last day of its month (RFC 3339, section 5.7 and appendix C).
    pub(super) fn days_in_month(self) -> u8 {
        let year = self.year;
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// The number of days since 1970-01-01.
    pub(super) fn since_epoch(self) -> i64 {
        // Years are counted from March, so that a leap day is the last day of its year.
        let (year, month, day) = (i64::from(self.year), i64::from(self.month), i64::from(self.day));
        let year = if month > 2 { year } else { year - 1 };
        let before_month = (153 * ((month + 9) % 12) + 2) / 5;
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        365 * year + leap_days + before_month + day - 1 - DAYS_TO_EPOCH
    }

    /// Returns the day that is `days` days after 1970-01-01; `None` outside the years 0 to 9999.
    pub(super) fn after_epoch(days: i64) -> Option<Self> {
        // Years and months are counted from March here too. 400 years (an era) have 146,097 days, a century has 36,524,
        // and four years have 1,461.
        let days = days.checked_add(DAYS_TO_EPOCH)?;
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let year = days.div_euclid(146_097) * 400 + year_of_era + i64::from(month > 9);
        let month = (month + 2) % 12 + 1;
        let day = Self {
            year: year.try_into().ok()?,
            month: month.try_into().ok()?,
            day: day.try_into().ok()?,
        };
        day.exists().then_some(day)
    }
}

/// The number of days from March 1 of the year 0 to 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_468;

/// Parses exactly `count` ASCII digits at the start of a text, and returns the number and the rest of the text.
pub(super) fn digits<N: FromStr>(text: &str, count: usize) -> Option<(N, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((plain.then(|| digits.parse().ok())??, rest))
}
