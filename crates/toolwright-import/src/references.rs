//! Moves everything that a schema refers to into definitions with names. The schema accepts the same values as before.
//! References to other documents are not fetched.

use std::collections::BTreeMap;

use toolwright::pointer::{from_fragment, unescaped};

use super::keywords::{Entries, each_part, joined, rebuild};
use super::warnings::Subject;
use super::widen;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::naming;

/// A schema whose references are only `#` and `#/$defs/NAME`, with these definitions.
#[derive(Clone, Debug)]
pub(super) struct Standalone {
    /// The schema without its definitions.
    pub(super) root: Json,
    /// The definitions that no earlier schema has reached.
    pub(super) definitions: Entries,
}

/// The maximum number of places of one schema that references may lead to.
const MAX_TARGETS: usize = 500;

/// The prefix of references to definitions.
pub(super) const LOCAL: &str = "#/$defs/";

/// Gathers the targets of a schema's references.
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
struct Targets {
    resources: Resources,
    /// The pointers of anchors, by their resource and name.
    anchors: BTreeMap<(String, String), String>,
    /// The pointers of the targets and their names, in the order in which they are found. The root is not among them.
    names: Vec<(String, String)>,
}

impl Targets {
    fn of(raw: &Json) -> Self {
        let resources = Resources::of(raw);
        let anchors = anchors(raw, &resources);
        let mut targets = Self { resources, anchors, names: Vec::new() };
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

    /// Adds the targets of a schema's references, except those of its definitions.
    fn collect(&mut self, raw: &Json, schema: &Json, pointer: &str) {
        let body = without_definitions(schema.clone());
        rebuild(body, pointer, &mut |part, at_part| {
            if let Some(Json::String(reference)) = part.get("$ref")
                && let Some(target) = self.resolve(reference, at_part)
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

    /// The pointer that a reference resolves to; `None` if it leads to another document.
    fn resolve(&self, reference: &str, from: &str) -> Option<String> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = self.resources.around(from);
        let resource = if document.is_empty() {
            resource
        } else {
            self.resources.named(document, resource)?
        };
        let fragment = from_fragment(fragment)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            Some(format!("{}{fragment}", resource.pointer))
        } else {
            self.anchors.get(&(resource.pointer.clone(), fragment)).cloned()
        }
    }

    /// Rewrites the references of a schema, and replaces the targets inside it by references.
    fn rewritten(&self, schema: Json, pointer: &str, subject: &mut Subject<'_>) -> Json {
        let entries = match without_definitions(schema) {
            Json::Object(entries) => entries,
            other => return other,
        };
        let mut rewritten = Vec::new();
        for (keyword, value) in entries {
            if keyword == "$ref" {
                rewritten.push(self.reference(value, pointer, subject));
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

    fn reference(&self, value: Json, pointer: &str, subject: &mut Subject<'_>) -> (String, Json) {
        let target = match &value {
            Json::String(reference) => self.resolve(reference, pointer),
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
            let message = format!("the reference {value} {why}, so any value is accepted");
            subject.warn(pointer, message);
        }
        match rewritten {
            Some(reference) => ("$ref".to_owned(), Json::String(reference)),
            None => widen::mark(),
        }
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

/// A schema resource: the root, or a subschema with an `$id`. References inside it are relative to it (2020-12 core, 8.2.1).
struct Resource {
    /// Its JSON Pointer.
    pointer: String,
    /// Its URI, if that is known.
    uri: Option<String>,
}

/// The resources of a schema. The root is the first, and an outer resource comes before those inside it.
struct Resources {
    all: Vec<Resource>,
    /// The place of each in this list, by its pointer.
    places: BTreeMap<String, usize>,
    /// The place of the first one with a URI.
    uris: BTreeMap<String, usize>,
}

impl Resources {
    fn of(raw: &Json) -> Self {
        let is_old =
            matches!(raw.get("$schema"), Some(Json::String(uri)) if uri.contains("draft-04"));
        let word = if is_old { "id" } else { "$id" };
        let mut found = Vec::new();
        rebuild(raw.clone(), "", &mut |schema, pointer| {
            if let Some(Json::String(id)) = schema.get(word)
                && !id.starts_with('#')
            {
                found.push((pointer.to_owned(), id.trim_end_matches('#').to_owned()));
            }
            schema
        });
        found.sort_by_key(|(pointer, _)| pointer.len());
        let root = Resource { pointer: String::new(), uri: None };
        let mut resources =
            Self { all: vec![root], places: BTreeMap::new(), uris: BTreeMap::new() };
        for (pointer, id) in found {
            let uri = absolute(resources.around(&pointer).uri.as_deref(), &id);
            let place = if pointer.is_empty() { 0 } else { resources.all.len() };
            if let Some(uri) = uri.clone() {
                resources.uris.entry(uri).or_insert(place);
            }
            if pointer.is_empty() {
                resources.all[0].uri = uri;
            } else {
                resources.places.insert(pointer.clone(), place);
                resources.all.push(Resource { pointer, uri });
            }
        }
        resources
    }

    /// The innermost resource around a place.
    fn around(&self, pointer: &str) -> &Resource {
        let mut places = std::iter::successors(Some(pointer), |inner| {
            inner.rfind('/').map(|slash| &inner[..slash])
        });
        let place = places.find_map(|pointer| self.places.get(pointer));
        &self.all[place.copied().unwrap_or(0)]
    }

    /// The resource that a reference in another names.
    fn named(&self, document: &str, from: &Resource) -> Option<&Resource> {
        let uri = absolute(from.uri.as_deref(), document)?;
        self.uris.get(&uri).map(|place| &self.all[*place])
    }
}

/// Resolves a reference against the URI of a document (RFC 3986, 5.2). Returns `None` for `.` and `..`, and for a host without
/// a scheme, which are not supported.
fn absolute(base: Option<&str>, reference: &str) -> Option<String> {
    let has_scheme = |uri: &str| {
        let scheme = uri.split(['/', '?', '#']).next().unwrap_or_default().split_once(':');
        scheme.is_some_and(|(scheme, _)| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        })
    };
    if has_scheme(reference) {
        return Some(reference.to_owned());
    }
    let Some(base) = base else { return Some(reference.to_owned()) };
    let base = base.split('?').next().unwrap_or_default();
    if reference.starts_with("//") || reference.split('/').any(|step| step == "." || step == "..") {
        return None;
    }
    let (origin, path) = match base.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.find('/').unwrap_or(rest.len());
            base.split_at(scheme.len() + "://".len() + host)
        }
        // URIs such as URNs have no path.
        None if has_scheme(base) => return None,
        None => ("", base),
    };
    if reference.starts_with('/') {
        return Some(format!("{origin}{reference}"));
    }
    let folder = path.rfind('/').map_or("", |slash| &path[..=slash]);
    let gap = if folder.is_empty() && !origin.is_empty() { "/" } else { "" };
    Some(format!("{origin}{gap}{folder}{reference}"))
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

/// A schema without its definitions.
pub(super) fn without_definitions(schema: Json) -> Json {
    match schema {
        Json::Object(mut entries) => {
            entries.retain(|(keyword, _)| !["$defs", "definitions"].contains(&keyword.as_str()));
            Json::Object(entries)
        }
        other => other,
    }
}

/// The pointers of all anchors: `$anchor`, or `$id: "#name"` in drafts before 2019-09.
fn anchors(raw: &Json, resources: &Resources) -> BTreeMap<(String, String), String> {
    let mut anchors = BTreeMap::new();
    rebuild(raw.clone(), "", &mut |schema, pointer| {
        let mut add = |name: &str| {
            let resource = resources.around(pointer).pointer.clone();
            anchors.insert((resource, name.to_owned()), pointer.to_owned());
        };
        if let Some(Json::String(name)) = schema.get("$anchor") {
            add(name);
        }
        if let Some(Json::String(id)) = schema.get("$id")
            && let Some(name) = id.strip_prefix('#')
        {
            add(name);
        }
        schema
    });
    anchors
}

/// The value that a JSON Pointer leads to (RFC 6901).
fn at<'a>(value: &'a Json, pointer: &str) -> Option<&'a Json> {
    at_indexes(value, &indexes(value, pointer)?)
}

/// Returns the index at each step of a JSON Pointer; `None` if it leads to nothing.
pub(super) fn indexes(value: &Json, pointer: &str) -> Option<Vec<usize>> {
    let mut value = value;
    let index = |step: &str| {
        let index = match value {
            Json::Object(entries) => {
                let key = unescaped(step);
                entries.iter().position(|(known, _)| *known == key)?
            }
            _ => step.parse().ok()?,
        };
        value = at_indexes(value, &[index])?;
        Some(index)
    };
    pointer.split('/').skip(1).map(index).collect()
}

/// The value that the indexes of entries and items lead to.
pub(super) fn at_indexes<'a>(value: &'a Json, indexes: &[usize]) -> Option<&'a Json> {
    indexes.iter().try_fold(value, |value, index| match value {
        Json::Object(entries) => entries.get(*index).map(|(_, value)| value),
        Json::Array(items) => items.get(*index),
        _ => None,
    })
}

/// The wanted name of a target: a definition keeps its name, anything else is named after the property around it.
fn name_of(pointer: &str) -> String {
    let steps: Vec<_> = pointer.split('/').skip(1).map(unescaped).collect();
    let named = |at: usize| ["$defs", "definitions", "properties"].contains(&&*steps[at]);
    let start =
        (0..steps.len().saturating_sub(1)).rev().find(|&at| named(at)).map_or(0, |at| at + 1);
    let is_definition = start > 0 && steps[start - 1] != "properties";
    let words = steps[start..].iter().map(|step| match &**step {
        "items" => "Item".to_owned(),
        step => step.to_owned(),
    });
    let words: Vec<String> = words.collect();
    match words.as_slice() {
        [name] if is_plain_name(name) && is_definition => name.clone(),
        words => words.iter().map(|word| String::from(naming::pascal(word))).collect(),
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}
