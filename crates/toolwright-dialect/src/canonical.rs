//! Reads a published schema: converts older drafts to 2020-12, resolves references and merges `allOf`.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use toolwright::pointer::{escaped, from_fragment};
use toolwright::value::{Map, Number, Value};

use crate::guard::strings;

/// A canonical schema, in the form of draft 2020-12.
#[derive(Debug)]
pub(crate) struct Canonical {
    pub(crate) root: Arc<Value>,
    id: Option<String>,
    /// Where each anchor is, as a pointer.
    anchors: BTreeMap<String, String>,
    /// Copies of the targets of references, by their pointers. Of targets within each other, some may not be among them.
    targets: BTreeMap<String, Value>,
    /// The targets that lead back to themselves.
    recursive: BTreeSet<String>,
    /// The values that may still be copied to merge schemas.
    unmerged: Cell<usize>,
}

/// Keywords whose value is one schema.
const ONE: [&str; 12] = [
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
    "additionalItems",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is an object of schemas.
const MAP: [&str; 5] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

impl Canonical {
    pub(crate) fn new(schema: &Value) -> Self {
        let mut root = schema.clone();
        let siblings_count = !is_old_draft(schema);
        modernize(&mut root, siblings_count);
        if let Value::Object(entries) = &mut root {
            entries.remove("$schema");
        }
        let mut anchors = BTreeMap::new();
        let mut references = Vec::new();
        visit(&root, &mut |node, at| {
            if let Some(anchor) = node.get("$anchor").and_then(Value::as_str) {
                anchors.insert(anchor.to_owned(), at.to_owned());
            }
            if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
                references.push((at.to_owned(), reference.to_owned()));
            }
        });
        let mut canonical = Self {
            id: root.get("$id").and_then(Value::as_str).map(str::to_owned),
            root: Arc::new(root),
            anchors,
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
        // The references of each target, with those of the nodes within it.
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let found: Vec<(&String, String)> = references
            .iter()
            .filter_map(|(at, reference)| Some((at, self.pointer_of(reference)?)))
            .collect();
        let targets: BTreeSet<&String> = found.iter().map(|(_, target)| target).collect();
        for (at, to) in &found {
            // A reference belongs to each target that it is within.
            for (end, _) in at.match_indices('/').chain([(at.len(), "")]) {
                if let Some(within) = targets.get(&at[..end].to_owned()) {
                    edges.entry((*within).clone()).or_default().insert(to.clone());
                }
            }
        }
        // A target also leads to the targets within it.
        for target in &targets {
            let inner = targets.iter().filter(|other| {
                other.len() > target.len()
                    && other.starts_with(target.as_str())
                    && other[target.len()..].starts_with('/')
            });
            let inner: Vec<String> = if targets.len() > MOST_NESTED_TARGETS {
                Vec::new()
            } else {
                inner.map(|other| (*other).clone()).collect()
            };
            edges.entry((*target).clone()).or_default().extend(inner);
        }
        self.recursive = on_cycles(&edges);
        let pointers: BTreeSet<String> = targets.into_iter().cloned().collect();
        let root = Arc::clone(&self.root);
        let mut left = MOST_COPIED;
        visit(&root, &mut |node, at| {
            if pointers.contains(at) && take_values(node.values(), &mut left) {
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

    fn pointer_of(&self, reference: &str) -> Option<String> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !base.is_empty() && self.id.as_deref() != Some(base) {
            return None;
        }
        let fragment = from_fragment(fragment)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            Some(fragment)
        } else {
            self.anchors.get(&fragment).cloned()
        }
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
    fn take<'a>(&self, values: impl Iterator<Item = &'a Value>) -> bool {
        let mut left = self.unmerged.get();
        let fits = take_values(values, &mut left);
        self.unmerged.set(left.saturating_sub(1));
        fits
    }
}

/// Returns whether a schema refuses what it does not evaluate itself, so that it cannot be merged with one that evaluates more.
fn is_sealed_by_itself(entries: &Map<Value>) -> bool {
    ["unevaluatedProperties", "unevaluatedItems"]
        .iter()
        .filter_map(|keyword| entries.get(keyword))
        .any(|value| *value != Value::Boolean(true))
}

/// Returns whether a schema has a keyword that evaluates properties or items.
fn evaluates(entries: &Map<Value>) -> bool {
    let words = ["contentSchema", "not", "propertyNames", "$defs", "definitions"];
    entries.keys().any(|key| {
        let is_applied = ONE.contains(&key) || LIST.contains(&key) || MAP.contains(&key);
        is_applied && !words.contains(&key) || key == "$ref"
    })
}

/// Takes the number of some values, and of those inside them, from what is left. Returns false if there are more.
fn take_values<'a>(values: impl Iterator<Item = &'a Value>, left: &mut usize) -> bool {
    let mut take = |value: &'a Value| {
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        match value {
            Value::Array(items) => take_values(items.iter(), left),
            Value::Object(entries) => take_values(entries.values(), left),
            _ => true,
        }
    };
    let mut values = values;
    values.all(&mut take)
}

/// The most values of targets that are copied, and the most that are copied to merge schemas, as references may multiply them.
const MOST_COPIED: usize = 300_000;

/// The values that are copied to merge schemas in about the time of projecting one.
const COPIED_OF_SCHEMA: usize = 64;

/// How deep `allOf` and references are followed to merge them.
const MOST_MERGED: usize = 32;

/// With more targets than this, targets within targets are not searched for cycles; definitions are not nested as a rule.
const MOST_NESTED_TARGETS: usize = 1000;

/// Calls `f` with each node and its pointer.
pub(crate) fn visit(node: &Value, f: &mut impl FnMut(&Map<Value>, &str)) {
    visit_at(node, &mut String::new(), f);
}

fn visit_at(node: &Value, at: &mut String, f: &mut impl FnMut(&Map<Value>, &str)) {
    let Some(entries) = node.as_object() else { return };
    f(entries, at);
    let outer = at.len();
    for (key, value) in entries {
        if ONE.contains(&key) {
            at.extend(["/", key]);
            visit_at(value, at, f);
        } else if LIST.contains(&key) {
            for (index, member) in value.as_array().unwrap_or_default().iter().enumerate() {
                at.extend(["/", key, "/", &index.to_string()]);
                visit_at(member, at, f);
                at.truncate(outer);
            }
        } else if MAP.contains(&key) {
            for (name, member) in value.as_object().into_iter().flatten() {
                at.extend(["/", key, "/", &escaped(name)]);
                visit_at(member, at, f);
                at.truncate(outer);
            }
        }
        at.truncate(outer);
    }
}

/// Returns the schemas of a node, each with its keyword and its pointer below the node.
pub(crate) fn parts_mut(entries: &mut Map<Value>) -> Vec<(String, String, &mut Value)> {
    let mut parts = Vec::new();
    for (key, value) in entries.iter_mut() {
        let mut push = |pointer: String, part| parts.push((key.to_owned(), pointer, part));
        if ONE.contains(&key) {
            push(format!("/{key}"), value);
        } else if LIST.contains(&key)
            && let Value::Array(members) = value
        {
            let all = members.iter_mut().enumerate();
            all.for_each(|(index, member)| push(format!("/{key}/{index}"), member));
        } else if MAP.contains(&key)
            && let Value::Object(members) = value
        {
            let all = members.iter_mut();
            all.for_each(|(name, member)| push(format!("/{key}/{}", escaped(name)), member));
        }
    }
    parts
}

/// Changes the entries of each node of a schema, innermost first.
pub(crate) fn change(node: &mut Value, f: &mut impl FnMut(&mut Map<Value>)) {
    let Value::Object(entries) = node else { return };
    for (key, value) in entries.iter_mut() {
        match value {
            Value::Array(members) if LIST.contains(&key) || key == "items" => {
                for member in members {
                    change(member, f);
                }
            }
            Value::Object(members) if MAP.contains(&key) || key == "dependencies" => {
                for (_, member) in members.iter_mut() {
                    change(member, f);
                }
            }
            value if ONE.contains(&key) => change(value, f),
            _ => {}
        }
    }
    f(entries);
}

/// Returns whether a schema is of a draft in which keywords beside a reference do not count.
pub(crate) fn is_old_draft(schema: &Value) -> bool {
    let draft = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    ["draft-04", "draft-06", "draft-07"].iter().any(|old| draft.contains(old))
}

/// Gives a schema the form of draft 2020-12.
pub(crate) fn modernize(schema: &mut Value, siblings_count: bool) {
    change(schema, &mut |node| {
        if !siblings_count && node.contains_key("$ref") {
            let keep =
                ["$ref", "definitions", "$defs", "description", "title", "$schema", "default"];
            let all = std::mem::take(node).into_iter();
            *node = all.filter(|(key, _)| keep.contains(&key.as_str())).collect();
        }
        if let Some(Value::Array(_)) = node.get("items")
            && let Some(first) = node.remove("items")
        {
            node.insert("prefixItems", first);
            if let Some(rest) = node.remove("additionalItems") {
                node.insert("items", rest);
            }
        }
        for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            if let Some(Value::Boolean(exclusive)) = node.get(flag) {
                let exclusive = *exclusive;
                node.remove(flag);
                if exclusive && let Some(value) = node.remove(bound) {
                    node.insert(flag, value);
                }
            }
        }
        if let Some(Value::Object(dependencies)) = node.remove("dependencies") {
            let (required, schemas): (Vec<_>, Vec<_>) =
                dependencies.into_iter().partition(|(_, value)| value.as_array().is_some());
            for (keyword, part) in [("dependentRequired", required), ("dependentSchemas", schemas)]
            {
                if !part.is_empty() {
                    node.insert(keyword, Value::Object(part.into_iter().collect()));
                }
            }
        }
    });
}

