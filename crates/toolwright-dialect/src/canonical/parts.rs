//! Walks through the schemas inside a schema of any draft.

use toolwright::pointer::escaped;
use toolwright::schema::{LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS};
use toolwright::value::{Map, Value};

/// Returns whether the value of a keyword is one schema.
fn is_one(keyword: &str, value: &Value) -> bool {
    SCHEMA_KEYWORDS.contains(&keyword) && !(keyword == "items" && value.as_array().is_some())
}

/// Returns whether the value of a keyword has schemas.
pub(super) fn holds_schemas(keyword: &str) -> bool {
    SCHEMA_KEYWORDS.contains(&keyword)
        || LIST_KEYWORDS.contains(&keyword)
        || MAP_KEYWORDS.contains(&keyword)
}

/// A schema in another.
pub(crate) struct Part<'a, V> {
    /// The keyword that holds it.
    pub(crate) keyword: &'a str,
    /// Its pointer below the other.
    pub(crate) pointer: String,
    pub(crate) schema: V,
}

/// Returns the schemas of a node.
pub(crate) fn parts(entries: &Map<Value>) -> Vec<Part<'_, &Value>> {
    let mut parts = Vec::new();
    for (keyword, value) in entries {
        let mut push = |pointer, schema| parts.push(Part { keyword, pointer, schema });
        if is_one(keyword, value) {
            push(format!("/{keyword}"), value);
            continue;
        }
        match value {
            Value::Array(members) if LIST_KEYWORDS.contains(&keyword) => {
                let all = members.iter().enumerate();
                all.for_each(|(index, member)| push(format!("/{keyword}/{index}"), member));
            }
            Value::Object(members) if MAP_KEYWORDS.contains(&keyword) => {
                let all = members.iter();
                all.for_each(|(key, member)| push(format!("/{keyword}/{}", escaped(key)), member));
            }
            _ => {}
        }
    }
    parts
}

/// Returns the schemas of a node, to change them.
pub(crate) fn parts_mut(entries: &mut Map<Value>) -> Vec<Part<'_, &mut Value>> {
    let mut parts = Vec::new();
    for (keyword, value) in entries.iter_mut() {
        let mut push = |pointer, schema| parts.push(Part { keyword, pointer, schema });
        if is_one(keyword, value) {
            push(format!("/{keyword}"), value);
            continue;
        }
        match value {
            Value::Array(members) if LIST_KEYWORDS.contains(&keyword) => {
                let all = members.iter_mut().enumerate();
                all.for_each(|(index, member)| push(format!("/{keyword}/{index}"), member));
            }
            Value::Object(members) if MAP_KEYWORDS.contains(&keyword) => {
                let all = members.iter_mut();
                all.for_each(|(key, member)| push(format!("/{keyword}/{}", escaped(key)), member));
            }
            _ => {}
        }
    }
    parts
}

/// Calls `f` with each node and its pointer, outermost first.
pub(crate) fn visit(node: &Value, f: &mut impl FnMut(&Map<Value>, &str)) {
    if let Value::Object(entries) = node {
        visit_in(entries, f);
    }
}

/// As [`visit`], for the entries of a node.
pub(crate) fn visit_in(entries: &Map<Value>, f: &mut impl FnMut(&Map<Value>, &str)) {
    visit_at(entries, &mut String::new(), f);
}

fn visit_at(entries: &Map<Value>, at: &mut String, f: &mut impl FnMut(&Map<Value>, &str)) {
    f(entries, at);
    let outer = at.len();
    for part in parts(entries) {
        let Value::Object(inner) = part.schema else { continue };
        at.push_str(&part.pointer);
        visit_at(inner, at, f);
        at.truncate(outer);
    }
}

/// Changes the entries of each node, innermost first; `f` also gets the pointer of the node.
pub(crate) fn change(node: &mut Value, f: &mut impl FnMut(&mut Map<Value>, &str)) {
    if let Value::Object(entries) = node {
        change_in(entries, f);
    }
}

/// As [`change`], for the entries of a node.
pub(crate) fn change_in(entries: &mut Map<Value>, f: &mut impl FnMut(&mut Map<Value>, &str)) {
    change_at(entries, &mut String::new(), f);
}

fn change_at(entries: &mut Map<Value>, at: &mut String, f: &mut impl FnMut(&mut Map<Value>, &str)) {
    let outer = at.len();
    for part in parts_mut(entries) {
        let Value::Object(inner) = part.schema else { continue };
        at.push_str(&part.pointer);
        change_at(inner, at, f);
        at.truncate(outer);
    }
    f(entries, at);
}
