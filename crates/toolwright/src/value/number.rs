//! [`Number`], which keeps the text of a number.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Decimal, Integer};
use crate::json::nearest_double;

/// A JSON number of any size and precision, which keeps its original text.
///
/// Numbers are compared by value: `1`, `1.0` and `10e-1` are equal.
#[derive(Clone, Debug)]
pub struct Number(Box<str>);

impl Number {
    /// Creates a number from a text that follows the JSON grammar of numbers.
    pub(crate) fn of_json(text: &str) -> Self {
        Self(text.into())
    }

    /// The original text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number as `i64`, if it is a whole number in that range.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok().or_else(|| self.to_integer()?.to_i64())
    }

    /// The number as `u64`, if it is a whole number in that range.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok().or_else(|| self.to_integer()?.to_u64())
    }

    /// The nearest finite `f64`.
    pub fn as_f64(&self) -> f64 {
        nearest_double(&self.0)
    }

    /// Returns true if the number is whole, in any notation: `1.0` and `1e2` are.
    pub fn is_integer(&self) -> bool {
        self.decimal().is_integer()
    }

    /// The exact integer, if the number is whole.
    pub fn to_integer(&self) -> Option<Integer> {
        Integer::from_decimal(self.decimal())
    }

    pub(super) fn decimal(&self) -> Decimal<'_> {
        Decimal::of(&self.0)
    }
}

impl Default for Number {
    fn default() -> Self {
        Self::of_json("0")
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.decimal() == other.decimal()
    }
}

impl Eq for Number {}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        self.decimal().cmp(&other.decimal())
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.decimal().hash(state);
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Number {
            fn from(value: $integer) -> Self {
                Self(value.to_string().into())
            }
        }
    )*};
}

from_integers!(i32, i64, i128, u32, u64, u128, usize, Integer);

/// The error for an `f64` that JSON cannot hold: NaN or an infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFiniteError;

impl fmt::Display for NotFiniteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("found NaN or an infinity, expected a finite number")
    }
}

impl std::error::Error for NotFiniteError {}

impl TryFrom<f64> for Number {
    type Error = NotFiniteError;

    fn try_from(value: f64) -> Result<Self, NotFiniteError> {
        // `Debug` writes the shortest text that parses to the same `f64`, and it is valid JSON.
        if value.is_finite() { Ok(Self(format!("{value:?}").into())) } else { Err(NotFiniteError) }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
