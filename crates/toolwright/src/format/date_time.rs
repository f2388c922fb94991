//! Date-times with offsets (RFC 3339, section 5.6), their order, and conversions to Unix time.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::time::{Duration, SystemTime};

use super::date::Day;
use super::time::Time;
use super::{Format, Formatted, RangeError};

/// A date-time of the format `date-time`: `2026-11-21T10:00:00Z`.
///
/// It keeps its text, which is also what is encoded.
///
/// Values are compared and hashed as instants, like the date-times of the crates jiff, chrono and time:
///
/// - The offset makes no difference: `10:00:00Z`, `11:00:00+01:00` and `10:00:00-00:00` of a day are equal. The unknown
///   offset `-00:00` is treated as UTC (RFC 3339, section 4.3).
/// - Neither do the case of the letters and zeros at the end of a fraction. Digits after the ninth of a fraction are
///   ignored.
/// - A leap second (RFC 3339, section 5.7) is an instant of its own, after `23:59:59` with any fraction and before the
///   next `00:00:00`, as in chrono.
///
/// Use [`DateTime::as_str`] to compare the texts.
///
/// ```
/// use toolwright::format::DateTime;
///
/// let london: DateTime = "2026-11-21T10:00:00Z".parse()?;
/// let paris: DateTime = "2026-11-21T11:00:00+01:00".parse()?;
/// assert_eq!(london, paris);
/// assert_ne!(london.as_str(), paris.as_str());
/// assert!(DateTime::from_unix_seconds(0).is_some_and(|epoch| epoch < london));
/// # Ok::<(), toolwright::format::FormatError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DateTime {
    pub(super) text: String,
    day: Day,
    time: Time,
}

impl DateTime {
    /// The current time of the system's clock, in UTC.
    ///
    /// # Panics
    ///
    /// If the clock is set before the year 0 or after the year 9999.
    pub fn now() -> Self {
        Self::try_from(SystemTime::now()).expect("the clock shows a year from 0 to 9999")
    }

    /// Converts seconds since 1970-01-01T00:00:00Z to a date-time in UTC; `None` outside the years 0 to 9999.
    pub fn from_unix_seconds(seconds: i64) -> Option<Self> {
        Self::from_instant(seconds, 0, 0)
    }

    /// Converts nanoseconds since 1970-01-01T00:00:00Z to a date-time in UTC; `None` outside the years 0 to 9999.
    pub fn from_unix_nanoseconds(nanoseconds: i128) -> Option<Self> {
        Self::from_unix(nanoseconds, 0)
    }

    /// Like [`DateTime::from_unix_nanoseconds`], with an offset in minutes.
    pub(in crate::format) fn from_unix(nanoseconds: i128, offset: i16) -> Option<Self> {
        let seconds = nanoseconds.div_euclid(NANOSECONDS_PER_SECOND.into()).try_into().ok()?;
        let nanosecond = nanoseconds.rem_euclid(NANOSECONDS_PER_SECOND.into()).try_into().ok()?;
        Self::from_instant(seconds, nanosecond, offset)
    }

    /// The inverse of [`DateTime::instant`], with an offset in minutes; `None` if RFC 3339 cannot express it.
    pub(in crate::format) fn from_instant(
        seconds: i64,
        nanosecond: u32,
        offset: i16,
    ) -> Option<Self> {
        let local = seconds.checked_add(i64::from(offset) * 60)?;
        let Day { year, month, day } = Day::after_epoch(local.div_euclid(SECONDS_PER_DAY))?;
        let of_day = local.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, mut second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        if nanosecond >= NANOSECONDS_PER_SECOND {
            second = Some(60).filter(|_| second == 59)?;
        }
        let fraction = match nanosecond % NANOSECONDS_PER_SECOND {
            0 => String::new(),
            nanosecond => format!(".{nanosecond:09}"),
        };
        let fraction = fraction.trim_end_matches('0');
        let sign = if offset < 0 { '-' } else { '+' };
        let (hours, minutes) = (offset.unsigned_abs() / 60, offset.unsigned_abs() % 60);
        let offset = match offset {
            0 => "Z".to_owned(),
            _ => format!("{sign}{hours:02}:{minutes:02}"),
        };
        Self::from_text(&format!(
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{offset}"
        ))
    }

    /// The year at its offset, 0 to 9999.
    pub const fn year(&self) -> u16 {
        self.day.year
    }

    /// The month at its offset, 1 to 12.
    pub const fn month(&self) -> u8 {
        self.day.month
    }

    /// The day of the month at its offset, 1 to 31.
    pub const fn day(&self) -> u8 {
        self.day.day
    }

    /// The hour at its offset, 0 to 23.
    pub const fn hour(&self) -> u8 {
        self.time.hour
    }

