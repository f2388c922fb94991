//! Follows the references of one schema and puts what they lead to under one roof: definitions at the
//! root, by name. Never changes what a schema asserts, and never fetches anything.

use std::collections::BTreeMap;

use super::keywords::{Entries, each_part, joined, rebuild};
use super::warnings::Subject;
use crate::naming;
use crate::schema::Json;

/// A schema whose references are `#` and `#/$defs/NAME` alone, with these definitions beside it.
#[derive(Clone, Debug)]
pub(super) struct Standalone {
    /// The schema without its definitions.
    pub(super) root: Json,
    /// Every definition that the schema reaches, in the order in which it does.
    pub(super) definitions: Entries,
}

/// How many places of one schema may be referred to; each is told apart by all that it reaches.
const MAX_TARGETS: usize = 500;

/// What a reference to a definition begins with.
pub(super) const LOCAL: &str = "#/$defs/";

/// Gathers what a schema refers to.
pub(super) fn gather(raw: &Json, subject: &mut Subject<'_>) -> Standalone {
    let targets = Targets::of(raw);
    let definitions = targets.names.iter().map(|(pointer, name)| {
        let body = at(raw, pointer).cloned().unwrap_or(Json::Boolean(true));
        (name.clone(), targets.rewritten(body, pointer, subject))
    });
    let definitions = definitions.collect();
    let root = targets.rewritten(raw.clone(), "", subject);
    targets.warn_of_unused(raw, subject);
    Standalone { root, definitions }
}

/// The places that references lead to.
struct Targets<'a> {
    /// What references may call the whole schema.
    identity: Option<&'a str>,
    /// Pointers by anchor.
    anchors: BTreeMap<String, String>,
    /// Pointers and the names of what is there, in the order in which they are met; never the root.
    names: Vec<(String, String)>,
}

impl<'a> Targets<'a> {
    fn of(raw: &'a Json) -> Self {
        let identity = match raw.get("$id") {
            Some(Json::String(uri)) => Some(uri.trim_end_matches('#')),
            _ => None,
        };
        let mut targets = Self { identity, anchors: anchors(raw), names: Vec::new() };
        targets.collect(raw, raw, "");
        let mut next = 0;
        while let Some((pointer, _)) = targets.names.get(next).cloned() {
            if let Some(body) = at(raw, &pointer) {
                targets.collect(raw, body, &pointer);
            }
            next += 1;
        }
        targets
    }

    /// Adds what a schema refers to, its definitions aside.
    fn collect(&mut self, raw: &Json, schema: &Json, pointer: &str) {
        let body = without_definitions(schema.clone());
        rebuild(body, pointer, &mut |part, _| {
            if let Some(Json::String(reference)) = part.get("$ref")
                && let Some(target) = self.resolve(reference)
                && at(raw, &target).is_some()
            {
                self.add(target);
            }
            part
        });
    }

    fn add(&mut self, pointer: String) {
        let is_full = self.names.len() >= MAX_TARGETS;
        if !is_full && !pointer.is_empty() && self.name(&pointer).is_none() {
            let wanted = name_of(&pointer);
            let numbered = (2_u32..).map(|number| format!("{wanted}{number}"));
            let mut candidates = std::iter::once(wanted.clone()).chain(numbered);
            let is_free = |name: &String| self.names.iter().all(|(_, taken)| taken != name);
            let name = candidates.find(is_free).unwrap_or_default();
            self.names.push((pointer, name));
        }
    }

    fn name(&self, pointer: &str) -> Option<&str> {
        let found = self.names.iter().find(|(known, _)| known == pointer);
        found.map(|(_, name)| name.as_str())
    }

