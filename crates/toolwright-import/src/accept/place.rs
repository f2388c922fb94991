//! Finds the value at a position of the text: the keys that lead to it from the root of the document, and the schema that it
//! is in.

use std::cell::Cell;

use super::super::keywords::parts_at;
use toolwright_codegen::diagnostic::Span;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::yaml::{Node, Value};

/// The keys and indexes that lead to a value.
pub(super) type Path = Vec<String>;

/// The key or value at a position of the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The path to it.
    pub(super) path: Path,
    /// True if it is the key and not the value.
    pub(super) is_key: bool,
}

/// Finds the key or value at a position, or the innermost value around it.
pub(super) fn place(root: &Node, span: Span) -> Place {
    let mut path = Path::new();
    let mut node = root;
    while node.span != span {
        match &node.value {
            Value::Mapping(entries) => {
                // They are in the order of the text.
                let next = entries.partition_point(|entry| entry.key.span.start <= span.start);
                let Some(entry) = entries[..next].last() else { break };
                path.push(entry.key.value.clone());
                if span.end <= entry.key.span.end {
                    return Place { path, is_key: true };
                }
                node = &entry.value;
            }
            Value::Sequence(items) => {
                let next = items.partition_point(|item| item.span.start <= span.start);
                let Some(index) = next.checked_sub(1) else { break };
                path.push(index.to_string());
                node = &items[index];
            }
            _ => break,
        }
    }
    Place { path, is_key: false }
}

/// The number of steps of a path that lead to the outermost schema around it; `None` if it is in no schema.
pub(super) fn schema_root(path: &[String]) -> Option<usize> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["types", _, ..] => Some(2),
        ["methods", _, "payload" | "result", ..] => Some(3),
        ["toolsets", _, "tools", _, "args" | "result", ..] => Some(5),
        _ => None,
    }
}

/// The number of steps that lead to the innermost schema around a place; `None` if it is in no schema.
pub(super) fn schema(document: &Json, place: &Place, near: &Near) -> Option<usize> {
    let mut at = schema_root(&place.path)?;
    // The key of a subschema belongs to the schema around it.
    let end = place.path.len() - usize::from(place.is_key);
    if at > end {
        return None;
    }
    while let Some(keyword) = place.path.get(at) {
        let value = value_near(document, &place.path[..=at], near);
        let steps = value.and_then(|value| parts_at(keyword, value));
        match steps {
            Some(steps) if at + steps <= end => at += steps,
            _ => break,
        }
    }
    Some(at)
}

/// Where the last entry of a long object was found. Paths are looked up in the order of the text, or against it.
pub(super) type Near = Cell<usize>;

/// The value that a path leads to.
pub(super) fn value_at<'a>(document: &'a Json, path: &[String]) -> Option<&'a Json> {
    value_near(document, path, &Near::default())
}

/// The value that a path leads to, mutable.
pub(super) fn value_at_mut<'a>(document: &'a mut Json, path: &[String]) -> Option<&'a mut Json> {
    value_near_mut(document, path, &Near::default())
}

/// Does the same as [`value_at`], for one of many paths.
pub(super) fn value_near<'a>(document: &'a Json, path: &[String], near: &Near) -> Option<&'a Json> {
    path.iter().try_fold(document, |value, step| match value {
        Json::Array(items) => items.get(step.parse::<usize>().ok()?),
        Json::Object(entries) => Some(&entries[position(entries, step, near)?].1),
        _ => None,
    })
}

/// Does the same as [`value_at_mut`], for one of many paths.
pub(super) fn value_near_mut<'a>(
    document: &'a mut Json,
    path: &[String],
    near: &Near,
) -> Option<&'a mut Json> {
    path.iter().try_fold(document, |value, step| match value {
        Json::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        Json::Object(entries) => {
            let at = position(entries, step, near)?;
            Some(&mut entries[at].1)
        }
        _ => None,
    })
}

/// The position of a key. Searching a long object from its beginning each time would take quadratic time in all.
fn position(entries: &[(String, Json)], key: &str, near: &Near) -> Option<usize> {
    const SHORT: usize = 32;
    let is_it = |at: &usize| entries[*at].0 == key;
    if entries.len() <= SHORT {
        return (0..entries.len()).find(is_it);
    }
    let from = near.get().min(entries.len());
    let found = (from.saturating_sub(1)..entries.len().min(from + 2)).find(is_it);
    let found = found.or_else(|| (0..entries.len()).find(is_it))?;
    near.set(found);
    Some(found)
}

/// The paths of all schemas of a document that are not inside another.
pub(super) fn schema_roots(document: &Json) -> Vec<Path> {
    let mut roots = Vec::new();
    let mut add = |owner: &[&str], side: &str, schema: Option<&Json>| {
        if matches!(schema, Some(Json::Object(_))) {
            roots.push(owner.iter().chain([&side]).map(|step| (*step).to_owned()).collect());
        }
    };
    for (name, schema) in entries(document.get("types")) {
        add(&["types"], name, Some(schema));
    }
    for (name, method) in entries(document.get("methods")) {
        for side in ["payload", "result"] {
            add(&["methods", name], side, method.get(side));
        }
    }
    for (toolset, body) in entries(document.get("toolsets")) {
        for (tool, body) in entries(body.get("tools")) {
            for side in ["args", "result"] {
                add(&["toolsets", toolset, "tools", tool], side, body.get(side));
            }
        }
    }
    roots
}

fn entries(value: Option<&Json>) -> &[(String, Json)] {
    match value {
        Some(Json::Object(entries)) => entries,
        _ => &[],
    }
}
