//! The error of conversions between types with different ranges.

use std::fmt;

/// The error for a time, a date or an integer that the target type cannot hold.
///
/// It displays as `found 9999-12-31T00:00:00Z, expected …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeError {
    found: String,
    expected: &'static str,
}

impl RangeError {
    pub(crate) fn new(found: String, expected: &'static str) -> Self {
        Self { found, expected }
    }

    /// The value cannot be written as a date-time (RFC 3339, sections 5.6 and 5.7).
    pub(super) fn not_a_date_time(found: String) -> Self {
        let expected = "a time in the years 0 to 9999, at an offset below 24 hours, \
            with leap seconds only at the end of a day in UTC";
        Self::new(found, expected)
    }
}

impl fmt::Display for RangeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "found {}, expected {}", self.found, self.expected)
    }
}

impl std::error::Error for RangeError {}
