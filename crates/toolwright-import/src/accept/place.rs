//! Finds the value at a position of the text: the keys that lead to it from the root of the document, and the schema that it
//! is in.

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
                let before = |at: &Span| at.start <= span.start;
                let Some(entry) = entries.iter().rfind(|entry| before(&entry.key.span)) else {
                    break;
                };
                path.push(entry.key.value.clone());
                if span.end <= entry.key.span.end {
                    return Place { path, is_key: true };
                }
                node = &entry.value;
            }
            Value::Sequence(items) => {
                let Some(index) = items.iter().rposition(|item| item.span.start <= span.start)
                else {
                    break;
                };
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
pub(super) fn schema(document: &Json, place: &Place) -> Option<usize> {
    let mut at = schema_root(&place.path)?;
    // The key of a subschema belongs to the schema around it.
    let end = place.path.len() - usize::from(place.is_key);
    if at > end {
        return None;
    }
    while let Some(keyword) = place.path.get(at) {
        let value = value_at(document, &place.path[..=at]);
        let steps = value.and_then(|value| parts_at(keyword, value));
        match steps {
            Some(steps) if at + steps <= end => at += steps,
            _ => break,
        }
    }
    Some(at)
}

/// The value that a path leads to.
pub(super) fn value_at<'a>(document: &'a Json, path: &[String]) -> Option<&'a Json> {
    path.iter().try_fold(document, |value, step| match value {
        Json::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

/// The value that a path leads to, mutable.
pub(super) fn value_at_mut<'a>(document: &'a mut Json, path: &[String]) -> Option<&'a mut Json> {
    path.iter().try_fold(document, |value, step| match value {
        Json::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        Json::Object(entries) => {
            entries.iter_mut().find(|(key, _)| key == step).map(|(_, value)| value)
        }
        _ => None,
    })
}

/// The paths of all schemas of a document that are not inside another.
pub(super) fn schema_roots(document: &Json) -> Vec<Path> {
    let names = |path: &[&str]| -> Vec<String> {
        let path: Path = path.iter().map(|step| (*step).to_owned()).collect();
        match value_at(document, &path) {
            Some(Json::Object(entries)) => entries.iter().map(|(name, _)| name.clone()).collect(),
            _ => Vec::new(),
        }
    };
    let mut roots = Vec::new();
    let mut add = |path: &[&str]| {
        let path: Path = path.iter().map(|step| (*step).to_owned()).collect();
        if matches!(value_at(document, &path), Some(Json::Object(_))) {
            roots.push(path);
        }
    };
    for name in names(&["types"]) {
        add(&["types", &name]);
    }
    for name in names(&["methods"]) {
        add(&["methods", &name, "payload"]);
        add(&["methods", &name, "result"]);
    }
    for toolset in names(&["toolsets"]) {
        for tool in names(&["toolsets", &toolset, "tools"]) {
            add(&["toolsets", &toolset, "tools", &tool, "args"]);
            add(&["toolsets", &toolset, "tools", &tool, "result"]);
        }
    }
    roots
}
