//! Parts of the schema for editors that the declarations of [`super::document`] name: what names look like.

use serde_json::{Value, json};

/// The pattern of names of the language.
const NAME: &str = "[a-z][a-z0-9]*(_[a-z0-9]+)*";

/// The pattern of names of types.
const TYPE: &str = "[A-Z][A-Za-z0-9]*";

/// The rules of names of the language: for keys and for texts that name something.
pub(super) fn name() -> Value {
    json!({ "pattern": format!("^{NAME}$"), "maxLength": 64 })
}

/// A text that is a name.
pub(super) fn named() -> Value {
    let Value::Object(mut schema) = name() else { return Value::Null };
    schema.insert("type".to_owned(), "string".into());
    Value::Object(schema)
}

/// A rule: one of two keys is required.
pub(super) fn worded() -> Value {
    json!([{ "required": ["description"] }, { "required": ["message"] }])
}

/// The rules of type names.
pub(super) fn type_name() -> Value {
    json!({ "pattern": format!("^{TYPE}$") })
}

/// The pattern of what refers to a type: `Name`, or `service.Name`.
pub(super) fn type_reference() -> String {
    format!("({NAME}\\.)?{TYPE}")
}
