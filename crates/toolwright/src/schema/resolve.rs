//! Resolves references to schemas of the same text, by URI, anchor or JSON Pointer (2020-12 core, sections 8.2 and 9;
//! RFC 3986, section 5; RFC 6901).

use std::collections::HashMap;
use std::ptr::from_ref;
use std::rc::Rc;

use super::{Draft, SchemaError};
use crate::pointer::{escaped, from_fragment, unescaped};
use crate::value::Value;

/// The schemas of a text that references can point to.
pub(super) struct Resources<'v> {
    all: Vec<Resource<'v>>,
    /// The first resource of each URI.
    by_uri: HashMap<Rc<str>, usize>,
    /// The resource of each visited schema.
    of: HashMap<*const Value, usize>,
    /// The JSON Pointer of each visited schema. Many references may have one target, so pointers are shared.
    pointers: HashMap<*const Value, Rc<str>>,
    /// The schemas by their JSON Pointers in the text.
    by_pointer: HashMap<Rc<str>, &'v Value>,
    /// The entries of objects that pointers lead through.
    entries: HashMap<*const Value, HashMap<&'v str, &'v Value>>,
    /// The number of bytes that further pointers and URIs may take; `None` if they took too many.
    pointer_bytes: Option<usize>,
    /// The first mistake that was found.
    mistake: Option<SchemaError>,
}

/// A schema with a URI of its own: the root, or one with an `$id`.
struct Resource<'v> {
    uri: Rc<str>,
    root: &'v Value,
    draft: Draft,
    /// The first schema of each anchor, and true if it is a dynamic one.
    anchors: HashMap<&'v str, (&'v Value, bool)>,
    /// The dynamic anchors with their schemas.
    dynamic_anchors: Vec<(&'v str, &'v Value)>,
}

impl<'v> Resource<'v> {
    fn new(uri: Rc<str>, root: &'v Value, draft: Draft) -> Self {
        Self { uri, root, draft, anchors: HashMap::new(), dynamic_anchors: Vec::new() }
    }

    fn add_anchor(&mut self, anchor: &'v str, schema: &'v Value, is_dynamic: bool) {
        self.anchors.entry(anchor).or_insert((schema, is_dynamic));
        if is_dynamic {
            self.dynamic_anchors.push((anchor, schema));
        }
    }
}

/// The message if the pointers of the schemas and the URIs of references take too many bytes.
const TOO_LONG: &str = "its keys and URIs are too long for so many schemas, expected shorter ones";

/// The target of a reference.
pub(super) struct Target<'v> {
    pub(super) schema: &'v Value,
    /// Its JSON Pointer in the text.
    pub(super) pointer: Rc<str>,
    /// The name of the anchor, if it is a dynamic one.
    pub(super) dynamic: Option<String>,
}

/// Keywords whose value is a schema.
pub const SCHEMA_KEYWORDS: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas, or may be one.
pub const LIST_KEYWORDS: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];

/// Keywords whose value is a map from names to schemas, or may be one.
pub const MAP_KEYWORDS: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

impl<'v> Resources<'v> {
    /// Finds all schemas of a text. Their pointers may take some bytes together.
    pub(super) fn of(root: &'v Value, most_pointer_bytes: usize) -> Result<Self, SchemaError> {
        let mut resources = Self {
            all: Vec::new(),
            by_uri: HashMap::new(),
            of: HashMap::new(),
            pointers: HashMap::new(),
            by_pointer: HashMap::new(),
            entries: HashMap::new(),
            pointer_bytes: Some(most_pointer_bytes),
            mistake: None,
        };
        let draft = root.get("$schema").map_or(Ok(Draft::D2020), |value| {
            let named = value.as_str().and_then(Draft::from_uri);
            named.ok_or_else(|| {
                let message =
                    format!("found {value}, expected the URI of a draft from 4 to 2020-12");
                SchemaError::new("/$schema", message)
            })
        })?;
        resources.all.push(Resource::new("".into(), root, draft));
        resources.by_uri.insert("".into(), 0);
        resources.visit(root, 0, "".into());
        resources.check()?;
        match resources.pointer_bytes {
            Some(_) => Ok(resources),
            None => Err(SchemaError::new("", TOO_LONG)),
        }
    }

