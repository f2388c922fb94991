//! Choices told apart by the kind of JSON value, and enums of integers.

use super::{Kind, Range, Reader};
use crate::issue::IssueKind;

impl Reader<'_> {
    /// The kind of the value at the cursor, if it is one of these; the cursor stays. Otherwise the value
    /// is skipped and the issue says which kinds there are. A number counts as an integer where only
    /// integers are among the kinds.
    pub fn kind(&mut self, kinds: &'static [Kind]) -> Option<Kind> {
        let byte = self.scanner.peek();
        let kind = byte.and_then(|byte| kinds.iter().copied().find(|kind| kind.begins_with(byte)));
        if kind.is_none() {
            self.refuse(Kind::nouns(kinds).into());
        }
        kind
    }

    /// Reads an integer that stands for one of these values.
    pub fn integer_variant<T: Copy>(&mut self, variants: &'static [(i64, T)]) -> Option<T> {
        let found = self.big_integer(Range::ANY)?;
        let small = found.to_i64();
        let variant = variants.iter().find(|(value, _)| small == Some(*value));
        if variant.is_none() {
            let values: Vec<String> = variants.iter().map(|(value, _)| value.to_string()).collect();
            let expected = format!("one of {}", values.join(", "));
            self.issues
                .add(IssueKind::Constant { expected: expected.into(), found: found.to_string() });
        }
        variant.map(|(_, variant)| *variant)
    }
}

/// Makes an enum of what a variant holds: `from_variants!(Id { String: String, Integer: i64 })` writes `From` of each type.
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
