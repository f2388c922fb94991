//! Wraps results that are not objects, for clients of revisions before 2026-07-28. Those require that an output schema
//! describes an object, and clients reject the whole list otherwise. The result becomes the only property of an object.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use toolwright::schema::Draft;

/// The property that holds the result.
const PROPERTY: &str = "result";

/// The pointer to the result's schema in the wrapped schema.
const POINTER: &str = "#/properties/result";

/// Wraps the schema of a result.
pub(crate) fn wrapped_schema(mut schema: JsonObject) -> JsonObject {
    let dialect = schema.remove("$schema");
    let draft = dialect.as_ref().and_then(Value::as_str).and_then(Draft::from_uri);
    relocate(&mut schema, draft.unwrap_or(Draft::D2020));
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

/// Rewrites references to the root as references to the schema's new position. References in a schema with a URI of its own are
/// relative to that schema, so they stay valid.
fn relocate(schema: &mut JsonObject, draft: Draft) {
    if has_own_uri(schema, draft) {
        return;
    }
    for (keyword, value) in schema {
        match keyword.as_str() {
            "$ref" | "$dynamicRef" => relocate_reference(value),
            // The value is data, even if it looks like a schema.
            "const" | "enum" | "default" | "examples" => {}
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                for schema in value.as_object_mut().into_iter().flat_map(Map::values_mut) {
                    relocate_all(schema, draft);
                }
            }
            _ => relocate_all(value, draft),
        }
    }
}

fn relocate_all(schemas: &mut Value, draft: Draft) {
    match schemas {
        Value::Object(schema) => relocate(schema, draft),
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| relocate_all(schema, draft)),
        _ => {}
    }
}

/// Returns whether a schema has an id that is more than an anchor.
fn has_own_uri(schema: &JsonObject, draft: Draft) -> bool {
    // Older drafts ignore all keywords beside a reference.
    let is_ignored = draft < Draft::D2019 && schema.contains_key("$ref");
    let id = schema.get(if draft == Draft::D4 { "id" } else { "$id" }).and_then(Value::as_str);
    !is_ignored && id.is_some_and(|id| !id.is_empty() && !id.starts_with('#'))
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
    fn schemas_with_a_uri_of_their_own_keep_their_references() {
        let uri = "http://json-schema.org/draft-04/schema#";
        let part = |id: &str| json!({id: "urn:part", "items": {"$ref": "#"}});
        let moved = |id: &str| json!({id: "urn:part", "items": {"$ref": "#/properties/result"}});
        for (schema, expected) in [
            (json!({"$id": "urn:tree", "items": {"$ref": "#"}}), None),
            (
                json!({"$id": "#tree", "items": {"$ref": "#"}}),
                Some(json!({"$id": "#tree", "items": {"$ref": "#/properties/result"}})),
            ),
            (
                json!({"$ref": "#/$defs/a", "$defs": {"a": part("$id")}}),
                Some(json!({"$ref": "#/properties/result/$defs/a", "$defs": {"a": part("$id")}})),
            ),
            (json!({"$schema": uri, "not": part("id")}), Some(json!({"not": part("id")}))),
            (json!({"$schema": uri, "not": part("$id")}), Some(json!({"not": moved("$id")}))),
            (json!({"not": part("id")}), Some(json!({"not": moved("id")}))),
        ] {
            let wrapped = wrapped_schema(schema.as_object().unwrap().clone());
            assert_eq!(wrapped["properties"]["result"], expected.unwrap_or(schema));
        }
    }
}