    /// Returns the first mistake that was found in the schemas that were visited so far.
    pub(super) fn check(&self) -> Result<(), SchemaError> {
        self.mistake.clone().map_or(Ok(()), Err)
    }

    /// Visits a schema and its subschemas, as long as pointers may take more bytes. The recursion is as deep as the text, whose depth
    /// is limited.
    fn visit(&mut self, schema: &'v Value, outer: usize, pointer: Rc<str>) {
        self.by_pointer.insert(Rc::clone(&pointer), schema);
        self.pointers.insert(from_ref(schema), Rc::clone(&pointer));
        let resource = self.enter(schema, outer);
        self.of.insert(from_ref(schema), resource);
        if let Value::Object(keywords) = schema {
            let draft = self.draft(resource);
            let is_reference = draft < Draft::D2019 && keywords.contains_key("$ref");
            for (keyword, value) in keywords.iter().filter(|(keyword, _)| draft.has(keyword)) {
                let place = format!("{pointer}/{}", escaped(keyword));
                match value {
                    Value::Array(schemas) if LIST_KEYWORDS.contains(&keyword) && !is_reference => {
                        for (index, schema) in schemas.iter().enumerate() {
                            self.visit_below(schema, resource, &place, &index.to_string());
                        }
                    }
                    Value::Object(schemas) if MAP_KEYWORDS.contains(&keyword) => {
                        for (name, schema) in schemas {
                            self.visit_below(schema, resource, &place, name);
                        }
                    }
                    _ if !is_reference
                        && (SCHEMA_KEYWORDS.contains(&keyword) || keyword == "extends") =>
                    {
                        self.visit_below(value, resource, &pointer, keyword);
                    }
                    _ => {}
                }
            }
        }
    }

    fn visit_below(&mut self, schema: &'v Value, outer: usize, place: &str, step: &str) {
        if self.spend(place.len() + 1 + step.len()).is_some() {
            self.visit(schema, outer, format!("{place}/{}", escaped(step)).into());
        }
    }

