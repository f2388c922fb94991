//! Summarizes payloads in a few words.

use toolwright::{Payload, Value};

/// The longest text of one value, in characters.
const LONGEST: usize = 40;

/// Summarizes a payload on one line: the properties of an object, with the lengths of arrays.
pub(crate) fn summary(payload: &Payload) -> String {
    match payload.as_str().parse::<Value>() {
        Ok(Value::Object(object)) if object.is_empty() => "(nothing)".to_owned(),
        Ok(Value::Object(object)) => {
            let parts: Vec<_> = object.iter().map(|(key, value)| property(key, value)).collect();
            parts.join(", ")
        }
        Ok(value) => brief(&value),
        Err(_) => cut(payload.as_str()),
    }
}

fn property(key: &str, value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() == 1 => {
            format!("1 {}", key.strip_suffix('s').unwrap_or(key))
        }
        Value::Array(items) => format!("{} {key}", items.len()),
        value => format!("{key}: {}", brief(value)),
    }
}

fn brief(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("{} values", items.len()),
        Value::Object(object) => format!("{} properties", object.len()),
        // A whole double is encoded with `.0`, which people leave out.
        Value::Number(number) => cut(number.to_string().trim_end_matches(".0")),
        other => cut(&other.to_string()),
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let kept: String = text.chars().take(LONGEST - 1).collect();
    format!("{kept}…")
}
