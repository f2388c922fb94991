//! The texts of a schema: makes them safe to show, except those that payloads are compared with, and removes them.

use super::visible;
use crate::Value;
use crate::schema::{LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS};
use crate::value::Map;

/// Keywords whose texts only tell readers something. No reference can lead into a text.
const TEXTS: [&str; 2] = ["title", "description"];

/// Keywords whose values are compared with payloads, or with each other as references and their targets.
const COMPARED_KEYWORDS: [&str; 12] = [
    "enum",
    "const",
    "pattern",
    "required",
    "dependentRequired",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
];

/// Returns a JSON Schema with [hidden](super::hidden) characters replaced in annotations and unknown keywords, or
/// `None` if they hold none. Names, references, patterns, and the values of `enum` and `const` are not changed, even if they hold
/// hidden characters, so that the same payloads are valid. Neither are the values of the keywords in `kept`, such as
/// `default` if defaults are put into payloads.
pub fn visible_schema(schema: &Value, kept: &[&str]) -> Option<Value> {
    let cleaned = cleaned(schema, kept);
    (cleaned != *schema).then_some(cleaned)
}

fn cleaned(schema: &Value, kept: &[&str]) -> Value {
    match schema {
        Value::Array(items) => Value::Array(items.iter().map(|item| cleaned(item, kept)).collect()),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| {
                let value = match (key, value) {
                    (key, Value::Object(schemas)) if MAP_KEYWORDS.contains(&key) => {
                        let of_name = |(name, of): (&str, &Value)| {
                            // The list of names of `dependencies`.
                            let is_list = matches!(of, Value::Array(_));
                            let of = if is_list { of.clone() } else { cleaned(of, kept) };
                            (name.to_owned(), of)
                        };
                        Value::Object(schemas.iter().map(of_name).collect())
                    }
                    (key, payload) if COMPARED_KEYWORDS.contains(&key) || kept.contains(&key) => {
                        payload.clone()
                    }
                    (_, value) => cleaned(value, kept),
                };
                (key.to_owned(), value)
            });
            Value::Object(entries.collect())
        }
        Value::String(text) => Value::String(visible(text).into_owned()),
        other => other.clone(),
    }
}

