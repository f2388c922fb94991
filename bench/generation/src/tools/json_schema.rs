//! Writes tools in JSON Schema, draft 7. toolwright's YAML contains the same schemas.

use serde_json::{Map, Value, json};

use super::{Field, Kind, Object, Toolset};

pub(super) fn text(toolset: &Toolset) -> String {
    let refer = |name: &str| format!("#/definitions/{name}");
    let of_tools = toolset.tools.iter().flat_map(|tool| [&tool.payload, &tool.result]);
    let objects = [&toolset.item].into_iter().chain(of_tools);
    let item = refer(&toolset.item.name);
    let definitions: Map<String, Value> =
        objects.map(|object| (object.name.clone(), schema(object, &item))).collect();
    let document = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": definitions,
    });
    format!("{document:#}\n")
}

/// Returns the schema of an object; `item` is the reference to the toolset's shared type.
pub(super) fn schema(object: &Object, item: &str) -> Value {
    let mut schema = Map::new();
    let mut put = |key: &str, value: Value| schema.insert(key.to_owned(), value);
    put("type", json!("object"));
    if let Some(description) = object.description {
        put("description", json!(description));
    }
    let required = object.fields.iter().filter(|field| field.is_required);
    put("required", required.map(|field| field.name).collect());
    if object.is_closed {
        put("additionalProperties", json!(false));
    }
    put("properties", properties(&object.fields, item));
    Value::Object(schema)
}

fn properties(fields: &[Field], item: &str) -> Value {
    let property = |field: &Field| (field.name.to_owned(), property(field, item));
    Value::Object(fields.iter().map(property).collect())
}

fn property(field: &Field, item: &str) -> Value {
    let mut schema = match &field.kind {
        Kind::Text { limits: None } => json!({ "type": "string" }),
        Kind::Text { limits: Some((least, most)) } => {
            json!({ "type": "string", "minLength": least, "maxLength": most })
        }
        Kind::NullableText => json!({ "type": ["string", "null"] }),
        Kind::DateTime => json!({ "type": "string", "format": "date-time" }),
        Kind::Integer { least, most } => range("integer", *least, *most),
        Kind::Number { least, most } => range("number", *least, *most),
        Kind::Flag => json!({ "type": "boolean", "default": false }),
        Kind::Choice(values) => json!({ "type": "string", "enum": values }),
        Kind::Texts { most } => {
            json!({ "type": "array", "items": { "type": "string" }, "maxItems": most })
        }
        Kind::Object(object) => schema(object, item),
        Kind::Item => json!({ "$ref": item }),
        Kind::Items { most } => {
            json!({ "type": "array", "items": { "$ref": item }, "maxItems": most })
        }
    };
    if let Some(description) = field.description {
        schema["description"] = json!(description);
    }
    schema
}

fn range(kind: &str, least: u32, most: Option<u32>) -> Value {
    let mut schema = json!({ "type": kind, "minimum": least });
    if let Some(most) = most {
        schema["maximum"] = json!(most);
    }
    schema
}
