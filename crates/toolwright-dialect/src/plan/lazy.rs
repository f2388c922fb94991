//! Schemas of canonical values, which decide which alternative of a choice encodes a value.

use std::sync::{Arc, OnceLock};

use toolwright::schema::Schema;
use toolwright::value::{Map, Value};

/// A schema that is compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct LazySchema {
    source: SchemaSource,
    compiled: OnceLock<Option<Schema>>,
}

#[derive(Debug)]
enum SchemaSource {
    Text(&'static str),
    /// A place in a whole schema.
    Place(Arc<Value>, String),
    /// A schema with the references of a whole one.
    Within(Arc<Value>, Value),
}

impl LazySchema {
    pub(crate) fn new(text: &'static str) -> Self {
        Self { source: SchemaSource::Text(text), compiled: OnceLock::new() }
    }

    pub(crate) fn at(root: Arc<Value>, pointer: String) -> Self {
        Self { source: SchemaSource::Place(root, pointer), compiled: OnceLock::new() }
    }

    pub(crate) fn within(root: Arc<Value>, schema: Value) -> Self {
        Self { source: SchemaSource::Within(root, schema), compiled: OnceLock::new() }
    }

    pub(super) fn accepts(&self, value: &Value) -> bool {
        let compiled = self.compiled.get_or_init(|| self.compile());
        compiled.as_ref().is_some_and(|schema| schema.check(value.to_string().as_bytes()).is_ok())
    }

    fn compile(&self) -> Option<Schema> {
        match &self.source {
            SchemaSource::Text(text) => Schema::new(text).ok(),
            SchemaSource::Place(root, pointer) => referred((**root).clone(), pointer),
            SchemaSource::Within(root, schema) => {
                const NAME: &str = "toolwright:branch";
                let mut root = (**root).clone();
                if let Value::Object(entries) = &mut root {
                    let mut definitions = match entries.remove("$defs") {
                        Some(Value::Object(definitions)) => definitions,
                        _ => Map::new(),
                    };
                    definitions.insert(NAME, schema.clone());
                    entries.insert("$defs", Value::Object(definitions));
                }
                referred(root, &format!("/$defs/{NAME}"))
            }
        }
    }
}

/// The schema at a place of a whole one.
fn referred(mut root: Value, pointer: &str) -> Option<Schema> {
    const ID: &str = "toolwright:canonical";
    if let Value::Object(entries) = &mut root {
        entries.insert("$id", Value::from(ID));
    }
    let reference = format!("{ID}#{}", fragment(pointer));
    let whole = Value::Object(Map::from([
        ("$defs", Value::Object(Map::from([("canonical", root)]))),
        ("$ref", Value::from(reference)),
    ]));
    Schema::new(&whole.to_string()).ok()
}

/// A JSON Pointer as the fragment of a URI (RFC 6901, section 6).
fn fragment(pointer: &str) -> String {
    let escape = |byte: u8| {
        let plain = byte.is_ascii_alphanumeric() || b"/~-._".contains(&byte);
        if plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    pointer.bytes().map(escape).collect::<Vec<_>>().concat()
}
