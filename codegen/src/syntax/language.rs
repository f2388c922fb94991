//! Generates the JSON Schema of the language, for editors, from the declarations in [`super::document`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::document::{Document, HttpQuery, HttpQueryParameter, Service, ServiceRef};
use super::patterns::named;
use super::values::{
    Amount, Day, Digest, Entries, Literal, NonEmpty, Period, RECOVERIES, RecoveryWord, Release,
    StatusText, Version, Word, Words,
};
use crate::json::Json;
use crate::source::Spanned;

/// Returns the JSON Schema of the language, in draft-07, which editors support best.
pub fn language_schema() -> String {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<Document>();
    RecursiveTransform(restrict).transform(&mut schema);
    schema.insert("title".to_owned(), "toolwright toolset schema".into());
    sorted(schema.as_value()).pretty()
}

/// Sorts keys: whether `serde_json` keeps another order depends on features that other crates in the build enable.
fn sorted(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Boolean(*value),
        Value::Number(number) => Json::Number(number.to_string()),
        Value::String(text) => Json::string(text),
        Value::Array(items) => Json::Array(items.iter().map(sorted).collect()),
        Value::Object(entries) => {
            let entries: BTreeMap<&String, &Value> = entries.iter().collect();
            Json::Object(
                entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect(),
            )
        }
    }
}

/// Makes a schema as strict as the reader, which refuses unknown keys, null for optional keys, zero for numbers, and
/// repeated items in lists.
fn restrict(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if object.get("format") == Some(&json!("uint32")) {
        object.remove("format");
        object.insert("minimum".to_owned(), 1.into());
        object.insert("maximum".to_owned(), u32::MAX.into());
    }
    if object.get("items").is_some_and(|items| items.get("type") == Some(&json!("string"))) {
        object.insert("uniqueItems".to_owned(), true.into());
    }
    if object.contains_key("properties") {
        object.insert("additionalProperties".to_owned(), false.into());
    }
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            object.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(words)) = object.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}

/// Implements `JsonSchema` without a separate definition for the type.
macro_rules! inline {
    ($($type:ty => $schema:expr;)*) => {$(
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

inline! {
    Version => json_schema!({ "const": 1 });
    Period => json_schema!({ "type": "string", "pattern": "^0*[1-9][0-9]*(ms|s|m|h)$" });
    Amount => json_schema!({ "type": "number", "exclusiveMinimum": 0 });
    Day => json_schema!({ "type": "string", "format": "date" });
    Release => json_schema!({
        "type": "string",
        "pattern": r"^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}$",
    });
    Digest => json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" });
    Literal => json_schema!(true);
    RecoveryWord => json_schema!({
        "type": "string",
        "enum": RECOVERIES.map(|(word, _)| word),
    });
    StatusText => json_schema!({
        "type": ["integer", "string"],
        "minimum": 400,
        "maximum": 599,
        "pattern": "^[45](XX|[0-9][0-9])$",
    });
    // At least one character that is not a space.
    Spanned<String> => json_schema!({ "type": "string", "pattern": "\\S" });
}

impl<T: JsonSchema> JsonSchema for Entries<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Entries_of_{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": value })
    }
}

impl<T: JsonSchema> JsonSchema for NonEmpty<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("NonEmpty_{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        let is_list = schema.get("type") == Some(&json!("array"));
        schema.insert(if is_list { "minItems" } else { "minProperties" }.to_owned(), 1.into());
        schema
    }
}

impl JsonSchema for ServiceRef {
    fn schema_name() -> Cow<'static, str> {
        "ServiceRef".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mapping = generator.subschema_for::<Service>();
        json_schema!({ "anyOf": [named(), mapping] })
    }
}

impl<T: Words> JsonSchema for Word<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NOUN.into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = T::ALL.iter().map(|(word, _)| *word).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

impl JsonSchema for HttpQuery {
    fn schema_name() -> Cow<'static, str> {
        "HttpQuery".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mapping = generator.subschema_for::<HttpQueryParameter>();
        json_schema!({ "anyOf": [{ "type": "string", "pattern": "\\S" }, mapping] })
    }
}
