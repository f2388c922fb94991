//! The trait of types that have a format, and conversions of those that keep their text.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv4Addr;
use std::ops::Deref;

use super::Format;
use crate::json::{quoted, shortened};

/// A type whose values are texts of one format.
pub trait Formatted: Sized {
    /// The format.
    const FORMAT: Format;

    /// Parses a text; `None` if it is not of the format.
    fn from_text(text: &str) -> Option<Self>;

    /// The text of the value.
    fn text(&self) -> Cow<'_, str>;
}

/// The error for a text that is not of its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    format: Format,
    found: String,
}

impl FormatError {
    pub(crate) fn new(format: Format, found: &str) -> Self {
        Self { format, found: shortened(found) }
    }

    /// The format that was expected.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The beginning of the text that was found.
    pub(crate) fn into_found(self) -> String {
        self.found
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, noun, example) =
            (quoted(&self.found), self.format.noun(), self.format.example());
        write!(out, "found {found}, expected {noun} such as {example}")
    }
}

impl std::error::Error for FormatError {}

/// A text of a fixed number of ASCII characters, which is `Copy`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AsciiText<const LENGTH: usize>([u8; LENGTH]);

impl<const LENGTH: usize> AsciiText<LENGTH> {
    /// Converts a text, if it is ASCII and has this length.
    pub(super) fn new(text: &str) -> Option<Self> {
        text.as_bytes().try_into().ok().filter(|text: &[u8; LENGTH]| text.is_ascii()).map(Self)
    }
}

impl<const LENGTH: usize> Deref for AsciiText<LENGTH> {
    type Target = str;

    fn deref(&self) -> &str {
        std::str::from_utf8(&self.0).expect("ASCII is UTF-8")
    }
}

impl<const LENGTH: usize> From<AsciiText<LENGTH>> for String {
    fn from(text: AsciiText<LENGTH>) -> Self {
        (*text).to_owned()
    }
}

impl<const LENGTH: usize> fmt::Debug for AsciiText<LENGTH> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, out)
    }
}

/// Parses a text or returns the error.
pub(super) fn parse<T: Formatted>(text: &str) -> Result<T, FormatError> {
    T::from_text(text).ok_or_else(|| FormatError::new(T::FORMAT, text))
}

impl Formatted for Ipv4Addr {
    const FORMAT: Format = Format::Ipv4;

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    // An address has only one text, so the text need not be kept.
    fn text(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_string())
    }
}

/// Implements the conversions of types that keep their text.
macro_rules! text_conversions {
    ($($name:ident),+) => {$(
        impl $name {
            /// Parses a text; `None` if it is not of the format.
            pub fn parse(text: &str) -> Option<Self> {
                Self::from_text(text)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.text
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(&self.text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::format::FormatError;

            fn from_str(text: &str) -> Result<Self, $crate::format::FormatError> {
                $crate::format::text::parse(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::format::FormatError;

            fn try_from(text: String) -> Result<Self, $crate::format::FormatError> {
                $crate::format::text::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.text.into()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.text
            }
        }
    )+};
}
pub(super) use text_conversions;
