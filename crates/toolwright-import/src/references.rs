//! Moves everything that a schema refers to into definitions with names. The schema accepts the same values as before.
//! References to other documents are not fetched.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use toolwright::pointer::{from_fragment, unescaped};

use super::dialect::Dialect;
use super::keywords::{Entries, joined, mapped_parts, rebuild};
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
    let definitions = targets.found.iter().map(|(pointer, body)| {
        let name = targets.names[pointer].clone();
        let body = targets.rewritten(body, pointer, subject);
        (name, with_dialect(body, targets.dialect_around(raw, pointer)))
    });
    let definitions = definitions.collect();
    let root = targets.rewritten(raw, "", subject);
    targets.warn_of_unused(raw, subject);
    Standalone { root, definitions }
}

/// The places that references lead to.
struct Targets<'a> {
    resources: Resources,
    /// The pointers of anchors, by their resource and name.
    anchors: BTreeMap<(String, String), String>,
    /// The pointers of the targets and what is there, in the order in which they are found. The root is not among them.
    found: Vec<(String, &'a Json)>,
    /// The names of the targets, by their pointers.
    names: BTreeMap<String, String>,
    /// The names in use, each with the last number that was tried for it.
    taken: BTreeMap<String, u32>,
    /// The pointers of the schemas whose references were read. A target may be inside others.
    read: BTreeSet<String>,
    keys: SortedKeys,
}

impl<'a> Targets<'a> {
    fn of(raw: &'a Json) -> Self {
        let resources = Resources::of(raw);
        let anchors = anchors(raw, &resources);
        let mut targets = Self {
            resources,
            anchors,
            found: Vec::new(),
            names: BTreeMap::new(),
            taken: BTreeMap::new(),
            read: BTreeSet::new(),
            keys: SortedKeys::default(),
        };
        targets.collect(raw, raw, "");
        let mut next = 0;
        while let Some((pointer, body)) = targets.found.get(next).cloned() {
            targets.collect(raw, body, &pointer);
            next += 1;
        }
        targets
    }

    /// Adds the targets of a schema's references, except those of its definitions. Each schema is read once.
    fn collect(&mut self, raw: &'a Json, schema: &Json, pointer: &str) {
        let Json::Object(entries) = schema else { return };
        if self.is_full() || !self.read.insert(pointer.to_owned()) {
            return;
        }
        for (keyword, value) in entries.iter().filter(|(keyword, _)| !is_definitions(keyword)) {
            mapped_parts(keyword, value, pointer, &mut |part, at| {
                self.collect(raw, part, at);
                Json::Null
            });
        }
        if let Some(Json::String(reference)) = schema.get("$ref")
            && let Some(target) = self.resolve(reference, pointer)
            && let Some(body) = self.keys.at(raw, &target)
        {
            self.add(target, body);
        }
    }

    fn is_full(&self) -> bool {
        self.found.len() >= MAX_TARGETS
    }

    fn add(&mut self, pointer: String, body: &'a Json) {
        if self.is_full() || pointer.is_empty() || self.names.contains_key(&pointer) {
            return;
        }
        let wanted = name_of(&pointer);
        let mut number = self.taken.get(&wanted).copied().unwrap_or_default();
        let mut name = wanted.clone();
        while self.taken.contains_key(&name) {
            number = number.max(1) + 1;
            name = format!("{wanted}{number}");
        }
        self.taken.insert(name.clone(), 1);
        self.taken.insert(wanted, number.max(1));
        self.names.insert(pointer.clone(), name);
        self.found.push((pointer, body));
    }

    fn name(&self, pointer: &str) -> Option<&str> {
        self.names.get(pointer).map(String::as_str)
    }

