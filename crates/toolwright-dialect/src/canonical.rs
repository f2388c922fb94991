//! Reads a published schema: converts older drafts to 2020-12, resolves references and merges `allOf`.

mod drafts;
mod merge;
mod parts;
mod resources;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toolwright::pointer::{from_fragment, to_fragment};
use toolwright::value::{Map, Value};

pub(crate) use self::drafts::modernize;
use self::merge::{evaluates, is_sealed_by_itself, merge};
pub(crate) use self::parts::{Part, change, change_in, parts, parts_mut, visit, visit_in};
use self::resources::Resources;

/// A canonical schema, in the form of draft 2020-12.
#[derive(Debug)]
pub(crate) struct Canonical {
    /// Its references are JSON Pointers in it, unless they lead out of it.
    pub(crate) root: Arc<Value>,
    resources: Resources,
    /// The pointers that references have.
    referred: BTreeSet<String>,
    /// Copies of the targets of references, by their pointers. Of targets within each other, some may not be among them.
    targets: BTreeMap<String, Value>,
    /// The targets that lead back to themselves.
    recursive: BTreeSet<String>,
    /// True if some rule may accept an object without a key and refuse it with null under that key, or the reverse.
    pub(crate) tells_absent_from_null: bool,
    /// The values that may still be copied to merge schemas.
    unmerged: Cell<usize>,
}