    /// The minute, 0 to 59.
    pub const fn minute(&self) -> u8 {
        self.time.minute
    }

    /// The second, 0 to 60: 60 is a leap second.
    pub const fn second(&self) -> u8 {
        self.time.second
    }

    /// The nanosecond of the second; digits after the ninth are ignored.
    pub const fn nanosecond(&self) -> u32 {
        self.time.nanosecond
    }

    /// The offset in minutes, positive east of UTC; 0 also for the unknown offset `-00:00`.
    pub const fn offset_minutes(&self) -> i16 {
        self.time.offset
    }

    /// Seconds since 1970-01-01T00:00:00Z without leap seconds: a leap second counts as the second after it, as in
    /// POSIX.
    ///
    /// The fraction is rounded down.
    pub fn unix_seconds(&self) -> i64 {
        let minutes = i64::from(self.time.hour) * 60 + i64::from(self.time.minute);
        let utc_minutes = minutes - i64::from(self.time.offset);
        (self.day.since_epoch() * 24 * 60 + utc_minutes) * 60 + i64::from(self.time.second)
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z; a leap second counts as the second after it.
    pub fn unix_nanoseconds(&self) -> i128 {
        let nanoseconds = i128::from(self.unix_seconds()) * i128::from(NANOSECONDS_PER_SECOND);
        nanoseconds + i128::from(self.nanosecond())
    }

    /// Seconds since 1970-01-01T00:00:00Z, and the nanosecond. A leap second is the second before it with a billion
    /// nanoseconds more, so that these pairs are in the order of time.
    pub(in crate::format) fn instant(&self) -> (i64, u32) {
        if self.time.is_leap_second() {
            (self.unix_seconds() - 1, self.nanosecond() + NANOSECONDS_PER_SECOND)
        } else {
            (self.unix_seconds(), self.nanosecond())
        }
    }
}

impl PartialEq for DateTime {
    fn eq(&self, other: &Self) -> bool {
        self.instant() == other.instant()
    }
}

impl Eq for DateTime {}

impl PartialOrd for DateTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DateTime {
    fn cmp(&self, other: &Self) -> Ordering {
        self.instant().cmp(&other.instant())
    }
}

impl Hash for DateTime {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.instant().hash(state);
    }
}

/// Converts to a date-time in UTC.
impl TryFrom<SystemTime> for DateTime {
    type Error = RangeError;

    fn try_from(time: SystemTime) -> Result<Self, RangeError> {
        let nanoseconds = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()),
            Err(before) => i128::try_from(before.duration().as_nanos()).map(|nanos| -nanos),
        };
        let instant = nanoseconds.ok().and_then(Self::from_unix_nanoseconds);
        instant.ok_or_else(|| RangeError::not_a_date_time(format!("{time:?}")))
    }
}

/// A leap second becomes the second after it. The range of [`SystemTime`] depends on the platform.
impl TryFrom<&DateTime> for SystemTime {
    type Error = RangeError;

    fn try_from(at: &DateTime) -> Result<Self, RangeError> {
        let seconds = Duration::from_secs(at.unix_seconds().unsigned_abs());
        let second = if at.unix_seconds() < 0 {
            Self::UNIX_EPOCH.checked_sub(seconds)
        } else {
            Self::UNIX_EPOCH.checked_add(seconds)
        };
        let nanosecond = Duration::from_nanos(at.nanosecond().into());
        let time = second.and_then(|second| second.checked_add(nanosecond));
        time.ok_or_else(|| RangeError::new(at.text.clone(), "a time that `SystemTime` can hold"))
    }
}

/// A leap second becomes the second after it. The range of [`SystemTime`] depends on the platform.
impl TryFrom<DateTime> for SystemTime {
    type Error = RangeError;

    fn try_from(at: DateTime) -> Result<Self, RangeError> {
        Self::try_from(&at)
    }
}

impl Formatted for DateTime {
    const FORMAT: Format = Format::DateTime;

    fn from_text(text: &str) -> Option<Self> {
        parse(text).map(|(day, time)| Self { text: text.to_owned(), day, time })
    }

    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

pub(super) fn is_date_time(text: &str) -> bool {
    parse(text).is_some()
}

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// The number of nanoseconds in a second.
const NANOSECONDS_PER_SECOND: u32 = 1_000_000_000;

/// The length of a date in bytes.
const DATE_LENGTH: usize = 10;

fn parse(text: &str) -> Option<(Day, Time)> {
    let (date, rest) = text.split_at_checked(DATE_LENGTH)?;
    let day = Day::parse(date)?;
    let time = Time::parse(rest.strip_prefix(['T', 't'])?)?;
    // The grammar does not define which days have a leap second; they are announced half a year before (RFC 3339, sections
    // 5.6 and 5.7).
    (!time.is_leap_second() || time.is_end_of_utc_day()).then_some((day, time))
}
