//! Reads the schemas of a lock.

use toolwright::Value;
use toolwright::value::Map;
use toolwright_codegen::internal::schema::{NodeId, Schemas, read_texts};
use toolwright_codegen::internal::values::retained;

/// Reads two schemas. A lock has the type beside a choice of constants with descriptions, which would make it a rule of a text
/// instead of an enum; so the type is left out.
pub(super) fn read(old: &str, new: &str) -> Result<(Schemas, Vec<NodeId>), String> {
    let [old, new] =
        [old, new].map(|text| text.parse().map(|schema: Value| without_types(&schema).to_string()));
    let message = |error| format!("expected JSON: {error}");
    read_texts(&[&old.map_err(message)?, &new.map_err(message)?])
}

/// Returns a schema without the types beside choices of constants.
fn without_types(schema: &Value) -> Value {
    let has_constants = |entries: &Map<Value>| {
        let members = entries.get("oneOf").and_then(Value::as_array);
        members.is_some_and(|members| members.iter().all(|member| member.get("const").is_some()))
    };
    retained(schema, &|entries, key, value| {
        key != "type" || value.as_str().is_none() || !has_constants(entries)
    })
}
