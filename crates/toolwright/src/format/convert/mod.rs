//! Conversions between the types of formats and those of other crates. Each crate has a feature with its name.
//!
//! They convert numbers, not texts.

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "time")]
mod time;
#[cfg(feature = "uuid")]
mod uuid;

/// Implements conversions by value that call those by reference.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time", feature = "uuid"))]
macro_rules! by_value {
    ($(From<$from:ty> for $to:ty;)* $(TryFrom<$tried:ty> for $into:ty;)*) => {
        $(
            impl From<$from> for $to {
                fn from(value: $from) -> Self {
                    Self::from(&value)
                }
            }
        )*
        $(
            impl TryFrom<$tried> for $into {
                type Error = crate::format::RangeError;

                fn try_from(value: $tried) -> Result<Self, Self::Error> {
                    Self::try_from(&value)
                }
            }
        )*
    };
}

#[cfg(any(feature = "chrono", feature = "jiff", feature = "time", feature = "uuid"))]
use by_value;

/// Creates a date; an error if the year is not from 0 to 9999.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
fn date<Year, Month, Day>(
    (year, month, day): (Year, Month, Day),
    found: &dyn std::fmt::Display,
) -> Result<super::Date, super::RangeError>
where
    Year: TryInto<u16>,
    Month: TryInto<u8>,
    Day: TryInto<u8>,
{
    let parts = (year.try_into(), month.try_into(), day.try_into());
    let date = match parts {
        (Ok(year), Ok(month), Ok(day)) => super::Date::new(year, month, day),
        _ => None,
    };
    date.ok_or_else(|| super::RangeError::new(found.to_string(), "a date in the years 0 to 9999"))
}

/// Converts an offset from seconds to whole minutes, since offsets of RFC 3339 have no seconds (section 5.6). Too large
/// an offset becomes `i16::MAX`, which RFC 3339 cannot express either.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
fn minutes(seconds: i32) -> i16 {
    i16::try_from(seconds / 60).unwrap_or(i16::MAX)
}
