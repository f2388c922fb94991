//! Parts of the schema for editors that the declarations of [`super::document`] name: what names look like.

use serde_json::{Value, json};

/// What a name of the language looks like, apart from its length: for keys that name something, and for texts that do.
pub(super) fn name() -> Value {
    json!({ "pattern": "^[a-z][a-z0-9]*(_[a-z0-9]+)*$", "maxLength": 64 })
}

/// A text that is a name.
pub(super) fn named() -> Value {
    let Value::Object(mut schema) = name() else { return Value::Null };
    schema.insert("type".to_owned(), "string".into());
    Value::Object(schema)
}

/// That one of two keys has to be there.
pub(super) fn worded() -> Value {
    json!([{ "required": ["description"] }, { "required": ["message"] }])
}

/// What a type's name looks like.
pub(super) fn type_name() -> Value {
    json!({ "pattern": "^[A-Z][A-Za-z0-9]*$" })
}
