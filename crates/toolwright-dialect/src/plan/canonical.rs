//! The schema of canonical values, which decides which alternative of a choice encodes a value.

use toolwright::pointer::to_fragment;
use toolwright::schema::Schema;
use toolwright::value::{Map, Value};

use crate::canonical::ID;

/// The schema of the canonical values of a branch.
#[derive(Debug)]
pub(crate) enum CanonicalSchema {
    /// A place in the whole schema: a JSON Pointer.
    At(String),
    /// A schema with references as in the whole one.
    Own(Value),
}

/// Compiles a schema whose `anyOf` has those of all branches, in order, with the references of the whole one.
pub(super) fn compiled<'b>(
    whole: &Value,
    branches: impl Iterator<Item = &'b CanonicalSchema>,
) -> Option<Schema> {
    let mut root = whole.as_object().cloned().unwrap_or_default();
    root.insert("$id", Value::from(ID));
    let mut definitions = match root.remove("$defs") {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    let mut own = Vec::new();
    let alternatives = branches.enumerate().map(|(index, branch)| {
        let pointer = match branch {
            CanonicalSchema::At(pointer) => pointer.clone(),
            CanonicalSchema::Own(schema) => {
                let name = format!("toolwright:branch:{index}");
                own.push((name.clone(), schema.clone()));
                format!("/$defs/{name}")
            }
        };
        Value::Object(Map::from([("$ref", Value::from(format!("{ID}#{}", to_fragment(&pointer))))]))
    });
    let alternatives = alternatives.collect();
    definitions.extend(own);
    root.insert("$defs", Value::Object(definitions));
    let all = Value::Object(Map::from([
        ("$defs", Value::Object(Map::from([("canonical", Value::Object(root))]))),
        ("anyOf", Value::Array(alternatives)),
    ]));
    Schema::new(&all.to_string()).ok()
}