/// Merges two schemas so that a value fits the result if it fits both. `None` where no single schema without `allOf` expresses
/// that.
fn merge(mut one: Map<Value>, other: &Map<Value>) -> Option<Map<Value>> {
    // A closed object refuses the keys of the other, unless it names them too.
    let keys = |map: &Map<Value>| -> BTreeSet<String> {
        let properties = map.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|properties| properties.keys().map(str::to_owned)).collect()
    };
    let says_more = |map: &Map<Value>| {
        map.get("additionalProperties").is_some_and(|value| *value != Value::Boolean(true))
            || map.contains_key("patternProperties")
    };
    if (says_more(&one) || says_more(other))
        && (keys(&one) != keys(other)
            || one.get("additionalProperties") != other.get("additionalProperties")
            || one.get("patternProperties") != other.get("patternProperties"))
    {
        let nothing = |map: &Map<Value>| !map.contains_key("properties") && !says_more(map);
        if !nothing(&one) && !nothing(other) {
            return None;
        }
    }
    for (key, value) in other {
        let Some(own) = one.get_mut(key) else {
            one.insert(key, value.clone());
            continue;
        };
        if own == value {
            continue;
        }
        *own = match key {
            "title" | "description" | "$comment" | "examples" | "default" | "$schema" | "$id"
            | "$anchor" | "deprecated" | "readOnly" | "writeOnly" | "$defs" | "definitions" => {
                continue;
            }
            "type" => kinds_in_both(own, value)?,
            "properties" => {
                let Value::Object(mut properties) = std::mem::take(own) else { return None };
                let known: HashMap<&str, &Value> = properties.iter().collect();
                let added =
                    value.as_object()?.iter().filter_map(|(name, schema)| match known.get(name) {
                        Some(known) if *known == schema => None,
                        Some(known) => Some((name, all_of(known, schema))),
                        None => Some((name, schema.clone())),
                    });
                let added: Vec<(&str, Value)> = added.collect();
                properties.extend(added);
                Value::Object(properties)
            }
            "required" => {
                let mut names: Vec<&str> = strings(Some(own)).collect();
                let known: BTreeSet<&str> = names.iter().copied().collect();
                names.extend(strings(Some(value)).filter(|name| !known.contains(name)));
                Value::Array(names.into_iter().map(Value::from).collect())
            }
            "enum" => {
                let values: BTreeSet<String> =
                    value.as_array()?.iter().map(Value::to_canonical).collect();
                let both = own.as_array()?.iter();
                let both = both.filter(|item| values.contains(&item.to_canonical()));
                Value::Array(both.cloned().collect())
            }
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                limit(own, value, std::cmp::Ordering::Greater)?
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                limit(own, value, std::cmp::Ordering::Less)?
            }
            "uniqueItems" => Value::Boolean(true),
            "items" => all_of(own, value),
            _ => return None,
        };
    }
    Some(one)
}

