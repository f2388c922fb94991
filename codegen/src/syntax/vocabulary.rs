//! Describes JSON Schema itself in the editors' schema, from the compiler's table of keywords.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use toolwright::value::Kind;

use super::patterns::type_reference;
use super::values::SchemaText;
use crate::schema::keyword::{ANNOTATIONS, Expected, formats};
use crate::schema::{DIALECT, Keyword};

/// A JSON Schema, not the name of a type.
pub(super) struct Vocabulary;

impl JsonSchema for Vocabulary {
    fn schema_name() -> Cow<'static, str> {
        "Schema".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let schema = generator.subschema_for::<Self>().to_value();
        let asserting = Keyword::ALL
            .iter()
            .map(|keyword| (keyword.word(), keyword.expected(), keyword.description()));
        let keywords: Map<String, Value> = asserting
            .chain(ANNOTATIONS)
            .map(|(word, expected, description)| {
                let mut rule = rule(expected, &schema);
                rule["description"] = description.trim().into();
                (word.to_owned(), rule)
            })
            .collect();
        json_schema!({
            "description": "A JSON Schema (2020-12).",
            "type": ["object", "boolean"],
            "properties": keywords,
        })
    }
}

/// A JSON Schema or the name of a type.
impl JsonSchema for SchemaText {
    fn schema_name() -> Cow<'static, str> {
        "SchemaText".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let schema = generator.subschema_for::<Vocabulary>();
        let name = format!("^{}$", type_reference());
        json_schema!({ "anyOf": [schema, { "type": "string", "pattern": name }] })
    }
}

/// Returns the rule for the value of a keyword; `schema` is the rule for schemas.
fn rule(expected: Expected, schema: &Value) -> Value {
    match expected {
        Expected::Schema => schema.clone(),
        Expected::Schemas => json!({ "type": "array", "items": schema, "minItems": 1 }),
        Expected::Named | Expected::Patterns => {
            json!({ "type": "object", "additionalProperties": schema })
        }
        Expected::Count => json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX }),
        Expected::Number => json!({ "type": "number" }),
        Expected::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Expected::Boolean => json!({ "type": "boolean" }),
        Expected::Text | Expected::Pattern => json!({ "type": "string" }),
        Expected::Format => {
            json!({ "type": "string", "anyOf": [{ "enum": formats().collect::<Vec<_>>() }, {}] })
        }
        Expected::Dialect => json!({ "enum": [DIALECT, format!("{DIALECT}#")] }),
        Expected::Names => json!({ "type": "array", "items": { "type": "string" } }),
        Expected::EnumNames => {
            json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1 })
        }
        Expected::NamesByName => {
            json!({ "type": "object", "additionalProperties": rule(Expected::Names, schema) })
        }
        Expected::Values => json!({ "type": "array", "minItems": 1, "uniqueItems": true }),
        Expected::Examples => json!({ "type": "array" }),
        Expected::Value => json!({}),
        Expected::Types => {
            let word = json!({ "enum": Kind::ALL.map(Kind::as_str) });
            // YAML reads `null` without quotes as null, not as a string.
            let kind = json!({ "anyOf": [word, { "const": null }] });
            let kinds =
                json!({ "type": "array", "items": kind, "minItems": 1, "uniqueItems": true });
            json!({ "anyOf": [word, { "const": null }, kinds] })
        }
        Expected::Reference => json!({ "type": "string", "pattern": reference() }),
    }
}

/// Returns the pattern of references: a type name, `#`, an anchor, a pointer through a keyword that holds schemas, or a
/// percent-encoded fragment.
fn reference() -> String {
    let holds_schemas = |keyword: &&Keyword| {
        matches!(
            keyword.expected(),
            Expected::Schema | Expected::Schemas | Expected::Named | Expected::Patterns
        )
    };
    let words = Keyword::ALL.iter().filter(holds_schemas);
    let words: Vec<String> = words.map(|keyword| keyword.word().replace('$', "\\$")).collect();
    let words = words.join("|");
    format!("^(#|#/({words})(/.*)?|#[^/].*|#.*%.*|{})$", type_reference())
}
