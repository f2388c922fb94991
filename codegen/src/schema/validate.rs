//! Judges examples and defaults by their schemas, with the contract's validator.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use toolwright::Issue;
use toolwright::schema::Schema;

use super::{Assertion, Budget, NodeId, Schemas, number, parts, published};
use crate::json::{Json, Style};

/// One way in which a value breaks a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// The sentence that says what was expected and found there.
    pub message: String,
}

/// After so many mistakes in one value nobody reads on.
const MAX_VIOLATIONS: usize = 20;

/// Returns at most 20 violations. There are none if the schema has invalid parts or the budget is used
/// up.
pub fn violations(
    schemas: &Schemas,
    node: NodeId,
    value: &Json,
    budget: &mut Budget,
) -> Vec<Violation> {
    let reached = reached(schemas, node);
    let is_known = reached.iter().all(|id| schemas.is_valid(*id));
    if !is_known || !budget.spend(reached.len()) {
        return Vec::new();
    }
    // A schema that cannot be compiled is refused elsewhere.
    let Ok(schema) = Schema::new(&published(schemas, node, Style::Compact)) else {
        return Vec::new();
    };
    let Err(invalid) = budget.judge(&schema, &value.to_string()) else { return Vec::new() };
    let issues = invalid.issues().iter().take(MAX_VIOLATIONS);
    let violation =
        |issue: &Issue| Violation { pointer: issue.pointer().to_owned(), message: issue.message() };
    issues.map(violation).collect()
}

/// The nodes that a node leads to, itself included.
fn reached(schemas: &Schemas, node: NodeId) -> BTreeSet<NodeId> {
    let (mut reached, mut waiting) = (BTreeSet::new(), vec![node]);
    while let Some(node) = waiting.pop() {
        if reached.insert(node) {
            waiting.extend(parts(schemas, node));
            waiting.extend(schemas[node].assertions.iter().flat_map(Assertion::schemas));
        }
    }
    reached
}

/// A text that equal values share, and hardly any others: numbers by their nearest `f64`, keys in order.
pub(crate) fn sort_key(value: &Json) -> String {
    match value {
        Json::Number(text) => format!("{:x}", number::as_f64(text).to_bits()),
        Json::Array(items) => {
            let keys: Vec<String> = items.iter().map(sort_key).collect();
            format!("[{}]", keys.join(","))
        }
        Json::Object(entries) => {
            let mut keys: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key:?}:{}", sort_key(value))).collect();
            keys.sort();
            format!("{{{}}}", keys.join(","))
        }
        plain => plain.to_string(),
    }
}

/// Equality of JSON Schema (2020-12 core, 4.2.2): numbers by value, objects whatever their order.
pub(crate) fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => number::compare(a, b) == Ordering::Equal,
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Json::Object(entries), Json::Object(others)) => {
            entries.len() == others.len()
                && entries.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}
