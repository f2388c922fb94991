//! Describes the differences of two schemas: properties that were added or removed, changed their type or became required.
//! It does not judge whether a change breaks callers.

use std::collections::BTreeSet;

use super::equality::{Equality, only_type_name, type_body};
use super::existing::entries;
use super::keywords::Entries;
use toolwright_codegen::internal::Json;

/// The maximum number of values of an `enum` that are shown.
const SHOWN_VALUES: usize = 6;

/// The longest path in bytes. Deeper changes only show in the diff of the file.
const LONGEST_PATH: usize = 400;

/// Collects the changes between two schemas.
pub(super) struct Changes<'a> {
    types: &'a Equality<'a>,
    /// Pairs of types whose comparison has begun.
    compared: BTreeSet<(String, String)>,
    lines: Vec<String>,
}

/// Returns the changes of a tool's `args` or `result`, one line each.
pub(super) fn changes(
    types: &Equality<'_>,
    side: &str,
    old: Option<&Json>,
    new: Option<&Json>,
) -> Vec<String> {
    let mut changes = Changes { types, compared: BTreeSet::new(), lines: Vec::new() };
    match (old, new) {
        (None, None) => {}
        (None, Some(_)) => changes.lines.push("now declared".to_owned()),
        (Some(_), None) => changes.lines.push("no longer declared".to_owned()),
        (Some(old), Some(new)) => changes.compare("", old, new),
    }
    changes.lines.into_iter().map(|line| format!("{side}: {line}")).collect()
}

impl Changes<'_> {
    fn compare(&mut self, path: &str, old: &Json, new: &Json) {
        let is_deep = path.len() > LONGEST_PATH;
        if is_deep || self.types.holds(old, new) {
            return;
        }
        if let (Some(a), Some(b)) = (only_type_name(old), only_type_name(new))
            && !self.compared.insert((a.to_owned(), b.to_owned()))
        {
            return;
        }
        let (old, new) = (resolved(self.types.old, old), resolved(self.types.new, new));
        let (before, after) = (words(self.types.old, &old), words(self.types.new, &new));
        if before != after {
            self.line(path, &format!("{before} → {after}"));
            return;
        }
        let count = self.lines.len();
        self.properties(path, &old, &new);
        if let (Some(old), Some(new)) = (old.get("items"), new.get("items")) {
            self.compare(&format!("{path}[]"), old, new);
        }
        if self.lines.len() == count {
            self.line(path, "limits or words changed");
        }
    }

    fn properties(&mut self, path: &str, old: &Json, new: &Json) {
        let [before, after] = [old, new].map(|schema| entries(schema.get("properties")));
        let at =
            |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        for (name, _) in before.iter().filter(|(name, _)| !has(&after, name)) {
            self.lines.push(format!("- {}", at(name)));
        }
        for (name, schema) in &after {
            let is_required = requires(new, name);
            let required = if is_required { ", required" } else { "" };
            let Some((_, old_schema)) = before.iter().find(|(known, _)| known == name) else {
                let kind = words(self.types.new, schema);
                self.lines.push(format!("+ {}: {kind}{required}", at(name)));
                continue;
            };
            match (requires(old, name), is_required) {
                (false, true) => self.line(&at(name), "now required"),
                (true, false) => self.line(&at(name), "no longer required"),
                _ => {}
            }
            self.compare(&at(name), old_schema, schema);
        }
    }

    fn line(&mut self, path: &str, what: &str) {
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        self.lines.push(format!("{place}{what}"));
    }
}

fn has(entries: &Entries, name: &str) -> bool {
    entries.iter().any(|(known, _)| known == name)
}

fn requires(schema: &Json, name: &str) -> bool {
    matches!(schema.get("required"), Some(Json::Array(names)) if names.contains(&Json::string(name)))
}

/// Follows a schema that only names a type, up to 16 times.
fn resolved(types: &Entries, schema: &Json) -> Json {
    let mut schema = schema;
    for _ in 0..16 {
        match only_type_name(schema).and_then(|name| type_body(types, name)) {
            Some(body) => schema = body,
            None => break,
        }
    }
    schema.clone()
}

/// Describes the values of a schema in a few words.
fn words(types: &Entries, schema: &Json) -> String {
    let schema = resolved(types, schema);
    if let Some(Json::Array(values)) = schema.get("enum") {
        let shown: Vec<String> = values.iter().take(SHOWN_VALUES).map(Json::to_string).collect();
        let more = if values.len() > SHOWN_VALUES {
            format!(" and {} more", values.len() - SHOWN_VALUES)
        } else {
            String::new()
        };
        return format!("one of {}{more}", shown.join(", "));
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Json::Array(members)) = schema.get(keyword) {
            let members: Vec<String> =
                members.iter().map(|member| shallow(types, member)).collect();
            return members.join(" or ");
        }
    }
    match (schema.get("type"), schema.get("items")) {
        (Some(Json::String(word)), Some(items)) if word == "array" => {
            format!("array of {}", shallow(types, items))
        }
        (Some(Json::String(word)), _) => word.clone(),
        (Some(Json::Array(kinds)), _) => {
            let kinds = kinds.iter().map(|kind| kind.to_string().replace('"', ""));
            kinds.collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

/// Describes the values of a schema inside another. It does not look further inside, as schemas may be recursive.
fn shallow(types: &Entries, schema: &Json) -> String {
    let schema = resolved(types, schema);
    match schema.get("type") {
        Some(Json::String(word)) => word.clone(),
        _ if schema.get("enum").is_some() || schema.get("const").is_some() => {
            "constants".to_owned()
        }
        _ => "other values".to_owned(),
    }
}