    /// Subtracts from the bytes that are left. Returns `None` if there are not enough, now or before.
    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.pointer_bytes = self.pointer_bytes.and_then(|left| left.checked_sub(bytes));
        self.pointer_bytes.map(|_| ())
    }

    /// Returns the resource of a schema, a new one if it has an `$id`, and adds its anchors.
    fn enter(&mut self, schema: &'v Value, outer: usize) -> usize {
        let Value::Object(keywords) = schema else { return outer };
        let draft = self.all[outer].draft;
        let text = |keyword: &str| keywords.get(keyword).and_then(Value::as_str);
        // Older drafts ignore all keywords beside a reference.
        let hidden = draft < Draft::D2019 && keywords.contains_key("$ref");
        let id = text(if draft == Draft::D4 { "id" } else { "$id" }).filter(|_| !hidden);
        let mut resource = outer;
        if let Some(id) = id {
            match id.strip_prefix('#') {
                Some(anchor) if draft < Draft::D2019 => {
                    self.all[outer].add_anchor(anchor, schema, false);
                }
                _ => resource = self.add_resource(schema, outer, id),
            }
        }
        let draft = self.draft(resource);
        for (keyword, is_dynamic) in [("$anchor", false), ("$dynamicAnchor", true)] {
            if let Some(anchor) = text(keyword).filter(|_| draft.has(keyword)) {
                self.all[resource].add_anchor(anchor, schema, is_dynamic);
            }
        }
        let recursive = keywords.get("$recursiveAnchor").and_then(Value::as_bool);
        if draft.has("$recursiveAnchor") && recursive == Some(true) {
            self.all[resource].add_anchor("", schema, true);
        }
        resource
    }

    fn add_resource(&mut self, schema: &'v Value, outer: usize, id: &str) -> usize {
        let Some(uri) = self.resolved(outer, id) else { return outer };
        let uri: Rc<str> = uri.split('#').next().unwrap_or_default().into();
        if std::ptr::eq(self.all[outer].root, schema) {
            self.by_uri.remove(&self.all[outer].uri);
            self.by_uri.insert(Rc::clone(&uri), outer);
            self.all[outer].uri = uri;
            return outer;
        }
        let first = *self.by_uri.entry(Rc::clone(&uri)).or_insert(self.all.len());
        // A fragment alone is no URI of its own; some generators of schemas write it everywhere.
        let is_whole = !id.is_empty() && !id.starts_with('#');
        if let Some(known) = self.all.get(first).filter(|known| is_whole && known.root != schema) {
            let first = self.pointer(known.root);
            let message = format!(
                "has the `$id` `{uri}` of the schema at `{first}`, expected one of its own; change one of them"
            );
            let mistake = SchemaError::new(&*self.pointer(schema), message);
            self.mistake.get_or_insert(mistake);
        }
        let named = schema.get("$schema").and_then(Value::as_str).and_then(Draft::from_uri);
        let draft = named.unwrap_or(self.all[outer].draft);
        self.all.push(Resource::new(uri, schema, draft));
        self.all.len() - 1
    }

    pub(super) fn draft(&self, resource: usize) -> Draft {
        self.all[resource].draft
    }

    /// Returns the resource of a schema; the root for a schema that was not visited.
    pub(super) fn of_schema(&self, schema: &Value) -> usize {
        self.of.get(&from_ref(schema)).copied().unwrap_or_default()
    }

    /// The dynamic anchors of each resource.
    pub(super) fn dynamic_anchors(&self) -> Vec<Vec<(&'v str, &'v Value)>> {
        self.all.iter().map(|resource| resource.dynamic_anchors.clone()).collect()
    }

    /// Finds the target of a reference in a resource.
    pub(super) fn find(&mut self, from: usize, reference: &str) -> Result<Target<'v>, String> {
        let uri = self.resolved(from, reference).ok_or(TOO_LONG)?;
        let (base, fragment) = uri.split_once('#').unwrap_or((&uri, ""));
        let outside =
            || format!("refers to `{reference}`, which is not in this schema and is not fetched");
        let resource = *self.by_uri.get(base).ok_or_else(outside)?;
        let fragment = from_fragment(fragment)
            .ok_or_else(|| format!("found `{reference}`, expected a URI reference"))?;
        let nothing = || format!("refers to `{reference}`, where there is nothing");
        if fragment.is_empty() || fragment.starts_with('/') {
            let found = if fragment.is_empty() {
                let root = self.all[resource].root;
                Some((root, self.of_schema(root)))
            } else {
                self.point(resource, &fragment)
            };
            let (schema, resource) = match found {
                Some(found) => found,
                None if self.pointer_bytes.is_none() => return Err(TOO_LONG.to_owned()),
                None => return Err(nothing()),
            };
            let pointer = self.pointer(schema);
            let is_recursive = fragment.is_empty() && self.all[resource].anchors.contains_key("");
            return Ok(Target { schema, pointer, dynamic: is_recursive.then(String::new) });
        }
        let anchors = &self.all[resource].anchors;
        let (schema, dynamic) = *anchors.get(&*fragment).ok_or_else(nothing)?;
        let pointer = self.pointer(schema);
        Ok(Target { schema, pointer, dynamic: dynamic.then_some(fragment) })
    }

    /// Resolves a reference in a resource, as long as URIs may take more bytes.
    fn resolved(&mut self, resource: usize, reference: &str) -> Option<String> {
        let base = Rc::clone(&self.all[resource].uri);
        self.spend(base.len() + reference.len())?;
        Some(resolve(&base, reference))
    }

    /// Follows a pointer, which may lead into another resource, or to a schema that is not under a known keyword.
    fn point(&mut self, resource: usize, pointer: &str) -> Option<(&'v Value, usize)> {
        let root = self.pointer(self.all[resource].root);
        self.spend(root.len() + pointer.len())?;
        let place = format!("{root}{pointer}");
        if let Some(schema) = self.by_pointer.get(&*place) {
            return Some((schema, self.of_schema(schema)));
        }
        let (mut value, mut resource) = (self.all[resource].root, resource);
        for segment in pointer.split('/').skip(1) {
            value = self.child(value, segment)?;
            resource = self.of.get(&from_ref(value)).copied().unwrap_or(resource);
        }
        if !self.of.contains_key(&from_ref(value)) {
            self.visit(value, resource, place.into());
        }
        self.pointer_bytes?;
        Some((value, resource))
    }

    /// Returns the child of a value under a segment of a pointer.
    fn child(&mut self, value: &'v Value, segment: &str) -> Option<&'v Value> {
        let Value::Object(entries) = value else { return value.pointer(&format!("/{segment}")) };
        // Many references may lead into one object.
        let index = self.entries.entry(from_ref(value)).or_insert_with(|| entries.iter().collect());
        index.get(&*unescaped(segment)).copied()
    }

    fn pointer(&self, schema: &Value) -> Rc<str> {
        self.pointers.get(&from_ref(schema)).map_or_else(|| "".into(), Rc::clone)
    }
}

