//! Describes the differences of two schemas: properties that were added or removed, changed their type or became required.
//! It does not judge whether a change breaks callers.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::untrusted;

use super::equality::{Equality, NEW, OLD, only_type_name};
use toolwright_codegen::internal::Json;

/// The maximum number of values of an `enum` that are shown.
const SHOWN_VALUES: usize = 6;

/// The longest path in bytes. Deeper changes only show in the diff of the file.
const LONGEST_PATH: usize = 400;

/// The maximum number of changes of one schema that are listed.
const MAX_LINES: usize = 1000;

/// The longest line in bytes.
const LONGEST_LINE: usize = 1000;

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
        (None, Some(_)) => changes.push("now declared"),
        (Some(_), None) => changes.push("no longer declared"),
        (Some(old), Some(new)) => changes.compare("", old, new),
    }
    changes.lines.into_iter().map(|line| format!("{side}: {line}")).collect()
}

impl Changes<'_> {
    fn compare(&mut self, path: &str, old: &Json, new: &Json) {
        let is_deep = path.len() > LONGEST_PATH;
        if is_deep || self.is_full() || self.types.holds(old, new) {
            return;
        }
        if let (Some(a), Some(b)) = (only_type_name(old), only_type_name(new))
            && !self.compared.insert((a.to_owned(), b.to_owned()))
        {
            return;
        }
        let types = self.types;
        let (old, new) = (resolved(types, OLD, old), resolved(types, NEW, new));
        let (before, after) = (words(types, OLD, old), words(types, NEW, new));
        if before != after {
            self.line(path, &format!("{before} → {after}"));
            return;
        }
        let count = self.lines.len();
        self.properties(path, old, new);
        if let (Some(old), Some(new)) = (old.get("items"), new.get("items")) {
            self.compare(&format!("{path}[]"), old, new);
        }
        if self.lines.len() == count {
            self.line(path, "limits or words changed");
        }
    }

    fn properties(&mut self, path: &str, old: &Json, new: &Json) {
        let [before, after] = [old, new].map(properties);
        let [required_before, required_after] = [old, new].map(required);
        let [old_schemas, new_schemas] = [before, after].map(|all| {
            all.iter().map(|(name, schema)| (name.as_str(), schema)).collect::<BTreeMap<_, _>>()
        });
        let at =
            |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        for (name, _) in before.iter().filter(|(name, _)| !new_schemas.contains_key(name.as_str()))
        {
            self.push(&format!("- {}", at(name)));
        }
        for (name, schema) in after {
            if self.is_full() {
                break;
            }
            let is_required = required_after.contains(name.as_str());
            let required = if is_required { ", required" } else { "" };
            let Some(old_schema) = old_schemas.get(name.as_str()) else {
                let kind = words(self.types, NEW, schema);
                self.push(&format!("+ {}: {kind}{required}", at(name)));
                continue;
            };
            match (required_before.contains(name.as_str()), is_required) {
                (false, true) => self.line(&at(name), "now required"),
                (true, false) => self.line(&at(name), "no longer required"),
                _ => {}
            }
            self.compare(&at(name), old_schema, schema);
        }
    }

    fn line(&mut self, path: &str, what: &str) {
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        self.push(&format!("{place}{what}"));
    }

    fn is_full(&self) -> bool {
        self.lines.len() > MAX_LINES
    }

    fn push(&mut self, line: &str) {
        match self.lines.len() {
            0..MAX_LINES => self.lines.push(untrusted::line(line, LONGEST_LINE)),
            MAX_LINES => self.lines.push("and more; see the diff of the file".to_owned()),
            _ => {}
        }
    }
}

fn properties(schema: &Json) -> &[(String, Json)] {
    match schema.get("properties") {
        Some(Json::Object(properties)) => properties,
        _ => &[],
    }
}

/// The names of the required properties.
fn required(schema: &Json) -> BTreeSet<&str> {
    let Some(Json::Array(names)) = schema.get("required") else { return BTreeSet::new() };
    let names = names.iter().filter_map(|name| match name {
        Json::String(name) => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}

/// Follows a schema of one side that only names a type, up to 16 times.
fn resolved<'a>(types: &Equality<'a>, side: usize, schema: &'a Json) -> &'a Json {
    let mut schema = schema;
    for _ in 0..16 {
        match only_type_name(schema).and_then(|name| types.body(side, name)) {
            Some(body) => schema = body,
            None => break,
        }
    }
    schema
}

/// Describes the values of a schema in a few words.
fn words(types: &Equality<'_>, side: usize, schema: &Json) -> String {
    let schema = resolved(types, side, schema);
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
                members.iter().map(|member| shallow(types, side, member)).collect();
            return members.join(" or ");
        }
    }
    match (schema.get("type"), schema.get("items")) {
        (Some(Json::String(word)), Some(items)) if word == "array" => {
            format!("array of {}", shallow(types, side, items))
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
fn shallow(types: &Equality<'_>, side: usize, schema: &Json) -> String {
    let schema = resolved(types, side, schema);
    match schema.get("type") {
        Some(Json::String(word)) => word.clone(),
        _ if schema.get("enum").is_some() || schema.get("const").is_some() => {
            "constants".to_owned()
        }
        _ => "other values".to_owned(),
    }
}
