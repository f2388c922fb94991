//! UUIDs (RFC 9562, section 4; RFC 4122, section 3) of any version and variant.

use std::borrow::Cow;

use super::text::AsciiText;
use super::{Format, Formatted};

/// A UUID of the format `uuid`, which keeps its text: hexadecimal digits of either case.
///
/// Values are compared by text, so the case of digits makes a difference. Use [`Uuid::to_bytes`] to compare the UUIDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid {
    pub(in crate::format) text: AsciiText<36>,
}

impl Uuid {
    /// The sixteen bytes, most significant first.
    pub fn to_bytes(&self) -> [u8; 16] {
        let digits = self.text.chars().filter_map(|c| c.to_digit(16));
        digits.fold(0_u128, |number, digit| number << 4 | u128::from(digit)).to_be_bytes()
    }
}

impl Formatted for Uuid {
    const FORMAT: Format = Format::Uuid;

    fn from_text(text: &str) -> Option<Self> {
        let text = AsciiText::new(text).filter(|text| is_uuid(text))?;
        Some(Self { text })
    }

    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

pub(super) fn is_uuid(text: &str) -> bool {
    let is_valid = |(place, byte): (usize, u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_valid)
}
