//! Conversions between the types of formats and those of other crates, each crate behind the feature of its name.
//!
//! No conversion reads a text: a value is taken apart and put together again.

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "time")]
mod time;
#[cfg(feature = "uuid")]
mod uuid;

/// Writes conversions by value that use those by reference.
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

/// A date of a calendar that may have other years than 0 to 9999.
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
    date.ok_or_else(|| super::RangeError::new(found.to_string(), "a day of the years 0 to 9999"))
}

/// The whole minutes of an offset in seconds, the rest cut: RFC 3339 has no seconds of an offset (section 5.6), and a
/// moment stays the same at any offset. What is too large for minutes is too large for RFC 3339.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
fn minutes(seconds: i32) -> i16 {
    i16::try_from(seconds / 60).unwrap_or(i16::MAX)
}
