//! Choices told apart by the kind of JSON value, and enums of integers.

use super::{Range, Reader};
use crate::issue::IssueKind;

/// A kind of JSON value, as `type` names them in a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `boolean`
    Boolean,
    /// `string`
    String,
    /// `integer`
    Integer,
    /// `number`
    Number,
    /// `array`
    Array,
    /// `object`
    Object,
}

impl Kind {
    /// The kind of a name in a schema.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// Several kinds in words: `a string or null`.
    #[cold]
    pub(crate) fn nouns(kinds: &[Self]) -> String {
        let mut words: Vec<&str> = kinds.iter().map(|kind| kind.noun()).collect();
        let last = words.pop().unwrap_or_default();
        if words.is_empty() { last.to_owned() } else { format!("{} or {last}", words.join(", ")) }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }

    fn begins_with(self, byte: u8) -> bool {
        match self {
            Self::Null => byte == b'n',
            Self::Boolean => matches!(byte, b't' | b'f'),
            Self::String => byte == b'"',
            Self::Integer | Self::Number => byte == b'-' || byte.is_ascii_digit(),
            Self::Array => byte == b'[',
            Self::Object => byte == b'{',
        }
    }
}

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
