//! Projects `anyOf` and `oneOf`.

use std::borrow::Cow;

use toolwright::value::{Kind, Map, Value};

use super::node::MOST_ALTERNATIVES;
use super::{Depth, MOST_MAKING, Node, Projector};
use crate::guard::{self, Guard};
use crate::loss::LossKind;
use crate::plan::{Branch, CanonicalSchema, SAME, Step};

impl Projector<'_> {
    /// Projects a choice. Returns `None` if its alternatives only add rules to the node, which then become sentences.
    pub(super) fn choice(
        &mut self,
        keyword: &'static str,
        branches: &[Value],
        entries: &Map<Value>,
        at: &str,
        depth: Depth,
    ) -> Option<Node> {
        let words = [
            "title",
            "description",
            "default",
            "$comment",
            "examples",
            "$defs",
            "definitions",
            "deprecated",
        ];
        let has_own = entries.keys().any(|key| key != keyword && !words.contains(&key));
        if has_own && branches.iter().all(only_restricts) {
            return None;
        }
        if branches.is_empty() || branches.len() > MOST_ALTERNATIVES {
            return Some(self.text(entries, at, "T15"));
        }
        let of = |wanted: bool| -> Map<Value> {
            let own = entries.iter().filter(|(key, _)| *key != keyword);
            let own = own.filter(|(key, _)| words.contains(key) == wanted);
            own.map(|(key, value)| (key, value.clone())).collect()
        };
        let shared = of(false);
        // A key may be evaluated by another alternative that holds, too.
        if keyword == "anyOf"
            && super::object::restricts_unevaluated(&shared)
            && branches.len() > 1
            && !self.are_disjoint(branches, at)
        {
            return Some(self.text(entries, at, "T15"));
        }
        let losses = self.losses.len();
        let mut nodes = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let pointer = format!("{at}/{keyword}/{index}");
            let alternative = match branch {
                Value::Boolean(false) => continue,
                Value::Boolean(true) => Some(Cow::Borrowed(&shared)),
                _ if !has_own => branch.as_object().map(Cow::Borrowed),
                // Rules beside the choice hold for each alternative.
                _ => self
                    .canonical
                    .without_reference(branch, 1)
                    .and_then(|branch| self.canonical.merge(shared.clone(), &branch))
                    .map(Cow::Owned),
            };
            let Some(alternative) = alternative else {
                self.take_back(losses);
                return Some(self.text(entries, at, "T15"));
            };
            let Some(canonical) = self.canonical(branch, &pointer) else {
                self.take_back(losses);
                return Some(self.text(entries, at, "T15"));
            };
            nodes.push((self.entries(&alternative, &pointer, depth), canonical));
        }
        if nodes.is_empty() {
            return Some(self.text(entries, at, "T15"));
        }
        if keyword == "oneOf" && !self.are_disjoint(branches, at) {
            self.lose(LossKind::Widening, at, keyword, Value::Null, "anyOf", "T7");
        }
        if !self.are_told_apart(&nodes, at) {
            self.take_back(losses);
            return Some(self.text(entries, at, "T15"));
        }
        Some(self.alternatives(nodes, &of(true), at))
    }

    /// Alternatives that are distinguishable on the wire, or need no plan.
    pub(super) fn alternatives(
        &mut self,
        nodes: Vec<(Node, CanonicalSchema)>,
        words: &Map<Value>,
        at: &str,
    ) -> Node {
        let is_null = |node: &Node| node.wire.get("type").and_then(Value::as_str) == Some("null");
        let mut nodes = nodes;
        let only_null = !self.dialect.null_type;
        // Where null has no type of its own, the node for it is a string, see `leaf`.
        let null = nodes.iter().position(|(node, _)| self.is_nullable_instead(node));
        if let (Some(null), true) = (null, nodes.len() > 1) {
            nodes.remove(null);
            let node = self.alternatives(nodes, words, at);
            return self.nullable(node, at);
        }
        if nodes.len() == 1
            && let Some((mut node, _)) = nodes.pop()
        {
            self.describe(&mut node.wire, words, at);
            return node;
        }
        let needs_plan = nodes.iter().any(|(node, _)| !self.stays_same(node.step));
        let mut wires: Vec<Value> = Vec::new();
        let mut branches = Vec::new();
        for (node, canonical) in nodes {
            let guard = self.guard(&node.wire, at);
            debug_assert!(!(only_null && is_null(&node)));
            let wire = Value::Object(node.wire);
            if !wires.contains(&wire) {
                wires.push(wire);
            }
            branches.push(Branch { step: node.step, guard, canonical });
        }
        let step = if needs_plan { self.step(Step::Choice(branches)) } else { SAME };
        // Alternatives of an alternative: as nothing may be beside `anyOf`, they have no place for words of their own.
        let mut wires: Vec<Value> = wires.into_iter().flat_map(flattened).collect();
        let mut wire = match wires.len() {
            1 => wires.remove(0).as_object().cloned().unwrap_or_default(),
            _ => Map::from([("anyOf", Value::Array(wires))]),
        };
        self.describe(&mut wire, words, at);
        Node { wire, step }
    }

    /// Adds the sentences of a choice to its wire schema.
    pub(super) fn describe(&mut self, wire: &mut Map<Value>, words: &Map<Value>, at: &str) {
        let mut described = Map::new();
        let handled = ["type", "anyOf", "oneOf"];
        let only_words: Map<Value> = words
            .iter()
            .filter(|(key, _)| {
                matches!(
                    *key,
                    "description" | "title" | "default" | "examples" | "$comment" | "deprecated"
                )
            })
            .map(|(key, value)| (key, value.clone()))
            .collect();
        self.finish(&mut described, &only_words, at, &handled, &Kind::ALL, SAME + 1);
        let description = described.remove("description");
        for (key, value) in &described {
            self.lose(LossKind::Annotation, at, key, value.clone(), "", "T21");
        }
        let Some(description) = description.as_ref().and_then(Value::as_str) else { return };
        let takes = |siblings: &Option<Vec<String>>| {
            siblings.as_ref().is_none_or(|all| all.iter().any(|sibling| sibling == "description"))
        };
        let alone = !takes(&self.dialect.any_of_siblings) && wire.contains_key("anyOf");
        let place = match wire.get_mut("anyOf") {
            Some(Value::Array(alternatives)) if alone => match alternatives.first_mut() {
                Some(Value::Object(first)) => first,
                _ => return,
            },
            _ => wire,
        };
        if place.contains_key("$ref") && !takes(&self.dialect.ref_siblings) {
            let inner = std::mem::take(place);
            *place = Map::from([("anyOf", Value::Array(vec![Value::Object(inner)]))]);
        }
        let own = place.get("description").and_then(Value::as_str).map(str::to_owned);
        let both = own.map_or_else(|| description.to_owned(), |own| format!("{description} {own}"));
        place.insert("description", Value::from(both));
    }

    /// The form of the values of a wire schema. Definitions that it refers to are made for that.
    pub(super) fn guard(&mut self, wire: &Map<Value>, at: &str) -> Guard {
        self.make_targets(wire);
        let guard = Guard::of(Some(wire), &|reference| self.wire_target(reference));
        self.within_budget(guard, at)
    }

    /// Counts the entries of a guard, as a type with many properties may be in many choices. Returns an empty guard if the tool
    /// becomes too large.
    fn within_budget(&mut self, guard: Guard, at: &str) -> Guard {
        if self.count(0, guard.entries, at) { guard } else { Guard::default() }
    }

    /// Returns whether null may be a value of a wire schema.
    pub(super) fn accepts_null(&mut self, wire: &Map<Value>, at: &str) -> bool {
        self.make_targets(wire);
        let (accepts, entries) =
            guard::accepts_null(Some(wire), &|reference| self.wire_target(reference));
        self.count(0, entries, at) && accepts
    }

    /// Returns whether null may be a value of a canonical schema.
    pub(super) fn has_null(&mut self, schema: &Value, at: &str) -> bool {
        let canonical = self.canonical;
        let target = |reference: &str| canonical.target(reference).map(|(_, target)| target);
        let (accepts, entries) = guard::accepts_null(schema.as_object(), &target);
        self.count(0, entries, at) && accepts
    }

    /// Makes the definitions that a wire schema refers to.
    fn make_targets(&mut self, wire: &Map<Value>) {
        if self.making >= MOST_MAKING {
            return;
        }
        let alternatives = wire.get("anyOf").and_then(Value::as_array).unwrap_or_default();
        let alternatives = alternatives.iter().filter_map(Value::as_object);
        for part in std::iter::once(wire).chain(alternatives) {
            let reference = part.get("$ref").and_then(Value::as_str);
            let name = reference.and_then(|reference| reference.strip_prefix(DEFINITIONS));
            if let Some(pointer) = name.and_then(|name| self.names.get(name)).cloned() {
                self.make(&pointer);
            }
        }
    }

    fn wire_target(&self, reference: &str) -> Option<&Value> {
        let pointer = self.names.get(reference.strip_prefix(DEFINITIONS)?)?;
        self.definitions.get(pointer)?.wire.as_ref()
    }

    /// Returns whether each wire value belongs to at most one of the nodes, or it makes no difference.
    pub(super) fn are_told_apart(&mut self, nodes: &[(Node, CanonicalSchema)], at: &str) -> bool {
        let nodes = nodes.iter().map(|(node, _)| node);
        let nodes: Vec<&Node> = nodes.filter(|node| !self.is_nullable_instead(node)).collect();
        // This makes the definitions, so their steps are known below.
        let guards: Vec<Guard> = nodes.iter().map(|node| self.guard(&node.wire, at)).collect();
        nodes.iter().all(|node| self.stays_same(node.step)) || pairwise(&guards)
    }

    /// Returns whether `nullable` of the other alternatives takes the place of a node.
    fn is_nullable_instead(&self, node: &Node) -> bool {
        !self.dialect.null_type && self.steps[node.step].is_null()
    }

    /// Returns whether a step changes nothing, as far as that is known.
    fn stays_same(&self, mut step: usize) -> bool {
        for _ in 0..self.steps.len() {
            match &self.steps[step] {
                Step::Same => return true,
                Step::Link(next) if *next != step => step = *next,
                _ => return false,
            }
        }
        false
    }

    /// Returns whether no canonical value fits two alternatives, judging by their outermost forms only.
    fn are_disjoint(&mut self, branches: &[Value], at: &str) -> bool {
        let canonical = self.canonical;
        let target = |reference: &str| canonical.target(reference).map(|(_, target)| target);
        let mut guards: Vec<Guard> = Vec::new();
        for branch in branches {
            let guard = Guard::of(branch.as_object(), &target);
            guards.push(self.within_budget(guard, at));
        }
        pairwise(&guards)
    }
}

