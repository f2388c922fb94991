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

/// The text on one line, without spaces.
impl Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Style::Compact))
    }
}
