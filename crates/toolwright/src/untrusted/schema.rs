//! Makes the words of a schema safe to show. It leaves alone everything that a payload is compared with.

use super::visible;
use crate::Value;

/// Keywords whose entries are schemas under names that the schema chooses.
const NAMED: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords whose values are payloads.
const PAYLOADS: [&str; 5] = ["enum", "const", "default", "examples", "required"];

/// A JSON Schema without [hidden](super::hidden) characters in its titles, descriptions and comments, or `None` if there are
/// none. Names, values and patterns stay to the letter, so the same payloads are valid.
pub fn visible_schema(schema: &Value) -> Option<Value> {
    let cleaned = cleaned(schema);
    (cleaned != *schema).then_some(cleaned)
}

fn cleaned(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => Value::Array(items.iter().map(cleaned).collect()),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| {
                let value = match (key, value) {
                    ("title" | "description" | "$comment", Value::String(text)) => {
                        Value::String(visible(text).into_owned())
                    }
                    (key, Value::Object(schemas)) if NAMED.contains(&key) => {
                        let schemas = schemas.iter();
                        Value::Object(
                            schemas.map(|(name, of)| (name.to_owned(), cleaned(of))).collect(),
                        )
                    }
                    (key, payload) if PAYLOADS.contains(&key) => payload.clone(),
                    (_, value) => cleaned(value),
                };
                (key.to_owned(), value)
            });
            Value::Object(entries.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use crate::Value;

    #[test]
    fn words_lose_what_they_hide_and_payloads_do_not() {
        let schema: Value = "{\"description\":\"a\u{202e}\",\"properties\":{\"description\":{\"title\":\"b\u{e0041}\"},\
                             \"enum\":{\"description\":\"c\u{200b}\",\"enum\":[{\"title\":\"\u{202e}\"}],\"maximum\":1.10}}}"
            .parse()
            .expect("it is JSON");
        let expected = "{\"description\":\"a\u{fffd}\",\"properties\":{\"description\":{\"title\":\"b\u{fffd}\"},\
                        \"enum\":{\"description\":\"c\u{fffd}\",\"enum\":[{\"title\":\"\u{202e}\"}],\"maximum\":1.10}}}";
        let visible = super::visible_schema(&schema).expect("something is hidden");
        assert_eq!(visible.to_string(), expected);
        assert_eq!(super::visible_schema(&visible), None);
    }
}
