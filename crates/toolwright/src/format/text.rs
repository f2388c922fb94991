//! What all types of a format have in common: the text they were read from, kept as it is.
//!
//! No rule of any format is here.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv4Addr;
use std::ops::Deref;

use super::Format;
use crate::json::{quoted, shortened};

/// A type that a text of one format becomes.
pub trait Formatted: Sized {
    /// The format.
    const FORMAT: Format;

    /// The value of a text; nothing where the text is not of the format.
    fn of_text(text: &str) -> Option<Self>;

    /// The text, as it was read.
    fn text(&self) -> Cow<'_, str>;
}

/// A text that is not of the format it should be of.
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

    /// The beginning of what was found.
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

/// A text of a fixed number of ASCII characters. It is `Copy`, which a `String` is not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AsciiText<const LENGTH: usize>([u8; LENGTH]);

impl<const LENGTH: usize> AsciiText<LENGTH> {
    /// The text, if it is one.
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

/// The value of a text, or the error that shows it.
pub(super) fn parsed<T: Formatted>(text: &str) -> Result<T, FormatError> {
    T::of_text(text).ok_or_else(|| FormatError::new(T::FORMAT, text))
}

impl Formatted for Ipv4Addr {
    const FORMAT: Format = Format::Ipv4;

    fn of_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    // There is only one way to write an address, so the text need not be kept.
    fn text(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_string())
    }
}

/// Ways into and out of a type that keeps its text.
macro_rules! kept_texts {
    ($($name:ident),+) => {$(
        impl $name {
            /// The value of a text; nothing where the text is not of the format.
            pub fn parse(text: &str) -> Option<Self> {
                Self::of_text(text)
            }

            /// The text, as it was read or made.
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
                $crate::format::text::parsed(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::format::FormatError;

            fn try_from(text: String) -> Result<Self, $crate::format::FormatError> {
                $crate::format::text::parsed(&text)
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
pub(super) use kept_texts;
