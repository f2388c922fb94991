//! Results that are no objects, for clients of the revisions before 2026-07-28: there an output schema describes an
//! object, and clients drop the whole list for one that does not. Such a result becomes the only property of one.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

/// The property that holds the result.
const PROPERTY: &str = "result";

/// Where the wrapped schema stands in its wrapping, for its references to itself.
const PLACE: &str = "#/properties/result";

/// The schema of the wrapped result.
pub(crate) fn wrapped_schema(mut schema: JsonObject) -> JsonObject {
    let dialect = schema.remove("$schema");
    // A schema with an identity of its own resolves its references in itself wherever it stands.
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

/// The wrapped result.
pub(crate) fn wrapped(result: Value) -> Value {
    json!({ PROPERTY: result })
}

/// Turns references from the root into references from the schema's new place.
fn relocate(schema: &mut JsonObject) {
    for (keyword, value) in schema {
        match keyword.as_str() {
            "$ref" | "$dynamicRef" => relocate_reference(value),
            // What stands there is data, which may look like a schema.
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
    // `#name` is an anchor, which is found by its name.
    if text == "#" || text.starts_with("#/") {
        text.replace_range(..1, PLACE);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::wrapped_schema;

    #[test]
    fn references_are_followed_to_the_new_place_and_data_is_left_alone() {
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
    fn a_schema_with_an_identity_keeps_its_references() {
        let schema = json!({"$id": "urn:tree", "items": {"$ref": "#"}});
        let wrapped = wrapped_schema(schema.as_object().unwrap().clone());
        assert_eq!(wrapped["properties"]["result"], schema);
    }
}
