//! [`Integer`], an integer of any size.

use std::cmp::Ordering;
use std::fmt;

use super::Decimal;
use crate::format::RangeError;
use crate::json::shortened;

/// Integers with more digits are displayed with an exponent.
const MAX_DIGITS: usize = 64;

/// An exact integer of any size.
///
/// It displays as digits, or with an exponent if it has more than 64 digits (`1e999999999`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Integer(Form);

/// Numbers inside `i64` are always `Small`, so that equal numbers have equal forms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Form {
    Small(i64),
    Big(Box<Decimal<'static>>),
}

impl Integer {
    /// Converts a decimal that is an integer.
    pub(crate) fn from_decimal(decimal: Decimal<'_>) -> Option<Self> {
        if !decimal.is_integer() {
            return None;
        }
        let small = decimal.written_out(19).and_then(|digits| digits.parse().ok());
        Some(Self(small.map_or_else(|| Form::Big(Box::new(decimal.into_owned())), Form::Small)))
    }

    /// The number as `i64`, if it is in that range.
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Form::Small(value) => Some(value),
            Form::Big(_) => None,
        }
    }

    /// The number as `u64`, if it is in that range.
    pub fn to_u64(&self) -> Option<u64> {
        match &self.0 {
            Form::Small(value) => u64::try_from(*value).ok(),
            Form::Big(decimal) => decimal.written_out(20)?.parse().ok(),
        }
    }

    /// The number as `i128`, if it is in that range.
    pub fn to_i128(&self) -> Option<i128> {
        match &self.0 {
            Form::Small(value) => Some(i128::from(*value)),
            Form::Big(decimal) => decimal.written_out(39)?.parse().ok(),
        }
    }

    /// Returns true if the number is below zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Form::Small(value) => *value < 0,
            Form::Big(decimal) => decimal.is_negative(),
        }
    }
}

impl Default for Integer {
    fn default() -> Self {
        Self(Form::Small(0))
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Self(Form::Small(value))
    }
}

macro_rules! from_narrow {
    ($($narrow:ty),*) => {$(
        impl From<$narrow> for Integer {
            fn from(value: $narrow) -> Self {
                Self(Form::Small(i64::from(value)))
            }
        }
    )*};
}

from_narrow!(i8, i16, i32, u8, u16, u32);

macro_rules! from_wide {
    ($($wide:ty),*) => {$(
        impl From<$wide> for Integer {
            fn from(value: $wide) -> Self {
                let big = || Form::Big(Box::new(Decimal::of(&value.to_string()).into_owned()));
                Self(i64::try_from(value).map_or_else(|_| big(), Form::Small))
            }
        }
    )*};
}

from_wide!(u64, usize, isize, i128, u128);

macro_rules! into_standard {
    ($($standard:ty),*) => {$(
        impl TryFrom<&Integer> for $standard {
            type Error = RangeError;

            fn try_from(integer: &Integer) -> Result<Self, RangeError> {
                let standard = integer.to_i128().and_then(|value| Self::try_from(value).ok());
                standard.ok_or_else(|| {
                    let expected = concat!("an integer that `", stringify!($standard), "` holds");
                    RangeError::new(shortened(&integer.to_string()), expected)
                })
            }
        }

        impl TryFrom<Integer> for $standard {
            type Error = RangeError;

            fn try_from(integer: Integer) -> Result<Self, RangeError> {
                Self::try_from(&integer)
            }
        }
    )*};
}

into_standard!(i8, i16, i32, i64, isize, i128, u8, u16, u32, u64, usize);

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Form::Small(mine), Form::Small(theirs)) => mine.cmp(theirs),
            (Form::Big(mine), Form::Big(theirs)) => mine.cmp(theirs),
            (Form::Big(mine), Form::Small(_)) if mine.is_negative() => Ordering::Less,
            (Form::Big(_), Form::Small(_)) => Ordering::Greater,
            (Form::Small(_), Form::Big(_)) => other.cmp(self).reverse(),
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Small(value) => write!(out, "{value}"),
            Form::Big(decimal) => {
                let digits = decimal.written_out(MAX_DIGITS);
                out.write_str(&digits.unwrap_or_else(|| decimal.scientific()))
            }
        }
    }
}