impl Canonical {
    pub(crate) fn new(schema: &Value) -> Self {
        let mut root = schema.clone();
        modernize(&mut root);
        if let Value::Object(entries) = &mut root {
            entries.remove("$schema");
        }
        let resources = Resources::of(&root);
        let base = base(&resources);
        let mut references = Vec::new();
        change(&mut root, &mut |node, at| {
            let reference = node.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|reference| resources.target(reference, at));
            if let Some(pointer) = target {
                let reference = format!("{base}#{}", to_fragment(&pointer));
                node.insert("$ref", Value::from(reference));
                references.push((at.to_owned(), pointer));
            }
        });
        let mut tells_absent_from_null = false;
        visit(&root, &mut |node, _| tells_absent_from_null |= tells_keys(node));
        let mut canonical = Self {
            root: Arc::new(root),
            tells_absent_from_null,
            resources,
            referred: references.iter().map(|(_, pointer)| pointer.clone()).collect(),
            targets: BTreeMap::new(),
            recursive: BTreeSet::new(),
            unmerged: Cell::new(MOST_COPIED),
        };
        if !references.is_empty() {
            canonical.follow(&references);
        }
        canonical
    }

    /// Finds the targets of references, and which of them lead back to themselves.
    fn follow(&mut self, references: &[(String, String)]) {
        let targets = &self.referred;
        // The references of each target, with those of the nodes within it.
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (at, to) in references {
            // A reference belongs to each target that it is within.
            for (end, _) in at.match_indices('/').chain([(at.len(), "")]) {
                if let Some(within) = targets.get(&at[..end]) {
                    edges.entry(within.clone()).or_default().insert(to.clone());
                }
            }
        }
        // A target also leads to the targets within it.
        for target in targets {
            let inner = targets.iter().filter(|other| {
                other.len() > target.len()
                    && other.starts_with(target.as_str())
                    && other[target.len()..].starts_with('/')
            });
            let inner: Vec<String> = if targets.len() > MOST_NESTED_TARGETS {
                Vec::new()
            } else {
                inner.cloned().collect()
            };
            edges.entry(target.clone()).or_default().extend(inner);
        }
        self.recursive = on_cycles(&edges);
        let root = Arc::clone(&self.root);
        let mut left = MOST_COPIED;
        visit(&root, &mut |node, at| {
            if targets.contains(at) && take_values(node.values(), &mut left) {
                self.targets.insert(at.to_owned(), Value::Object(node.clone()));
            }
        });
    }

    /// Begins a projection, which may copy [`MOST_COPIED`] values to merge schemas.
    pub(crate) fn begin(&self) {
        self.unmerged.set(MOST_COPIED);
    }

    /// How many schemas take about as long to project as merging took since [`Self::begin`].
    pub(crate) fn merged_schemas(&self) -> usize {
        (MOST_COPIED - self.unmerged.get()) / COPIED_OF_SCHEMA
    }

    /// The target of a reference, and its pointer.
    pub(crate) fn target(&self, reference: &str) -> Option<(String, &Value)> {
        let pointer = self.pointer_of(reference)?;
        let target = self.at(&pointer)?;
        Some((pointer, target))
    }

    /// The schema at a pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        self.targets.get(pointer).or_else(|| self.root.pointer(pointer))
    }

    pub(crate) fn is_recursive(&self, pointer: &str) -> bool {
        self.recursive.contains(pointer)
    }

    /// The pointers to which references lead.
    pub(crate) fn referred(&self) -> impl Iterator<Item = &str> {
        self.referred.iter().map(String::as_str)
    }

    /// Returns a pointer to which references lead, if there is one in the value at a pointer.
    pub(crate) fn referred_in(&self, pointer: &str) -> Option<&str> {
        let inside = format!("{pointer}/");
        let next = self.referred.range(inside.clone()..).next();
        let found = self.referred.get(pointer).or(next.filter(|next| next.starts_with(&inside)));
        found.map(String::as_str)
    }

    /// Returns whether references in the schema have the same meaning at each place and in each use, so that schemas in it can be moved.
    /// It may be written for an older draft.
    pub(crate) fn can_move_parts_of(&self, schema: &Map<Value>) -> bool {
        let mut is_static = true;
        visit_in(schema, &mut |node, _| {
            is_static &= !DYNAMIC.iter().any(|key| node.contains_key(key));
        });
        is_static && self.resources.are_one()
    }

    /// The pointer of the target of a reference that is written at a place.
    pub(crate) fn written_target(&self, reference: &str, at: &str) -> Option<String> {
        self.resources.target(reference, at)
    }

    /// The pointer of the target of a reference as in the root.
    fn pointer_of(&self, reference: &str) -> Option<String> {
        let (document, fragment) = reference.split_once('#')?;
        let pointer = from_fragment(fragment)?;
        let is_pointer = pointer.is_empty() || pointer.starts_with('/');
        (document == base(&self.resources) && is_pointer).then_some(pointer)
    }

    /// Merges the members of `allOf`, references included, into the node. `None` where they do not merge.
    pub(crate) fn merged<'a>(
        &self,
        entries: &'a Map<Value>,
        depth: usize,
    ) -> Option<Cow<'a, Map<Value>>> {
        let members = entries.get("allOf").and_then(Value::as_array).unwrap_or_default();
        if !entries.contains_key("allOf") {
            return Some(Cow::Borrowed(entries));
        }
        if depth > MOST_MERGED {
            return None;
        }
        let mut all = self.copied(entries)?;
        all.remove("allOf");
        let mut is_sealed = false;
        for member in members {
            let member = self.without_reference(member, depth + 1)?;
            if is_sealed && evaluates(&member) {
                return None;
            }
            is_sealed |= is_sealed_by_itself(&member);
            all = self.merge(all, &member)?;
        }
        Some(Cow::Owned(all))
    }

    /// A node with the target of its reference and the members of its `allOf` in it. `None` where that does not merge, or
    /// where a target below `depth` 0 leads back to itself: it would be written out without end.
    pub(crate) fn without_reference<'a>(
        &'a self,
        node: &'a Value,
        depth: usize,
    ) -> Option<Cow<'a, Map<Value>>> {
        match node {
            Value::Object(entries) => self.without_reference_in(entries, depth),
            Value::Boolean(true) => Some(Cow::Owned(Map::new())),
            _ => None,
        }
    }

    /// As [`Self::without_reference`], for the entries of a node.
    pub(crate) fn without_reference_in<'a>(
        &'a self,
        entries: &'a Map<Value>,
        depth: usize,
    ) -> Option<Cow<'a, Map<Value>>> {
        if depth > MOST_MERGED {
            return None;
        }
        let Some(reference) = entries.get("$ref") else {
            return self.merged(entries, depth);
        };
        let (pointer, target) = self.target(reference.as_str()?)?;
        if depth > 0 && self.is_recursive(&pointer) {
            return None;
        }
        let mut own = self.copied(entries)?;
        own.remove("$ref");
        let own = self.merged(&own, depth)?.into_owned();
        self.merge(own, &*self.without_reference(target, depth + 1)?).map(Cow::Owned)
    }

    /// Merges a schema with one that is inside of it, unless too much was copied before.
    pub(crate) fn merge(&self, one: Map<Value>, other: &Map<Value>) -> Option<Map<Value>> {
        if is_sealed_by_itself(other) && evaluates(&one) {
            return None;
        }
        if self.take(one.values().chain(other.values())) { merge(one, other) } else { None }
    }

    /// Copies a node, unless too much was copied before.
    fn copied(&self, entries: &Map<Value>) -> Option<Map<Value>> {
        self.take(entries.values()).then(|| entries.clone())
    }

    /// Takes some values and one more from those that may still be copied. Returns false if there are more.
    pub(crate) fn take<'a>(&self, values: impl Iterator<Item = &'a Value>) -> bool {
        let mut left = self.unmerged.get();
        let fits = take_values(values, &mut left);
        self.unmerged.set(left.saturating_sub(1));
        fits
    }
}

