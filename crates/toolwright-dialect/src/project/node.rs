//! Projects one node of a schema of any kind.

use toolwright::value::{Kind, Map, Value};

use super::{Definition, Depth, Node, Projector};
use crate::guard::{strings, type_names};
use crate::loss::LossKind;
use crate::plan::{Branch, CanonicalSchema, SAME, Step};
use crate::policy::Unroll;
use crate::row::{Recursion, References};
use crate::sentence;

/// The number of listed values with those in them, or of keys that are compared, that take about as long as one schema.
const ENTRIES_OF_NODE: usize = 8;

/// The maximum number of copies of targets of references.
const MOST_COPIES: usize = 64;

/// The most nodes that are projected, as merged references may multiply them.
const MOST_NODES: usize = 20_000;

/// The deepest nesting of schemas, choices and merged references, as each takes a part of the stack. What lies deeper is a text
/// with JSON.
const MOST_NESTED: usize = 256;

/// The maximum nesting of copied targets.
const MOST_NESTED_COPIES: usize = 24;

/// The maximum number of alternatives when choices are combined.
pub(super) const MOST_ALTERNATIVES: usize = 200;

/// Returns whether a keyword has schemas that are counted when they are projected.
fn is_projected(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties"
            | "additionalProperties"
            | "items"
            | "anyOf"
            | "oneOf"
            | "allOf"
            | "$defs"
            | "definitions"
    )
}

