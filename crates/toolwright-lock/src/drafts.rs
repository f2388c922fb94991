//! Tells whether a schema of an older draft of JSON Schema means the same in 2020-12, as which schemas are compared.

use toolwright::{Map, Value};
use toolwright_codegen::internal::keyword::{Expected, expected, is_annotation};

/// A draft of JSON Schema. The first ones are older.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Draft {
    D3,
    D4,
    D6,
    D7,
    D2019,
    D2020,
}

/// Keywords that mean nothing, or something else, before 2020-12.
const SINCE_2020: &[&str] = &[
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "additionalItems",
    "prefixItems",
    "unevaluatedItems",
];

/// Keywords that mean nothing, or something else, before 2019-09.
const SINCE_2019: &[&str] = &[
    "$anchor",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "unevaluatedProperties",
];

/// Keywords other than annotations that mean the same beside a `$ref`, which hides all others before 2019-09.
const BESIDE_REF: &[&str] = &["$defs", "$ref", "definitions"];

/// Returns whether a schema means the same as if its `$schema` named 2020-12. If it has none, MCP takes 2020-12.
pub(crate) fn is_as_in_2020(schema: &Value) -> bool {
    is_same(schema, Draft::D2020)
}

fn is_same(schema: &Value, draft: Draft) -> bool {
    match schema {
        Value::Array(schemas) => schemas.iter().all(|schema| is_same(schema, draft)),
        Value::Object(keywords) => {
            let named = keywords.get("$schema").and_then(Value::as_str);
            let draft = named.map_or(draft, Draft::named);
            !draft.differs(keywords)
                && keywords.iter().all(|(key, value)| match (key, expected(key)) {
                    ("const" | "default" | "enum" | "examples", _) => true,
                    ("definitions", _) | (_, Some(Expected::Named | Expected::Patterns)) => {
                        let schemas = value.as_object();
                        schemas.is_none_or(|all| all.values().all(|schema| is_same(schema, draft)))
                    }
                    _ => is_same(value, draft),
                })
        }
        _ => true,
    }
}

impl Draft {
    /// Returns the draft that a `$schema` names; 2020-12 for an unknown one.
    fn named(uri: &str) -> Self {
        let drafts = [
            ("draft-03", Self::D3),
            ("draft-04", Self::D4),
            ("draft-06", Self::D6),
            ("draft-07", Self::D7),
            ("2019-09", Self::D2019),
        ];
        let named = drafts.into_iter().find(|(name, _)| uri.contains(name));
        named.map_or(Self::D2020, |(_, draft)| draft)
    }

    /// Returns whether a keyword means something else in 2020-12.
    fn differs(self, keywords: &Map<Value>) -> bool {
        let has = |names: &[&str]| names.iter().any(|name| keywords.contains_key(name));
        let is_list = || matches!(keywords.get("items"), Some(Value::Array(_)));
        let is_hidden =
            || keywords.keys().any(|key| !BESIDE_REF.contains(&key) && !is_annotation(key));
        let is_flag = |name| matches!(keywords.get(name), Some(Value::Boolean(_)));
        (self < Self::D2020 && (has(SINCE_2020) || is_list()))
            || (self < Self::D2019 && (has(SINCE_2019) || (has(&["$ref"]) && is_hidden())))
            || (self < Self::D7 && has(&["if"]))
            || (self < Self::D6 && has(&["const", "contains", "propertyNames", "id"]))
            // In draft-04, `1.0` is no integer.
            || (self < Self::D6 && keywords.get("type").is_some_and(|of| of.to_string().contains("integer")))
            || (self < Self::D6 && (is_flag("exclusiveMinimum") || is_flag("exclusiveMaximum")))
            || self == Self::D3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_mean_the_same_unless_a_keyword_changed() {
        for (draft, schema, expected) in [
            (
                "draft-07/schema#",
                r##""$ref": "#/$defs/X", "$defs": {"X": {}}, "title": "t""##,
                true,
            ),
            ("draft-07/schema#", r##""$ref": "#/$defs/X", "enum": ["a"]"##, false),
            ("draft/2019-09/schema", r##""$ref": "#/$defs/X", "enum": ["a"]"##, true),
            ("draft-07/schema#", r#""properties": {"a": {"unevaluatedProperties": false}}"#, false),
            ("draft-07/schema#", r#""properties": {"unevaluatedProperties": {}, "if": {}}"#, true),
            ("draft-07/schema#", r#""const": {"$ref": "a", "items": []}, "if": {}"#, true),
            ("draft-06/schema#", r#""anyOf": [{"if": {}}]"#, false),
            ("draft-04/schema#", r#""minimum": 1, "exclusiveMinimum": true"#, false),
            ("draft-04/schema#", r#""minimum": 1, "pattern": "a""#, true),
            ("draft-04/schema#", r#""items": {"type": "integer"}"#, false),
            ("draft-03/schema#", r#""type": "object""#, false),
            ("draft/2019-09/schema", r#""items": [{}]"#, false),
            ("draft/2019-09/schema", r#""items": {"unevaluatedProperties": false}"#, true),
            ("draft/2020-12/schema", r#""prefixItems": [{}], "unevaluatedItems": false"#, true),
        ] {
            let text = format!(r#"{{"$schema": "http://json-schema.org/{draft}", {schema}}}"#);
            let schema: Value = text.parse().unwrap();
            assert_eq!(is_as_in_2020(&schema), expected, "{text}");
        }
    }
}