/// Resolves a URI reference against the URI of the schema around it (RFC 3986, section 5.2). Its fragment stays.
///
/// ```
/// use toolwright::schema::resolve;
///
/// assert_eq!(resolve("https://example.com/a/b", "c#/d"), "https://example.com/a/c#/d");
/// ```
pub fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let base = base.split('#').next().unwrap_or_default();
    if reference.starts_with('#') {
        return format!("{base}{reference}");
    }
    if has_scheme(reference) {
        return reference.to_owned();
    }
    let base = base.split('?').next().unwrap_or_default();
    let path_start = base
        .find("://")
        .map_or(0, |end| base[end + 3..].find('/').map_or(base.len(), |slash| end + 3 + slash));
    let (authority, path) = base.split_at(path_start);
    let (reference, tail) = match reference.find(['#', '?']) {
        Some(at) => reference.split_at(at),
        None => (reference, ""),
    };
    if let Some(rest) = reference.strip_prefix("//") {
        let scheme = base.split_once(':').map_or("", |(scheme, _)| scheme);
        return format!("{scheme}://{rest}{tail}");
    }
    let folder = path.rfind('/').map_or("", |slash| &path[..=slash]);
    let joined = match reference {
        "" => path.to_owned(),
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        relative => format!(
            "{}{relative}",
            if folder.is_empty() && !authority.is_empty() { "/" } else { folder }
        ),
    };
    format!("{authority}{}{tail}", without_dots(&joined))
}

fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else { return false };
    let is_letter = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    is_letter && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

fn without_dots(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let last = path.rsplit('/').next().unwrap_or_default();
    for segment in path.split('/') {
        match segment {
            "." => {}
            ".." => {
                if segments.len() > 1 {
                    segments.pop();
                }
            }
            segment => segments.push(segment),
        }
    }
    if matches!(last, "." | "..") {
        segments.push("");
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_anchors_with_a_name_the_first_is_the_target() {
        let text = r#"{"$defs":{"a":{"$anchor":"x"},"b":{"$dynamicAnchor":"x"},"c":{"$dynamicAnchor":"y"}}}"#;
        let root: Value = text.parse().expect("JSON");
        let mut resources = Resources::of(&root, 1 << 20).expect("a schema");
        let found =
            ["#x", "#y"].map(|reference| resources.find(0, reference).expect("it is there"));
        assert_eq!(found.each_ref().map(|found| &*found.pointer), ["/$defs/a", "/$defs/c"]);
        assert_eq!(found.map(|found| found.dynamic), [None, Some("y".to_owned())]);
        let dynamic = resources.dynamic_anchors();
        assert_eq!(dynamic[0].iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["x", "y"]);
    }

    #[test]
    fn the_entries_of_an_object_are_indexed_once_for_all_references() {
        let text = r#"{"x":{"a~/b":{"n":[{"type":"null"}]},"c":true},"n":[1]}"#;
        let root: Value = text.parse().expect("JSON");
        let mut resources = Resources::of(&root, 1 << 20).expect("a schema");
        for reference in ["#/x/a~0~1b", "#/x/c", "#/x/a~0~1b/n/0", "#/n/0"] {
            let found = resources.find(0, reference).expect("it is there");
            assert_eq!(*found.pointer, reference[1..]);
        }
        assert!(resources.find(0, "#/x/d").is_err() && resources.find(0, "#/n/1").is_err());
        assert_eq!(resources.entries.len(), 3);
    }

    #[test]
    fn references_to_one_schema_share_its_pointer() {
        let root: Value = r#"{"$defs":{"a":{"$id":"x","$anchor":"y"}}}"#.parse().expect("JSON");
        let mut resources = Resources::of(&root, 1 << 20).expect("a schema");
        let found =
            ["x", "x#", "x#y"].map(|reference| resources.find(0, reference).expect(reference));
        for target in &found {
            assert!(Rc::ptr_eq(&target.pointer, &found[0].pointer), "{}", target.pointer);
        }
    }
}
