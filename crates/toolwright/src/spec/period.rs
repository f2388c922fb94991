//! Parses durations such as `500ms`, `5s`, `2m` or `1h` in schema files, agent files and commands.

use std::fmt;
use std::time::Duration;

/// The units in milliseconds; `ms` is before `m` and `s`, since it is tried first.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// The error for a text that is not a duration above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodError;

/// Parses a duration: digits and a unit, `ms`, `s`, `m` or `h`.
///
/// ```
/// use std::time::Duration;
/// use toolwright::spec::parse_period;
///
/// assert_eq!(parse_period("500ms"), Ok(Duration::from_millis(500)));
/// assert_eq!(
///     parse_period("5 s").unwrap_err().to_string(),
///     "expected a length of time above zero, such as 500ms, 5s, 2m or 1h"
/// );
/// ```
///
/// # Errors
///
/// If the text is not of this form, is zero, or exceeds `u64::MAX` milliseconds.
pub fn parse_period(text: &str) -> Result<Duration, PeriodError> {
    let digits_of = |(unit, length)| Some((text.strip_suffix(unit)?, length));
    let (digits, unit) = UNITS.into_iter().find_map(digits_of).ok_or(PeriodError)?;
    // `u64::from_str` accepts a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(PeriodError);
    }
    let count: u64 = digits.parse().map_err(|_| PeriodError)?;
    let length = count.checked_mul(unit).filter(|&length| length > 0);
    length.map(Duration::from_millis).ok_or(PeriodError)
}

impl PeriodError {
    /// The expected text, for error messages.
    #[doc(hidden)]
    pub const EXPECTED: &str = "a length of time above zero, such as 500ms, 5s, 2m or 1h";
}

impl fmt::Display for PeriodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", Self::EXPECTED)
    }
}

impl std::error::Error for PeriodError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_a_positive_number_with_a_unit() {
        let read = |text| parse_period(text).ok().map(|period| period.as_millis());
        for (text, milliseconds) in
            [("1ms", 1), ("007s", 7_000), ("2m", 120_000), ("1h", 3_600_000)]
        {
            assert_eq!(read(text), Some(milliseconds), "{text}");
        }
        for text in [
            "",
            "5",
            "s",
            "ms",
            "+5s",
            "-5s",
            "5 s",
            "5S",
            "0h",
            "1.5s",
            "90 minutes",
            "18446744073709551615h",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