/// Returns a JSON Schema without the texts of titles and descriptions. Properties of these names stay, and so does everything below
/// an unknown keyword.
///
/// ```
/// use toolwright::Value;
/// use toolwright::untrusted::without_texts;
///
/// let schema: Value = r#"{"title":"A","properties":{"title":{"description":"B","default":{"title":"C"}}}}"#.parse().unwrap();
/// assert_eq!(without_texts(&schema).to_string(), r#"{"properties":{"title":{"default":{"title":"C"}}}}"#);
/// ```
pub fn without_texts(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => Value::Array(items.iter().map(without_texts).collect()),
        Value::Object(entries) => {
            let is_text =
                |key: &str, value: &Value| TEXTS.contains(&key) && value.as_str().is_some();
            let entries = entries.iter().filter(|(key, value)| !is_text(key, value));
            let entries = entries.map(|(key, value)| {
                let value = match value {
                    Value::Object(schemas) if MAP_KEYWORDS.contains(&key) => {
                        let schemas = schemas.iter();
                        let schemas: Map<Value> = schemas
                            .map(|(name, of)| (name.to_owned(), without_texts(of)))
                            .collect();
                        Value::Object(schemas)
                    }
                    _ if SCHEMA_KEYWORDS.contains(&key) || LIST_KEYWORDS.contains(&key) => {
                        without_texts(value)
                    }
                    _ => value.clone(),
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
    use crate::untrusted::hidden;

    #[test]
    fn only_annotations_for_readers_are_texts() {
        let cases = [
            (r#"{"title":"_","description":"_","type":"string"}"#, false),
            (r##"{"examples":[{"required":["_"]}],"allOf":[{"$ref":"#/examples/0"}]}"##, true),
            (r#"{"title":{"$anchor":"a","required":["_"]},"$ref":"a"}"#, true),
            (r#"{"properties":{"a":{"anyOf":[{"title":"_"}]}}}"#, false),
            (r#"{"items":[{"not":{"description":"_"}}]}"#, false),
            (r#"{"properties":{"description":{"description":"_"}}}"#, false),
            (r#"{"properties":{"_":{}}}"#, true),
            (r#"{"properties":{"title":{"const":"_"}}}"#, true),
            (r#"{"default":{"title":"_"}}"#, true),
            (r#"{"enum":[{"description":"_"}]}"#, true),
            (r#"{"const":{"examples":["_"]}}"#, true),
            (r#"{"x-note":{"title":"_"}}"#, true),
            (r#"{"$comment":"_"}"#, true),
            (r#"{"dependencies":{"title":["_"]}}"#, true),
        ];
        for (schema, stays) in cases {
            let schema: Value = schema.parse().expect("it is JSON");
            let rest = super::without_texts(&schema).to_string();
            assert_eq!(rest.contains('_'), stays, "{schema}");
        }
    }

    /// Hidden characters are replaced unless that would change which payloads are valid.
    #[test]
    fn hidden_characters_are_only_kept_in_texts_that_payloads_are_compared_with() {
        const HIDDEN: &str = "\u{e0049}\u{e0067}";
        let cases = [
            (r#"{"default":"_"}"#, false),
            (r#"{"default":{"title":["_"]}}"#, false),
            (r#"{"examples":["_"]}"#, false),
            (r#"{"format":"_"}"#, false),
            (r#"{"contentMediaType":"_"}"#, false),
            (r#"{"x-note":{"deep":["_"]}}"#, false),
            (r#"{"items":{"errorMessage":"_"}}"#, false),
            (r#"{"properties":{"enum":{"default":"_"}}}"#, false),
            (r#"{"enum":["_"]}"#, true),
            (r#"{"const":{"a":"_"}}"#, true),
            (r#"{"pattern":"_"}"#, true),
            (r#"{"required":["_"]}"#, true),
            (r#"{"properties":{"_":{}}}"#, true),
            (r#"{"patternProperties":{"_":{}}}"#, true),
            (r#"{"dependencies":{"a":["_"]}}"#, true),
            (r#"{"dependencies":{"a":{"title":"_"}}}"#, false),
            (r#"{"$id":"_"}"#, true),
            (r##"{"$defs":{"_":{}},"$ref":"#/$defs/_"}"##, true),
            (r#"{"$anchor":"_"}"#, true),
            (r#"{"x-_":1}"#, true),
        ];
        for (schema, hides) in cases {
            let schema: Value = schema.replace('_', HIDDEN).parse().expect("it is JSON");
            let visible = super::visible_schema(&schema, &[]);
            assert_eq!(visible.is_none(), hides, "{schema}");
            let shown = visible.unwrap_or_else(|| schema.clone()).to_string();
            assert_eq!(hidden(&shown).next().is_some(), hides, "{schema}");
        }
    }

    #[test]
    fn annotations_lose_hidden_characters_and_compared_values_keep_them() {
        let schema: Value = "{\"description\":\"a\u{202e}\",\"properties\":{\"description\":{\"title\":\"b\u{e0041}\"},\
                             \"enum\":{\"description\":\"c\u{200b}\",\"enum\":[{\"title\":\"\u{202e}\"}],\"maximum\":1.10}}}"
            .parse()
            .expect("it is JSON");
        let expected = "{\"description\":\"a\u{fffd}\",\"properties\":{\"description\":{\"title\":\"b\u{fffd}\"},\
                        \"enum\":{\"description\":\"c\u{fffd}\",\"enum\":[{\"title\":\"\u{202e}\"}],\"maximum\":1.10}}}";
        let visible = super::visible_schema(&schema, &[]).expect("something is hidden");
        assert_eq!(visible.to_string(), expected);
        assert_eq!(super::visible_schema(&visible, &[]), None);
    }

    #[test]
    fn values_of_kept_keywords_are_not_changed() {
        let schema = "{\"title\":\"a\u{200b}\",\"items\":{\"default\":\"b\u{200b}\"}}";
        let schema: Value = schema.parse().expect("it is JSON");
        let visible = super::visible_schema(&schema, &["default"]).expect("the title hides one");
        let expected = "{\"title\":\"a\u{fffd}\",\"items\":{\"default\":\"b\u{200b}\"}}";
        assert_eq!(visible.to_string(), expected);
    }
}
