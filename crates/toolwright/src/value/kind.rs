//! The kinds of JSON values.

/// A kind of JSON value, as the keyword `type` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Null,
        Self::Boolean,
        Self::String,
        Self::Integer,
        Self::Number,
        Self::Array,
        Self::Object,
    ];

    /// Returns the kind with this name in schemas.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The kind's name in schemas.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Returns several kinds as words: `a string or null`.
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

    /// Returns true if JSON values of this kind may begin with a byte.
    #[inline]
    pub(crate) fn begins_with(self, byte: u8) -> bool {
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
