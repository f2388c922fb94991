//! Patterns of names, for the editors' schema.

use serde_json::{Value, json};

/// The pattern of names of the language.
const NAME: &str = "[a-z][a-z0-9]*(_[a-z0-9]+)*";

/// The pattern of names of types.
const TYPE: &str = "[A-Z][A-Za-z0-9]*";

/// Returns the rules of names, for keys and for texts.
pub(super) fn name() -> Value {
    json!({ "pattern": format!("^{NAME}$"), "maxLength": 64 })
}

/// Returns the schema of a text that is a name.
pub(super) fn named() -> Value {
    let Value::Object(mut schema) = name() else { return Value::Null };
    schema.insert("type".to_owned(), "string".into());
    Value::Object(schema)
}

/// Returns the rule that at least one of the two keys is required.
pub(super) fn description_or_message() -> Value {
    json!([{ "required": ["description"] }, { "required": ["message"] }])
}

/// Returns the rules of type names.
pub(super) fn type_name() -> Value {
    json!({ "pattern": format!("^{TYPE}$") })
}

/// Returns the pattern of references to types: `Name`, or `service.Name`.
pub(super) fn type_reference() -> String {
    format!("({NAME}\\.)?{TYPE}")
}