    /// The pointer that a reference stands for, in one spelling; `None` for another document.
    fn resolve(&self, reference: &str) -> Option<String> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !document.is_empty() && Some(document) != self.identity {
            return None;
        }
        let fragment = percent_decoded(fragment)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            Some(fragment)
        } else {
            self.anchors.get(&fragment).cloned()
        }
    }

    /// A schema with its references in our spelling, and references in the place of other targets.
    fn rewritten(&self, schema: Json, pointer: &str, subject: &mut Subject<'_>) -> Json {
        let entries = match without_definitions(schema) {
            Json::Object(entries) => entries,
            other => return other,
        };
        let mut rewritten = Vec::new();
        for (keyword, value) in entries {
            if keyword == "$ref" {
                rewritten.extend(self.reference(value, pointer, subject));
                continue;
            }
            let mut part = |part: Json, at: &str| match self.name(at) {
                Some(name) => reference_to(name),
                None => self.rewritten(part, at, subject),
            };
            rewritten.push((keyword.clone(), each_part(&keyword, value, pointer, &mut part)));
        }
        Json::Object(rewritten)
    }

    fn reference(
        &self,
        value: Json,
        pointer: &str,
        subject: &mut Subject<'_>,
    ) -> Option<(String, Json)> {
        let target = match &value {
            Json::String(reference) => self.resolve(reference),
            _ => None,
        };
        let rewritten = match target.as_deref() {
            Some("") => Some("#".to_owned()),
            Some(target) => self.name(target).map(|name| format!("{LOCAL}{name}")),
            None => None,
        };
        if rewritten.is_none() {
            let why = if self.names.len() < MAX_TARGETS {
                "leads to nothing in its schema".to_owned()
            } else {
                format!(
                    "leads to nothing in its schema, or to another place than the first {MAX_TARGETS}"
                )
            };
            let message = format!("the reference {value} {why}, so any value is let through");
            subject.warn(pointer, message);
        }
        rewritten.map(|reference| ("$ref".to_owned(), Json::String(reference)))
    }

    fn warn_of_unused(&self, raw: &Json, subject: &mut Subject<'_>) {
        for container in ["$defs", "definitions"] {
            let Some(Json::Object(entries)) = raw.get(container) else { continue };
            for (name, _) in entries {
                let pointer = joined(&format!("/{container}"), name);
                if !self.names.iter().any(|(target, _)| target.starts_with(&pointer)) {
                    subject.warn(&pointer, "a definition that nothing refers to was left out");
                }
            }
        }
    }
}

/// A schema that is a reference and nothing else.
pub(super) fn reference_to(name: &str) -> Json {
    Json::Object(vec![("$ref".to_owned(), Json::String(format!("{LOCAL}{name}")))])
}

/// The definition a schema refers to.
pub(super) fn target(schema: &Json) -> Option<&str> {
    match schema.get("$ref") {
        Some(Json::String(reference)) => reference.strip_prefix(LOCAL),
        _ => None,
    }
}

fn without_definitions(schema: Json) -> Json {
    match schema {
        Json::Object(mut entries) => {
            entries.retain(|(keyword, _)| !["$defs", "definitions"].contains(&keyword.as_str()));
            Json::Object(entries)
        }
        other => other,
    }
}

/// The pointers of all anchors: `$anchor`, and `$id: "#name"` as drafts before 2019-09 wrote it.
fn anchors(raw: &Json) -> BTreeMap<String, String> {
    let mut anchors = BTreeMap::new();
    rebuild(raw.clone(), "", &mut |schema, pointer| {
        if let Some(Json::String(name)) = schema.get("$anchor") {
            anchors.insert(name.clone(), pointer.to_owned());
        }
        if let Some(Json::String(id)) = schema.get("$id")
            && let Some(name) = id.strip_prefix('#')
        {
            anchors.insert(name.to_owned(), pointer.to_owned());
        }
        schema
    });
    anchors
}

/// What a pointer leads to (RFC 6901).
pub(super) fn at<'a>(value: &'a Json, pointer: &str) -> Option<&'a Json> {
    pointer.split('/').skip(1).try_fold(value, |value, step| match value {
        Json::Object(_) => value.get(&unescaped(step)),
        Json::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// A definition keeps its name; anything else is named after the property it is, or is in.
fn name_of(pointer: &str) -> String {
    let steps: Vec<String> = pointer.split('/').skip(1).map(unescaped).collect();
    let named = |at: usize| ["$defs", "definitions", "properties"].contains(&steps[at].as_str());
    let start =
        (0..steps.len().saturating_sub(1)).rev().find(|&at| named(at)).map_or(0, |at| at + 1);
    let is_definition = start > 0 && steps[start - 1] != "properties";
    let words = steps[start..].iter().map(|step| match step.as_str() {
        "items" => "Item".to_owned(),
        step => step.to_owned(),
    });
    let words: Vec<String> = words.collect();
    match words.as_slice() {
        [name] if is_plain_name(name) && is_definition => name.clone(),
        words => words.iter().map(|word| naming::pascal(word)).collect(),
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

/// A URI fragment as text (RFC 3986, 2.1); `None` where it is not UTF-8.
pub(super) fn percent_decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = fragment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let code = code.filter(|_| first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}