/// Where the wire schema has its definitions.
pub(super) const DEFINITIONS: &str = "#/$defs/";

/// The alternatives of a schema that is nothing but a choice, or the schema alone.
fn flattened(wire: Value) -> Vec<Value> {
    match wire {
        Value::Object(mut entries) if entries.len() == 1 => match entries.remove("anyOf") {
            Some(Value::Array(alternatives)) => alternatives,
            Some(other) => vec![Value::Object(Map::from([("anyOf", other)]))],
            None => vec![Value::Object(entries)],
        },
        wire => vec![wire],
    }
}

fn pairwise(guards: &[Guard]) -> bool {
    guards
        .iter()
        .enumerate()
        .all(|(index, guard)| guards[..index].iter().all(|other| guard.is_disjoint(other)))
}

/// Returns whether an alternative only adds rules to a node that says what its values are.
pub(super) fn only_restricts(branch: &Value) -> bool {
    branch.as_object().is_none_or(|entries| {
        entries.keys().all(|key| {
            matches!(
                key,
                "required"
                    | "not"
                    | "description"
                    | "title"
                    | "$comment"
                    | "minProperties"
                    | "maxProperties"
                    | "dependentRequired"
            ) || (key == "type" && entries.get("type").and_then(Value::as_str) == Some("object"))
        })
    })
}