/// Returns true if a node has such a rule, apart from the schema of the key itself.
fn tells_keys(node: &Map<Value>) -> bool {
    const ALWAYS: [&str; 11] = [
        "maxProperties",
        "dependentRequired",
        "dependentSchemas",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
        "not",
        "if",
        "oneOf",
        "contains",
        "uniqueItems",
    ];
    const BESIDE_PROPERTIES: [&str; 4] = ["allOf", "anyOf", "$ref", "$dynamicRef"];
    let has = |keyword: &&str| node.contains_key(keyword);
    let is_composite = |value: &Value| matches!(value, Value::Array(_) | Value::Object(_));
    let listed = node.get("enum").and_then(Value::as_array);
    ALWAYS.iter().any(has)
        || node.contains_key("properties") && BESIDE_PROPERTIES.iter().any(has)
        || node.get("const").is_some_and(is_composite)
        || listed.is_some_and(|values| values.iter().any(is_composite))
}

/// The URI of a schema that contains a canonical one, for references in schemas with ids of their own.
pub(crate) const ID: &str = "toolwright:canonical";

/// References whose target depends on the schemas around them.
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

/// The URI before the pointers of references.
fn base(resources: &Resources) -> &'static str {
    if resources.are_one() { "" } else { ID }
}

/// Takes the number of some values, and of those inside them, from what is left; long texts and keys count as several. Returns false if there
/// are more.
fn take_values<'a>(values: impl Iterator<Item = &'a Value>, left: &mut usize) -> bool {
    let mut take = |value: &'a Value| {
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        match value {
            Value::Array(items) => take_values(items.iter(), left),
            Value::Object(entries) => {
                let keys = entries.iter().map(|(key, _)| key.len()).sum();
                take_bytes(keys, left) && take_values(entries.values(), left)
            }
            Value::String(text) => take_bytes(text.len(), left),
            _ => true,
        }
    };
    let mut values = values;
    values.all(&mut take)
}

fn take_bytes(bytes: usize, left: &mut usize) -> bool {
    let rest = left.checked_sub(bytes / BYTES_OF_VALUE);
    *left = rest.unwrap_or_default();
    rest.is_some()
}

/// The most values of targets that are copied, and the most that are copied to merge schemas, as references may multiply them.
const MOST_COPIED: usize = 300_000;

/// The bytes of a text that are copied in about the time of a value.
const BYTES_OF_VALUE: usize = 128;

/// The values that are copied to merge schemas in about the time of projecting one.
const COPIED_OF_SCHEMA: usize = 64;

/// How deep `allOf` and references are followed to merge them.
const MOST_MERGED: usize = 32;

/// With more targets than this, targets within targets are not searched for cycles; definitions are not nested as a rule.
const MOST_NESTED_TARGETS: usize = 1000;

/// The nodes of a graph that lead back to themselves: those of its strongly connected components with an edge inside
/// (Kosaraju's algorithm).
fn on_cycles(edges: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let names: Vec<&String> = edges.keys().collect();
    let number = |name: &String| names.binary_search(&name).ok();
    let forward: Vec<Vec<usize>> =
        edges.values().map(|next| next.iter().filter_map(number).collect()).collect();
    let mut backward = vec![Vec::new(); names.len()];
    for (from, next) in forward.iter().enumerate() {
        for to in next {
            backward[*to].push(from);
        }
    }
    let mut seen = vec![false; names.len()];
    let mut order = Vec::new();
    for start in 0..names.len() {
        walk(&forward, start, &mut seen, &mut order);
    }
    let mut seen = vec![false; names.len()];
    let mut all = BTreeSet::new();
    for start in order.into_iter().rev() {
        let mut component = Vec::new();
        walk(&backward, start, &mut seen, &mut component);
        let is_cycle =
            component.len() > 1 || component.iter().any(|node| forward[*node].contains(node));
        if is_cycle {
            all.extend(component.into_iter().map(|node| names[node].clone()));
        }
    }
    all
}

/// Adds the nodes that are reached from `start` and not yet seen, each after those that it leads to.
fn walk(edges: &[Vec<usize>], start: usize, seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((node, next)) = path.last_mut() {
        let Some(to) = edges[*node].get(*next) else {
            order.push(*node);
            path.pop();
            continue;
        };
        *next += 1;
        if !std::mem::replace(&mut seen[*to], true) {
            path.push((*to, 0));
        }
    }
}