    /// The dialect that the innermost schema around a place names, if one below the root does.
    fn dialect_around(&self, raw: &Json, pointer: &str) -> Option<Dialect> {
        let ends = pointer.match_indices('/').map(|(end, _)| end).skip(1);
        let around = ends.filter_map(|end| self.keys.at(raw, &pointer[..end]));
        around.filter_map(dialect_of).last()
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
    fn rewritten(&self, schema: &Json, pointer: &str, subject: &mut Subject<'_>) -> Json {
        let Json::Object(entries) = schema else { return schema.clone() };
        let mut rewritten = Vec::new();
        for (keyword, value) in entries.iter().filter(|(keyword, _)| !is_definitions(keyword)) {
            if keyword == "$ref" {
                rewritten.push(self.reference(value, pointer, subject));
                continue;
            }
            let mut part = |part: &Json, at: &str| match self.name(at) {
                Some(name) => reference_to(name),
                None => self.rewritten(part, at, subject),
            };
            rewritten.push((keyword.clone(), mapped_parts(keyword, value, pointer, &mut part)));
        }
        Json::Object(rewritten)
    }

    fn reference(&self, value: &Json, pointer: &str, subject: &mut Subject<'_>) -> (String, Json) {
        let target = match value {
            Json::String(reference) => self.resolve(reference, pointer),
            _ => None,
        };
        let rewritten = match target.as_deref() {
            Some("") => Some("#".to_owned()),
            Some(target) => self.name(target).map(|name| format!("{LOCAL}{name}")),
            None => None,
        };
        if rewritten.is_none() {
            let why = if self.is_full() {
                format!(
                    "leads to nothing in its schema, or to another place than the first {MAX_TARGETS}"
                )
            } else {
                "leads to nothing in its schema".to_owned()
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
                let is_used = self.names.contains_key(&pointer) || {
                    let inside = format!("{pointer}/");
                    let mut after = self.names.range(inside.clone()..);
                    after.next().is_some_and(|(target, _)| target.starts_with(&inside))
                };
                if !is_used {
                    subject.warn(&pointer, "a definition that nothing refers to was left out");
                }
            }
        }
    }
}

/// The dialect that a schema names itself; 2020-12 if that is not known.
fn dialect_of(schema: &Json) -> Option<Dialect> {
    match schema.get("$schema") {
        Some(Json::String(uri)) => Some(Dialect::named(uri).unwrap_or(Dialect::New)),
        _ => None,
    }
}

/// Adds the dialect that the schema around a schema names, unless it names one itself.
fn with_dialect(schema: Json, around: Option<Dialect>) -> Json {
    match (schema, around) {
        (Json::Object(mut entries), Some(dialect)) => {
            if !entries.iter().any(|(key, _)| key == "$schema") {
                entries.push(("$schema".to_owned(), Json::String(dialect.to_string())));
            }
            Json::Object(entries)
        }
        (schema, _) => schema,
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
        let mut found = Vec::new();
        each_id(raw, "", Dialect::New, &mut |id, pointer| {
            if !id.starts_with('#') {
                found.push((pointer.to_owned(), id.trim_end_matches('#').to_owned()));
            }
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

/// Visits the ids of all schemas inside one of a dialect, with their pointers. Below the root, an id beside a
/// reference means nothing in older drafts.
fn each_id(schema: &Json, pointer: &str, dialect: Dialect, visit: &mut dyn FnMut(&str, &str)) {
    let Json::Object(entries) = schema else { return };
    let dialect = dialect_of(schema).unwrap_or(dialect);
    let is_root = pointer.is_empty();
    let is_hidden = dialect.hides_beside_reference() && schema.get("$ref").is_some() && !is_root;
    if let Some(Json::String(id)) = schema.get(dialect.id()).filter(|_| !is_hidden) {
        visit(id, pointer);
    }
    for (keyword, value) in entries {
        mapped_parts(keyword, value, pointer, &mut |part, at| {
            each_id(part, at, dialect, visit);
            Json::Null
        });
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
            entries.retain(|(keyword, _)| !is_definitions(keyword));
            Json::Object(entries)
        }
        other => other,
    }
}

fn is_definitions(keyword: &str) -> bool {
    ["$defs", "definitions"].contains(&keyword)
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

/// The keys of the objects that JSON Pointers lead through, sorted, so that each step is a binary search. The values must stay where
/// they are.
#[derive(Debug, Default)]
pub(super) struct SortedKeys {
    /// The places of the entries of each object by their keys, by the address of its first entry.
    sorted: RefCell<BTreeMap<*const (String, Json), Vec<usize>>>,
}

impl SortedKeys {
    /// The value that a JSON Pointer leads to (RFC 6901).
    pub(super) fn at<'a>(&self, root: &'a Json, pointer: &str) -> Option<&'a Json> {
        pointer.split('/').skip(1).try_fold(root, |value, step| match value {
            Json::Object(entries) => self.value(entries, &unescaped(step)),
            Json::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    fn value<'a>(&self, entries: &'a Entries, key: &str) -> Option<&'a Json> {
        let mut sorted = self.sorted.borrow_mut();
        let sorted = sorted.entry(entries.as_ptr()).or_insert_with(|| {
            let mut places: Vec<usize> = (0..entries.len()).collect();
            places.sort_by_key(|place| &entries[*place].0);
            places
        });
        let place = sorted.partition_point(|place| entries[*place].0.as_str() < key);
        let (found, value) = &entries[*sorted.get(place)?];
        (found == key).then_some(value)
    }
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

#[cfg(test)]
mod tests {
    use super::super::warnings::Warnings;
    use super::*;
    use crate::json_text;

    fn targets(schema: &str) -> (usize, Vec<String>) {
        let schema = json_text::read(schema).expect(schema);
        let targets = Targets::of(&schema);
        let names = targets.found.iter().map(|(pointer, _)| targets.names[pointer].clone());
        (targets.read.len(), names.collect())
    }

    #[test]
    fn each_schema_is_searched_for_references_once_also_if_it_is_inside_targets() {
        let levels = |count: usize| {
            let level = |n: usize| format!(r##""p{n}":{{"$ref":"#{}"}}"##, "/not".repeat(n + 1));
            let properties: Vec<String> = (0..count).map(level).collect();
            let (open, close) = (r#""not":{"#.repeat(count), "}".repeat(count));
            format!(r#"{{"properties":{{{}}},{open}{close}}}"#, properties.join(","))
        };
        let (read, names) = targets(&levels(80));
        // The root, a property and a schema for each level.
        assert_eq!((read, names.len()), (1 + 80 + 80, 80));
    }

    #[test]
    fn targets_of_one_name_are_numbered_in_their_order() {
        let (_, names) = targets(
            r##"{"anyOf":[{"properties":{"a":{}}},{"properties":{"a":{}}},{"properties":{"a2":{}}},
                {"$ref":"#/anyOf/0/properties/a"},{"$ref":"#/anyOf/2/properties/a2"},
                {"$ref":"#/anyOf/1/properties/a"}]}"##,
        );
        assert_eq!(names, ["A", "A2", "A3"]);
    }

    #[test]
    fn definitions_that_only_definitions_refer_to_are_left_out() {
        let schema = r##"{"not":{"$ref":"#/$defs/a"},"$defs":{"a":{"$defs":{"x":{"$ref":"#/$defs/b"}}},"b":{}}}"##;
        let schema = json_text::read(schema).expect(schema);
        let mut warnings = Warnings::default();
        let mut subject = Subject { tool: "t", side: "args", warnings: &mut warnings };
        let names: Vec<String> =
            gather(&schema, &mut subject).definitions.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a"]);
    }
}
