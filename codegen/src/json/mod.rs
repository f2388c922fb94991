//! JSON values and their text. Numbers keep their digits and objects their order.

mod text;

use std::fmt::{self, Display};

use toolwright::Value;

pub use text::Style;
pub(crate) use text::{JsonWriter, quoted};

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number in JSON's own notation, kept exactly.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object in written order, without duplicate keys.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// A string value.
    pub fn string(text: impl Into<String>) -> Self {
        Self::String(text.into())
    }

    /// Returns the same value in the form of the contract.
    pub fn to_value(&self) -> Value {
        self.to_string().parse().unwrap_or_default()
    }

    /// Returns the value of a key, if this is an object with that key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(entries) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Subtracts the number of values inside the value, with itself, from a limit: the memory and the work that a copy takes.
    /// Each 64 bytes of a text count as one more. Returns what is left, or `None` if it is not enough.
    pub(crate) fn weight_within(&self, limit: usize) -> Option<usize> {
        match self {
            Self::Null | Self::Boolean(_) => limit.checked_sub(1),
            Self::Number(text) | Self::String(text) => limit.checked_sub(1 + weight_of(text)),
            Self::Array(items) => {
                items.iter().try_fold(limit.checked_sub(1)?, |left, item| item.weight_within(left))
            }
            Self::Object(entries) => {
                entries.iter().try_fold(limit.checked_sub(1)?, |left, (key, value)| {
                    value.weight_within(left.checked_sub(weight_of(key))?)
                })
            }
        }
    }

    /// Returns the text on several lines, indented by two spaces, with a newline at the end.
    pub fn pretty(&self) -> String {
        self.text(Style::Pretty)
    }

    fn text(&self, style: Style) -> String {
        let mut writer = JsonWriter::new(style);
        writer.value(self);
        writer.finish()
    }
}

/// Returns what a text adds to the [weight](Json::weight_within) of a value.
pub(crate) fn weight_of(text: &str) -> usize {
    text.len() / 64
}

/// The text on one line, without spaces.
impl Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Style::Compact))
    }
}