impl Projector<'_> {
    /// Projects the schema at a canonical pointer.
    pub(super) fn node(&mut self, schema: &Value, at: &str, depth: Depth) -> Node {
        if let Some(entries) = schema.as_object() {
            return self.entries(entries, at, depth);
        }
        if self.is_refused {
            return Node::same(Map::new());
        }
        if *schema == Value::Boolean(false) {
            self.lose(LossKind::Widening, at, "", schema.clone(), "any value", "T15");
        }
        self.any(&Map::new(), at)
    }

    /// Projects a schema that is an object.
    pub(super) fn entries(&mut self, entries: &Map<Value>, at: &str, depth: Depth) -> Node {
        if self.is_refused {
            return Node::same(Map::new());
        }
        let listed = ["enum", "const"].iter().filter_map(|keyword| entries.get(keyword));
        let values = listed.map(Value::size).sum();
        if !self.count(1, values, at) {
            return Node::same(Map::new());
        }
        let copied = entries.iter().filter(|(keyword, _)| !is_projected(keyword));
        self.copied_values += copied.map(|(_, value)| value.size()).sum::<usize>();
        if entries.contains_key("$dynamicRef") || entries.contains_key("$recursiveRef") {
            return self.text(entries, at, "T15");
        }
        if self.nesting == MOST_NESTED {
            return self.text(entries, at, "T15");
        }
        self.nesting += 1;
        let node = self.form(entries, at, depth);
        self.nesting -= 1;
        node
    }

    /// Counts schemas that are projected, and values or keys that are compared. Returns false, and refuses the tool, if there are
    /// too many.
    pub(super) fn count(&mut self, nodes: usize, entries: usize, at: &str) -> bool {
        self.nodes += nodes + entries / ENTRIES_OF_NODE;
        if self.nodes > MOST_NODES && !self.is_refused {
            let reason = format!("has more than {MOST_NODES} schemas once references are merged");
            self.refuse(at, "T5", reason);
        }
        self.nodes <= MOST_NODES
    }

    /// Projects a schema by its first keyword that decides about the others.
    fn form(&mut self, entries: &Map<Value>, at: &str, depth: Depth) -> Node {
        if let Some(reference) = entries.get("$ref") {
            return self.reference(reference, entries, at, depth);
        }
        if let Some(only) = only_reference(entries) {
            return self.entries(&only, at, depth);
        }
        if entries.contains_key("allOf") {
            return match self.canonical.merged(entries, 0) {
                Some(merged) => self.entries(&merged, at, depth),
                None => self.text(entries, at, "T3"),
            };
        }
        if entries.contains_key("const") || entries.contains_key("enum") {
            return self.constants(entries, at);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = entries.get(keyword).and_then(Value::as_array)
                && let Some(node) = self.choice(keyword, branches, entries, at, depth)
            {
                return node;
            }
        }
        self.kinds(entries, at, depth)
    }

    /// A node that allows any value.
    pub(super) fn any(&mut self, entries: &Map<Value>, at: &str) -> Node {
        if self.dialect.nodes_typed {
            return self.text(entries, at, "T15");
        }
        let mut wire = Map::new();
        self.finish(&mut wire, entries, at, &[], &Kind::ALL, SAME);
        Node::same(wire)
    }

    /// A node by its kinds, after references and choices.
    fn kinds(&mut self, entries: &Map<Value>, at: &str, depth: Depth) -> Node {
        let mut kinds: Vec<Kind> = Vec::new();
        match entries.get("type") {
            Some(names @ (Value::String(_) | Value::Array(_))) => {
                for kind in type_names(names).filter_map(Kind::from_name) {
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
            }
            _ => {
                // The schemas inside may have no kind either, so it stays as it is or becomes text.
                return if self.dialect.nodes_typed || has_structure(entries) {
                    self.text(entries, at, "T15")
                } else {
                    self.any(entries, at)
                };
            }
        }
        match kinds.as_slice() {
            [] => self.text(entries, at, "T15"),
            [kind] => self.of_kind(*kind, entries, at, depth),
            _ => self.several_kinds(&kinds, entries, at, depth),
        }
    }

    fn of_kind(&mut self, kind: Kind, entries: &Map<Value>, at: &str, depth: Depth) -> Node {
        let levels = match kind {
            Kind::Object => self.levels(entries),
            Kind::Array => self.levels_of_array(entries),
            _ => 1,
        };
        let too_deep = self.dialect.limits.depth.is_some_and(|most| depth.0 + levels > most + 1);
        match kind {
            Kind::Object | Kind::Array if too_deep => self.text(entries, at, "T15"),
            Kind::Object if super::object::evaluates_by_value(entries) => {
                self.text(entries, at, "T15")
            }
            Kind::Object => self.object(entries, at, depth),
            Kind::Array => self.array(entries, at, depth),
            _ => self.leaf(kind, entries, at),
        }
    }

    /// `type` with several kinds: one list if the dialect takes it and no kind needs a plan, else one alternative a kind.
    fn several_kinds(
        &mut self,
        kinds: &[Kind],
        entries: &Map<Value>,
        at: &str,
        depth: Depth,
    ) -> Node {
        let nullable = kinds.contains(&Kind::Null);
        let mut rest: Vec<Kind> =
            kinds.iter().copied().filter(|kind| *kind != Kind::Null).collect();
        if rest.contains(&Kind::Number) {
            rest.retain(|kind| *kind != Kind::Integer);
        }
        let is_flat = !rest.iter().any(|kind| match kind {
            Kind::Object | Kind::Array => true,
            Kind::Integer => self.needs_digits(entries),
            _ => false,
        });
        if is_flat && self.takes_type_list(&rest) && (self.dialect.null_type || !nullable) {
            let mut wire = Map::new();
            let mut names: Vec<Value> =
                rest.iter().map(|kind| Value::from(kind.as_str())).collect();
            names.extend(nullable.then(|| Value::from("null")));
            wire.insert(
                "type",
                if names.len() == 1 { names.remove(0) } else { Value::Array(names) },
            );
            rest.extend(nullable.then_some(Kind::Null));
            self.finish(&mut wire, entries, at, &[], &rest, SAME);
            return Node::same(wire);
        }
        let node = if let [kind] = rest.as_slice() {
            self.of_kind(*kind, entries, at, depth)
        } else {
            let of_kind = |kind: &Kind| {
                let mut own = entries.clone();
                own.remove("description");
                own.remove("title");
                own.remove("default");
                (*kind, own)
            };
            let alternatives: Vec<_> = rest.iter().map(of_kind).collect();
            let losses = self.losses.len();
            let mut nodes = Vec::new();
            for (kind, own) in alternatives {
                let canonical = CanonicalSchema::Own(of_kind_alone(kind));
                nodes.push((self.of_kind(kind, &own, at, depth), canonical));
            }
            if !self.are_told_apart(&nodes, at) {
                self.take_back(losses);
                return self.text(entries, at, "T15");
            }
            self.alternatives(nodes, entries, at)
        };
        if nullable { self.nullable(node, at) } else { node }
    }

    /// Lets null be a value beside those of a node.
    pub(super) fn nullable(&mut self, node: Node, at: &str) -> Node {
        let Node { wire, step } = node;
        if step == SAME {
            return Node { wire: self.with_null(wire), step };
        }
        let guard = self.guard(&wire, at);
        let wire = self.with_null(wire);
        let null = of_kind_alone(Kind::Null);
        let null = Branch {
            step: SAME,
            guard: crate::guard::Guard::of(null.as_object(), &|_| None),
            canonical: CanonicalSchema::Own(null),
        };
        let anything = CanonicalSchema::Own(Value::Boolean(true));
        let other = Branch { step, guard, canonical: anything };
        Node { wire, step: self.step(Step::Choice(vec![null, other])) }
    }

    /// Returns whether the dialect takes a list of these types, and of null.
    pub(super) fn takes_type_list(&self, kinds: &[Kind]) -> bool {
        self.dialect.takes_type_list(kinds.iter().map(|kind| kind.as_str()))
    }

    /// The wire schema with null as one more value.
    pub(super) fn with_null(&self, mut wire: Map<Value>) -> Map<Value> {
        let null = || Value::Object(Map::from([("type", Value::from("null"))]));
        if !self.dialect.null_type {
            // `anyOf` has to be alone, so its first alternative becomes nullable.
            if let Some(Value::Array(alternatives)) = wire.get_mut("anyOf") {
                if let Some(Value::Object(first)) = alternatives.first_mut() {
                    first.insert("nullable", Value::Boolean(true));
                }
                return wire;
            }
            wire.insert("nullable", Value::Boolean(true));
            return wire;
        }
        let is_list_of_null = |value: &Value| strings(Some(value)).any(|name| name == "null");
        match wire.get("type") {
            Some(Value::String(name)) if name == "null" => return wire,
            Some(list @ Value::Array(_)) if is_list_of_null(list) => return wire,
            Some(value)
                if self.dialect.takes_type_list(type_names(value))
                    && !wire.contains_key("const") =>
            {
                let values_allow_null = self.dialect.enum_scalars.is_none();
                if !wire.contains_key("enum") || values_allow_null {
                    let mut names: Vec<Value> = match value {
                        Value::Array(names) => names.clone(),
                        name => vec![name.clone()],
                    };
                    names.push(Value::from("null"));
                    wire.insert("type", Value::Array(names));
                    if let Some(Value::Array(values)) = wire.get_mut("enum") {
                        values.push(Value::Null);
                    }
                    return wire;
                }
            }
            _ => {}
        }
        if let Some(Value::Array(alternatives)) = wire.get_mut("anyOf") {
            if !alternatives.contains(&null()) {
                alternatives.push(null());
            }
            return wire;
        }
        let mut outer = Map::new();
        if let Some(description) = wire.remove("description") {
            outer.insert("description", description);
        }
        outer.insert("anyOf", Value::Array(vec![Value::Object(wire), null()]));
        outer
    }

    fn reference(
        &mut self,
        reference: &Value,
        entries: &Map<Value>,
        at: &str,
        depth: Depth,
    ) -> Node {
        let canonical = self.canonical;
        let found = reference.as_str().and_then(|reference| canonical.target(reference));
        let Some((pointer, target)) = found else {
            self.refuse(
                at,
                "T4",
                format!("refers to {reference}, expected a place in the same schema"),
            );
            return Node::same(Map::new());
        };
        let rules = |key: &str| {
            !super::WORDS.contains(&key)
                && !matches!(key, "$ref" | "$defs" | "definitions" | "$anchor")
        };
        let is_recursive = canonical.is_recursive(&pointer);
        if entries.keys().any(rules) && !is_recursive {
            return match canonical.without_reference_in(entries, 0) {
                Some(merged) => self.entries(&merged, at, depth),
                None => self.text(entries, at, "T4"),
            };
        }
        for (key, value) in entries.iter().filter(|(key, _)| rules(key)) {
            // Beside a reference that leads back here, rules are left to the codec.
            self.lose(LossKind::Enforcement, at, key, value.clone(), "", "T4");
        }
        let accepted = self.dialect.recursion;
        if is_recursive
            && (accepted == Recursion::None || self.dialect.references == References::None)
        {
            return self.unrolled(&pointer, target, entries, at, depth);
        }
        if self.dialect.references == References::None {
            return self.written_out(&pointer, target, entries, at, depth);
        }
        let (name, step) = self.definition(&pointer);
        let mut wire = Map::from([("$ref", Value::from(format!("#/$defs/{name}")))]);
        let default =
            entries.get("default").and_then(|value| sentence::of("default", value, entries));
        let words = |key: &str| super::WORDS.contains(&key) && key != "description";
        for (key, value) in entries.iter().filter(|(key, _)| words(key)) {
            let now = default.as_deref().filter(|_| key == "default").unwrap_or_default();
            self.lose(LossKind::Annotation, at, key, value.clone(), now, "T4");
        }
        let description = entries.get("description").and_then(Value::as_str);
        let description = sentence::behind(description, default.as_slice());
        let siblings = self.dialect.ref_siblings.as_deref();
        let takes = |key: &str| {
            self.dialect.takes(key)
                && siblings.is_none_or(|all| all.iter().any(|sibling| sibling == key))
        };
        if let Some(description) = description.map(Value::from) {
            if takes("description") {
                wire.insert("description", description);
            } else {
                wire = Map::from([
                    ("description", description),
                    ("anyOf", Value::Array(vec![Value::Object(wire)])),
                ]);
            }
        }
        Node { wire, step }
    }

    /// The definition of a target; it is made later.
    fn definition(&mut self, pointer: &str) -> (String, usize) {
        if let Some(definition) = self.definitions.get(pointer) {
            return (definition.name.clone(), definition.step);
        }
        // It leads to itself until it is made.
        let step = self.steps.len();
        self.steps.push(Step::Link(step));
        let last = pointer.rsplit('/').next().unwrap_or_default();
        let allowed = |letter: char| {
            if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '_' }
        };
        let mut base: String = last.chars().map(allowed).take(60).collect();
        if base.is_empty() {
            base.push_str("Root");
        }
        let name = self.free_names.take(base);
        self.names.insert(name.clone(), pointer.to_owned());
        let definition = Definition { name: name.clone(), step, wire: None, is_being_made: false };
        self.definitions.insert(pointer.to_owned(), definition);
        self.pending.push(pointer.to_owned());
        (name, step)
    }

    fn written_out(
        &mut self,
        pointer: &str,
        target: &Value,
        entries: &Map<Value>,
        at: &str,
        depth: Depth,
    ) -> Node {
        self.copies += 1;
        if self.copies > MOST_COPIES || self.inlined.len() >= MOST_NESTED_COPIES {
            self.refuse(at, "T5", format!("has more than {MOST_COPIES} references to write out, or deeper than {MOST_NESTED_COPIES}"));
            return Node::same(Map::new());
        }
        self.inlined.push(pointer.to_owned());
        let mut own = target.clone();
        if let Value::Object(own) = &mut own {
            for (key, value) in entries
                .iter()
                .filter(|(key, _)| matches!(*key, "description" | "title" | "default"))
            {
                own.insert(key, value.clone());
            }
        }
        let node = self.node(&own, pointer, depth);
        self.inlined.pop();
        node
    }

    fn unrolled(
        &mut self,
        pointer: &str,
        target: &Value,
        entries: &Map<Value>,
        at: &str,
        depth: Depth,
    ) -> Node {
        let Some(Unroll::Levels(levels)) = self.policy.recursion else {
            let reason = "refers to itself, which the dialect does not take; the policy `recursion = \"unroll:3\"` writes three levels out";
            self.refuse(at, "T6", reason.to_owned());
            return Node::same(Map::new());
        };
        let level = self.inlined.iter().filter(|inlined| *inlined == pointer).count();
        if level < usize::from(levels) {
            return self.written_out(pointer, target, entries, at, depth);
        }
        self.text(entries, at, "T6")
    }
}

/// A node whose one rule is an `allOf` of a reference alone, with that reference in place of it.
fn only_reference(entries: &Map<Value>) -> Option<Map<Value>> {
    let [Value::Object(member)] = entries.get("allOf")?.as_array()? else { return None };
    let reference = member.get("$ref").filter(|_| member.len() == 1)?;
    let only_words = |key: &str| key == "allOf" || super::WORDS.contains(&key);
    if !entries.keys().all(only_words) {
        return None;
    }
    let mut own = entries.clone();
    own.remove("allOf");
    own.insert("$ref", reference.clone());
    Some(own)
}

/// A schema of all values of a kind.
fn of_kind_alone(kind: Kind) -> Value {
    Value::Object(Map::from([("type", Value::from(kind.as_str()))]))
}

/// Returns whether a node without `type` has keywords about the contents of a value.
fn has_structure(entries: &Map<Value>) -> bool {
    ["properties", "items", "prefixItems", "patternProperties", "additionalProperties"]
        .iter()
        .any(|keyword| entries.contains_key(keyword))
}