fn all_of(one: &Value, other: &Value) -> Value {
    let both = Value::Array(vec![one.clone(), other.clone()]);
    Value::Object(Map::from([("allOf", both)]))
}

fn limit(one: &Value, other: &Value, wanted: std::cmp::Ordering) -> Option<Value> {
    let (one_number, other_number): (&Number, &Number) = (one.as_number()?, other.as_number()?);
    Some(if one_number.cmp(other_number) == wanted { one.clone() } else { other.clone() })
}

/// The kinds that both values of `type` name.
fn kinds_in_both(one: &Value, other: &Value) -> Option<Value> {
    let names = |value: &Value| -> Vec<String> {
        match value {
            Value::String(name) => vec![name.clone()],
            list => strings(Some(list)).map(str::to_owned).collect(),
        }
    };
    let (ours, theirs) = (names(one), names(other));
    let has = |list: &[String], name: &str| list.iter().any(|listed| listed == name);
    let mut both: Vec<String> = ours.iter().filter(|name| has(&theirs, name)).cloned().collect();
    for (list, peer) in [(&ours, &theirs), (&theirs, &ours)] {
        if has(list, "integer")
            && has(peer, "number")
            && !has(&both, "integer")
            && !has(&both, "number")
        {
            both.push("integer".to_owned());
        }
    }
    match both.as_slice() {
        [] => None,
        [one] => Some(Value::from(one.as_str())),
        _ => Some(Value::Array(both.into_iter().map(Value::from).collect())),
    }
}

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
