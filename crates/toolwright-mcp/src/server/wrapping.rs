//! Wraps results that are not objects, for clients of revisions before 2026-07-28. Those require that an output schema
//! describes an object, and clients reject the whole list otherwise. The result becomes the only property of an object.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

/// The property that holds the result.
const PROPERTY: &str = "result";

/// The pointer to the result's schema in the wrapped schema.
const POINTER: &str = "#/properties/result";

/// Wraps the schema of a result.
pub(crate) fn wrapped_schema(mut schema: JsonObject) -> JsonObject {
    let dialect = schema.remove("$schema");
    // References in a schema with an `$id` are relative to that schema, so they stay valid.
    if !schema.contains_key("$id") {
        relocate(&mut schema);
    }
    let mut wrapped = Map::new();
    wrapped.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect)));
    wrapped.insert("type".to_owned(), json!("object"));
    wrapped.insert("properties".to_owned(), json!({ PROPERTY: schema }));
    wrapped.insert("required".to_owned(), json!([PROPERTY]));
    wrapped
}

/// Wraps a result.
pub(crate) fn wrapped(result: Value) -> Value {
    json!({ PROPERTY: result })
}

/// Rewrites references to the root as references to the schema's new position.
fn relocate(schema: &mut JsonObject) {
    for (keyword, value) in schema {
        match keyword.as_str() {
            "$ref" | "$dynamicRef" => relocate_reference(value),
            // The value is data, even if it looks like a schema.
            "const" | "enum" | "default" | "examples" => {}
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                for schema in value.as_object_mut().into_iter().flat_map(Map::values_mut) {
                    relocate_all(schema);
                }
            }
            _ => relocate_all(value),
        }
    }
}

fn relocate_all(schemas: &mut Value) {
    match schemas {
        Value::Object(schema) => relocate(schema),
        Value::Array(schemas) => schemas.iter_mut().for_each(relocate_all),
        _ => {}
    }
}

fn relocate_reference(reference: &mut Value) {
    let Value::String(text) = reference else { return };
    // `#name` is an anchor, which stays valid.
    if text == "#" || text.starts_with("#/") {
        text.replace_range(..1, POINTER);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::wrapped_schema;

    #[test]
    fn references_are_rewritten_and_data_is_kept() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": "#/$defs/Tree",
            "default": {"$ref": "#/data"},
            "$defs": {"Tree": {
                "properties": {
                    "$ref": {"enum": [{"$ref": "#"}]},
                    "const": {"items": {"$ref": "#/$defs/Tree"}},
                },
                "anyOf": [{"$ref": "#"}, {"$ref": "#anchor"}, {"$ref": "other.json#/a"}],
            }},
        });
        let wrapped = wrapped_schema(schema.as_object().unwrap().clone());
        let expected = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"result": {
                "$ref": "#/properties/result/$defs/Tree",
                "default": {"$ref": "#/data"},
                "$defs": {"Tree": {
                    "properties": {
                        "$ref": {"enum": [{"$ref": "#"}]},
                        "const": {"items": {"$ref": "#/properties/result/$defs/Tree"}},
                    },
                    "anyOf": [
                        {"$ref": "#/properties/result"},
                        {"$ref": "#anchor"},
                        {"$ref": "other.json#/a"},
                    ],
                }},
            }},
            "required": ["result"],
        });
        assert_eq!(serde_json::Value::Object(wrapped), expected);
    }

    #[test]
    fn a_schema_with_an_id_keeps_its_references() {
        let schema = json!({"$id": "urn:tree", "items": {"$ref": "#"}});
        let wrapped = wrapped_schema(schema.as_object().unwrap().clone());
        assert_eq!(wrapped["properties"]["result"], schema);
    }
}
