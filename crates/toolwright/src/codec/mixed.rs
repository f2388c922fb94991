//! Reads choices by the kind of the JSON value, and enums of integers.

use super::{Kind, Range, Reader};
use crate::issue::{IssueKind, listed_values};
use crate::json::shortened;

impl Reader<'_> {
    /// Returns the kind of the value at the cursor, if it is one of `kinds`, without moving the cursor. Otherwise
    /// records an issue with the allowed kinds and skips the value. A number is returned as `Integer` if the kinds have
    /// no `Number`.
    #[inline]
    pub fn kind(&mut self, kinds: &'static [Kind]) -> Option<Kind> {
        let byte = self.scanner.peek();
        let kind = byte.and_then(|byte| kinds.iter().copied().find(|kind| kind.begins_with(byte)));
        if kind.is_none() {
            self.refuse(|| Kind::nouns(kinds).into());
        }
        kind
    }

    /// Reads an integer and returns its variant.
    pub fn integer_variant<T: Copy>(&mut self, variants: &'static [(i64, T)]) -> Option<T> {
        let found = self.big_integer(Range::ANY)?;
        let position = found
            .to_i64()
            .and_then(|small| self.integers.of(&small, variants, |(value, _)| *value));
        if position.is_none() {
            self.issues.add_with(|| IssueKind::Constant {
                expected: listed_values(variants.iter().map(|(value, _)| value.to_string())).into(),
                found: shortened(&found.to_string()),
            });
        }
        position.map(|position| variants[position].1)
    }
}

/// Implements `From` the type of each variant: `from_variants!(Id { String: String, Integer: i64 })`.
#[macro_export]
macro_rules! from_variants {
    ($name:ident { $($variant:ident: $type:ty),+ $(,)? }) => {$(
        impl ::core::convert::From<$type> for $name {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        }
    )+};
}
