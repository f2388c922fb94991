//! Checks examples and defaults against their schemas, with the contract's validator.

use toolwright::Issue;
use toolwright::schema::Schema;

use super::follow::reached_with_assertions;
use super::{Budget, NodeId, Schemas, aliased, number, published_within};
use crate::json::{Json, Style};

/// A place where a value breaks a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The place in the value, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// The sentence that says what was expected and found there.
    pub message: String,
}

/// The most violations that are reported for one value.
const MAX_VIOLATIONS: usize = 20;

/// The most bytes of a schema that is compiled for this.
const MAX_PUBLISHED: usize = 16 << 20;

/// The bytes of a published schema that are compiled in about the time of a node.
const BYTES_OF_SCHEMA: usize = 256;

/// Returns at most 20 violations. There are none if the schema has invalid parts or the budget is used
/// up.
pub fn violations(
    schemas: &Schemas,
    node: NodeId,
    value: &Json,
    budget: &mut Budget,
) -> Vec<Violation> {
    // Many properties with a default may refer to one type.
    let node = aliased(schemas, node).last().unwrap_or(node);
    let compile = |budget: &mut Budget| {
        let reached = reached_with_assertions(schemas, node);
        let is_known = reached.iter().all(|id| schemas.is_valid(*id));
        let is_compiled = is_known && budget.spend_schemas(reached.len());
        // A schema that cannot be compiled is reported elsewhere.
        let text =
            is_compiled.then(|| published_within(schemas, node, Style::Compact, MAX_PUBLISHED))?;
        // Properties of merged objects are written more than once.
        let is_compiled = budget.spend_schemas(text.len() / BYTES_OF_SCHEMA);
        (is_compiled && text.len() <= MAX_PUBLISHED).then(|| Schema::new(&text).ok())?
    };
    let Some(schema) = budget.compiled(node, compile) else { return Vec::new() };
    let Err(invalid) = budget.check(&schema, &value.to_string()) else { return Vec::new() };
    let issues = invalid.issues().iter().take(MAX_VIOLATIONS);
    let violation =
        |issue: &Issue| Violation { pointer: issue.pointer().to_owned(), message: issue.message() };
    issues.map(violation).collect()
}

/// Returns a text that is the same for values that are equal in JSON Schema (2020-12 core, 4.2.2), by the value of numbers and in any
/// order of keys, and only for these.
pub(crate) fn key(value: &Json) -> String {
    match value {
        Json::Number(text) => number::canonical(text),
        Json::Array(items) => {
            let keys: Vec<String> = items.iter().map(key).collect();
            format!("[{}]", keys.join(","))
        }
        Json::Object(entries) => {
            let mut keys: Vec<String> =
                entries.iter().map(|(name, value)| format!("{name:?}:{}", key(value))).collect();
            keys.sort();
            format!("{{{}}}", keys.join(","))
        }
        plain => plain.to_string(),
    }
}
