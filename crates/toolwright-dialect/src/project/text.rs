//! Projects a schema that a dialect cannot express to a string with the JSON text of the value.

use toolwright::value::{Map, Value};

use super::{Node, Projector, WORDS};
use crate::loss::LossKind;
use crate::plan::Step;

/// Longer schemas are not put into a description.
const LONGEST_SCHEMA_IN_WORDS: usize = 1000;

impl Projector<'_> {
    /// A string that holds the JSON text of the value.
    pub(super) fn text(&mut self, entries: &Map<Value>, at: &str, by: &'static str) -> Node {
        self.lose(LossKind::Widening, at, "", Value::Null, "JSON text", by);
        let mut words = vec!["JSON text of any value.".to_owned()];
        if entries.keys().any(|key| !WORDS.contains(&key)) {
            let text = short_text(entries, LONGEST_SCHEMA_IN_WORDS);
            words = vec![match text {
                Some(text) => format!("JSON text of a value that follows `{text}`."),
                None => "JSON text.".to_owned(),
            }];
        }
        let description = entries.get("description").and_then(Value::as_str);
        let mut wire = Map::from([("type", Value::from("string"))]);
        wire.extend(
            crate::sentence::behind(description, &words)
                .map(|text| ("description", Value::from(text))),
        );
        Node { wire, step: self.step(Step::Text) }
    }
}

/// Returns the JSON text of an object, unless it has more than some bytes.
fn short_text(entries: &Map<Value>, bytes: usize) -> Option<String> {
    left_beside(entries, bytes)?;
    let text = Value::Object(entries.clone()).to_string();
    (text.len() <= bytes).then_some(text)
}

/// Returns about how many bytes are left beside the JSON text of an object, or `None` if it is longer.
fn left_beside(entries: &Map<Value>, bytes: usize) -> Option<usize> {
    fn left(value: &Value, bytes: usize) -> Option<usize> {
        match value {
            Value::Array(items) => items.iter().try_fold(bytes, |bytes, item| left(item, bytes)),
            Value::Object(entries) => left_beside(entries, bytes),
            Value::String(text) => bytes.checked_sub(text.len()),
            _ => bytes.checked_sub(1),
        }
    }
    entries
        .iter()
        .try_fold(bytes, |bytes, (key, value)| left(value, bytes.checked_sub(key.len().max(1))?))
}
