//! Functions that build and read JSON values.

use toolwright::{Value, value::Map};

/// An object of these entries.
pub(crate) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let mut map = Map::new();
    for (key, value) in entries {
        map.insert(key, value);
    }
    Value::Object(map)
}

pub(crate) fn string(text: impl Into<String>) -> Value {
    Value::String(text.into())
}

/// A number from its JSON text.
pub(crate) fn number(text: &str) -> Value {
    Value::Number(text.parse().unwrap_or_default())
}

/// A whole number.
pub(crate) fn count(count: usize) -> Value {
    number(&count.to_string())
}

/// An array of strings.
pub(crate) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Value {
    Value::Array(words.into_iter().map(string).collect())
}

/// Resolves a reference to a schema in `root`.
pub(crate) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}
