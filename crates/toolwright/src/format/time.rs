//! Times of day with offsets (RFC 3339, section 5.6, `full-time`, and section 5.7).

use super::date::digits;

const MINUTES_PER_DAY: i16 = 24 * 60;

pub(super) fn is_time(text: &str) -> bool {
    Time::parse(text).is_some_and(|time| !time.is_leap_second() || time.is_end_of_utc_day())
}

/// A time of day. A leap second may be in any minute, since its validity also depends on the date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Time {
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    /// Digits after the ninth are valid but ignored.
    pub(super) nanosecond: u32,
    /// The offset in minutes, positive east of UTC.
    pub(super) offset: i16,
}

impl Time {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (hour, rest) = digits(text, 2)?;
        let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
        let (second, rest) = digits(rest.strip_prefix(':')?, 2)?;
        let (nanosecond, rest) = fraction(rest)?;
        let offset = offset(rest)?;
        let time = Self { hour, minute, second, nanosecond, offset };
        (hour < 24 && minute < 60 && second <= 60).then_some(time)
    }

    pub(super) fn is_leap_second(self) -> bool {
        self.second == 60
    }

    /// Returns true if the minute is the last one of a day in UTC.
    pub(super) fn is_end_of_utc_day(self) -> bool {
        self.utc_minute().rem_euclid(MINUTES_PER_DAY) == MINUTES_PER_DAY - 1
    }

    fn utc_minute(self) -> i16 {
        i16::from(self.hour) * 60 + i16::from(self.minute) - self.offset
    }
}

/// Parses an optional `.` with one or more digits, and returns the nanoseconds and the rest of the text.
fn fraction(text: &str) -> Option<(u32, &str)> {
    let Some(text) = text.strip_prefix('.') else { return Some((0, text)) };
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.strip_suffix(rest).filter(|digits| !digits.is_empty())?;
    let digits = digits.bytes().chain(std::iter::repeat(b'0')).take(9);
    Some((digits.fold(0, |number, digit| number * 10 + u32::from(digit - b'0')), rest))
}

/// Parses `Z`, or a sign with hours and minutes, up to the end of the text, and returns the offset in minutes.
fn offset(text: &str) -> Option<i16> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, rest) = digits::<i16>(text.strip_prefix(['+', '-'])?, 2)?;
    let (minutes, rest) = digits::<i16>(rest.strip_prefix(':')?, 2)?;
    (rest.is_empty() && hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}
