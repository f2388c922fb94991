//! Reads the schemas of a lock.

use toolwright::Value;
use toolwright::value::Map;
use toolwright_codegen::internal::schema::{NodeId, Schemas, read_values};
use toolwright_codegen::internal::values::retained;

/// Reads two schemas. A lock has the type beside a choice of constants of it with descriptions, which would make it a rule of a text
/// instead of an enum; so the type is left out.
pub(super) fn read(old: &Value, new: &Value) -> Result<(Schemas, Vec<NodeId>), String> {
    read_values(&[without_types(old), without_types(new)])
}

/// Parses the text of a schema.
pub(super) fn json(text: &str) -> Result<Value, String> {
    text.parse().map_err(|error| format!("expected JSON: {error}"))
}

/// Returns a schema without the types beside choices of constants that are all of the type.
fn without_types(schema: &Value) -> Value {
    let has_constants = |entries: &Map<Value>, name: &str| {
        let members = entries.get("oneOf").and_then(Value::as_array);
        let is_one = |member: &Value| member.get("const").is_some_and(|value| is_of(value, name));
        members.is_some_and(|members| members.iter().all(is_one))
    };
    retained(schema, &|entries, key, value| {
        key != "type" || value.as_str().is_none_or(|name| !has_constants(entries, name))
    })
}

/// Returns whether a value is of a type.
fn is_of(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Boolean(_) => name == "boolean",
        Value::String(_) => name == "string",
        Value::Number(number) => name == "number" || (name == "integer" && number.is_integer()),
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}
