//! Checks field by field that values of one schema fit another: a tool's declared arguments the payload of its method, the
//! method's result the tool's declared result. Compares kinds, enumerations and fields; limits are checked at run time.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use toolwright::pointer::escaped;
use toolwright::value::Kind;

use crate::diagnostic::{Diagnostic, Report, tools};
use crate::json::Json;
use crate::schema::{
    Additional, NodeId, ObjectShape, Property, Schemas, Shape, UnionShape, as_object, json_key,
    kind_of, kind_of_value, resolved,
};
use crate::source::{Span, Spanned};

/// The most refused values that a message names.
const MAX_REFUSED: usize = 20;

/// Two schemas; values of `from` are passed to `to`.
#[derive(Debug)]
pub(super) struct Handover {
    /// The span of the tool's schema.
    pub(super) span: Span,
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) direction: Direction,
}

/// The direction in which values are passed.
#[derive(Debug)]
pub(super) enum Direction {
    /// From a tool to its method; the injected fields are added.
    Args { injected: Vec<Spanned<String>> },
    /// From a method to its tool.
    Result,
}

/// A place where a passed value would be refused.
struct Mismatch {
    pointer: String,
    from: Span,
    to: Span,
    problem: Problem,
}

enum Problem {
    /// A field that `to` requires and `from` may lack.
    Missing(String),
    /// A field that `to` does not allow.
    Extra(String),
    /// Values that `to` does not accept.
    Values(String),
}

/// Compares every pair of schemas and reports mismatches.
pub(super) fn check<'a>(schemas: &'a Schemas, handovers: &'a [Handover], report: &mut Report) {
    let mut comparison = Comparison::new(schemas);
    for handover in handovers {
        if report.is_full() {
            return;
        }
        if let (Direction::Args { injected }, Some(args)) =
            (&handover.direction, as_object(schemas, handover.from))
        {
            for name in injected {
                check_not_declared(args, name, report);
            }
        }
        for mismatch in comparison.of(handover).iter() {
            report.add(finding(handover, mismatch));
        }
    }
}

/// Reports an injected property that arguments declare.
pub(super) fn check_not_declared(args: &ObjectShape, name: &Spanned<String>, report: &mut Report) {
    let found = args.properties.iter().find(|property| property.name.value == name.value);
    if let Some(property) = found {
        report.add(tools::injected_and_declared(name, property.name.span));
    }
}

fn finding(handover: &Handover, mismatch: &Mismatch) -> Diagnostic {
    let Mismatch { pointer, from, to, problem } = mismatch;
    let (from, to) = (*from, *to);
    match (&handover.direction, problem) {
        (Direction::Args { .. }, Problem::Missing(name)) => tools::payload_not_filled(
            if pointer.is_empty() { handover.span } else { from },
            name,
            to,
        ),
        (Direction::Args { .. }, Problem::Extra(name)) => tools::not_in_payload(from, name),
        (Direction::Args { .. }, Problem::Values(words)) => {
            let field = tools::field_words(pointer, "the arguments");
            tools::args_do_not_fit(from, &field, words, to)
        }
        (Direction::Result, problem) => {
            let field = tools::field_words(pointer, "the tool's result");
            let words = match problem {
                Problem::Missing(name) => format!("`{name}` is required, but may be missing"),
                Problem::Extra(name) => format!("`{name}` is not allowed, but may be present"),
                Problem::Values(words) => words.clone(),
            };
            tools::result_does_not_fit(
                if to == from { handover.span } else { to },
                &field,
                &words,
                from,
            )
        }
    }
}

/// The most bytes of a pointer to a value. Of a longer one, the end is shown.
const MAX_POINTER_BYTES: usize = 1024;

/// Two nested schemas to compare, and the pointer to their values.
struct Step {
    from: NodeId,
    to: NodeId,
    pointer: String,
}

/// The schemas of a handover, and the injected fields of its outermost value. Tools of one method often have the same.
type ComparedPair<'a> = (NodeId, NodeId, Vec<&'a str>);

/// The values of an enumeration or constant.
struct Enumerated {
    /// In their order, with their keys.
    values: Vec<(String, Json)>,
    keys: BTreeSet<String>,
}

struct Comparison<'a> {
    schemas: &'a Schemas,
    /// The mismatches of handovers that were compared.
    compared: BTreeMap<ComparedPair<'a>, Rc<[Mismatch]>>,
    enumerated: BTreeMap<NodeId, Rc<Enumerated>>,
    /// The messages about the values of two enumerations. Many references may lead to the same two.
    refused: BTreeMap<(NodeId, NodeId), Option<String>>,
    /// The properties of objects, by name.
    properties: BTreeMap<NodeId, Rc<BTreeMap<&'a str, &'a Property>>>,
    /// Injected fields of the outermost value.
    injected: BTreeSet<&'a str>,
    /// The comparisons to do: a stack instead of recursion, because schemas may be nested deeply.
    open: Vec<Step>,
    /// The pairs that have been compared, each with whether it is of the outermost values, so that recursive schemas come to an
    /// end.
    seen: BTreeSet<(NodeId, NodeId, bool)>,
    pointer: String,
    found: Vec<Mismatch>,
}

impl<'a> Comparison<'a> {
    fn new(schemas: &'a Schemas) -> Self {
        Self {
            schemas,
            compared: BTreeMap::new(),
            enumerated: BTreeMap::new(),
            refused: BTreeMap::new(),
            properties: BTreeMap::new(),
            injected: BTreeSet::new(),
            open: Vec::new(),
            seen: BTreeSet::new(),
            pointer: String::new(),
            found: Vec::new(),
        }
    }

    /// Returns the places where values would be refused.
    fn of(&mut self, handover: &'a Handover) -> Rc<[Mismatch]> {
        let Handover { from, to, direction, .. } = handover;
        let injected: Vec<&str> = match direction {
            Direction::Args { injected } => {
                injected.iter().map(|name| name.value.as_str()).collect()
            }
            Direction::Result => Vec::new(),
        };
        let handed = (*from, *to, injected);
        if let Some(found) = self.compared.get(&handed) {
            return Rc::clone(found);
        }
        self.injected = handed.2.iter().copied().collect();
        self.seen.clear();
        self.open.push(Step { from: *from, to: *to, pointer: String::new() });
        while let Some(step) = self.open.pop() {
            self.pointer = step.pointer;
            self.values(step.from, step.to);
        }
        let found: Rc<[Mismatch]> = std::mem::take(&mut self.found).into();
        self.compared.insert(handed, Rc::clone(&found));
        found
    }

    fn values(&mut self, from: NodeId, to: NodeId) {
        let schemas: &'a Schemas = self.schemas;
        let (plain_from, plain_to) = (resolved(schemas, from), resolved(schemas, to));
        let is_valid = |node| schemas.is_valid(node);
        let all_valid = [from, to, plain_from, plain_to].into_iter().all(is_valid);
        let pair = (plain_from, plain_to, self.pointer.is_empty());
        if plain_from == plain_to || !all_valid || !self.seen.insert(pair) {
            return;
        }
        if let Some(words) = self.refused_kinds(plain_from, plain_to) {
            self.mismatch(from, to, Problem::Values(words));
            return;
        }
        match (&schemas[plain_from].shape, &schemas[plain_to].shape) {
            (Shape::Nullable(inner), _) => self.schedule(*inner, to, None),
            (_, Shape::Nullable(inner)) => self.schedule(from, *inner, None),
            (Shape::Object(a), Shape::Object(b)) => self.fields((from, a), (to, b)),
            (Shape::Array(a), Shape::Array(b)) => self.schedule(a.items, b.items, Some("*")),
            (Shape::Tuple(a), Shape::Tuple(b)) => {
                for (index, (&a, &b)) in a.places.iter().zip(&b.places).enumerate() {
                    self.schedule(a, b, Some(&index.to_string()));
                }
            }
            (Shape::Union(a), Shape::Union(b)) if a.tag == b.tag => self.variants(a, to, b),
            _ => self.constants(from, to),
        }
    }

    /// Schedules the comparison of two schemas, for the same value or for the value of a key in it.
    fn schedule(&mut self, from: NodeId, to: NodeId, key: Option<&str>) {
        let mut pointer = self.pointer.clone();
        if let Some(key) = key {
            pointer.push('/');
            pointer.push_str(&escaped(key));
        }
        // Many are kept at once.
        if pointer.len() > MAX_POINTER_BYTES {
            let end = pointer.ceil_char_boundary(pointer.len() - MAX_POINTER_BYTES);
            pointer.replace_range(..end, "…");
        }
        self.open.push(Step { from, to, pointer });
    }

    fn variants(&mut self, given: &UnionShape, to: NodeId, taken: &UnionShape) {
        let by_tag: BTreeMap<&str, _> =
            taken.variants.iter().map(|variant| (variant.tag.value.as_str(), variant)).collect();
        for variant in &given.variants {
            let tag = &variant.tag.value;
            if let Some(same) = by_tag.get(tag.as_str()) {
                self.schedule(variant.schema, same.schema, None);
            } else {
                let words = format!("found `{tag}` as `{}`, which is not expected", taken.tag);
                self.mismatch(variant.schema, to, Problem::Values(words));
            }
        }
    }

    /// Returns a message if `from` has kinds of values that `to` refuses; `None` also if the kinds are unknown.
    fn refused_kinds(&self, from: NodeId, to: NodeId) -> Option<String> {
        let (given, taken) = (kinds(self.schemas, from)?, kinds(self.schemas, to)?);
        let is_taken = |kind: &Kind| {
            taken.contains(kind) || (*kind == Kind::Integer && taken.contains(&Kind::Number))
        };
        if given.iter().all(is_taken) {
            return None;
        }
        Some(format!("expected {}, found {}", listed(&taken), listed(&given)))
    }

    /// Compares enumerated values.
    fn constants(&mut self, from: NodeId, to: NodeId) {
        let pair = (resolved(self.schemas, from), resolved(self.schemas, to));
        let refused = if let Some(known) = self.refused.get(&pair) {
            known.clone()
        } else {
            let found = self.refused_constants(from, to);
            self.refused.insert(pair, found.clone());
            found
        };
        if let Some(words) = refused {
            self.mismatch(from, to, Problem::Values(words));
        }
    }

    /// Returns a message if `from` has values that `to` refuses.
    fn refused_constants(&mut self, from: NodeId, to: NodeId) -> Option<String> {
        let (given, taken) = (self.enumerated(from)?, self.enumerated(to)?);
        let refused = given.values.iter().filter(|(key, _)| !taken.keys.contains(key));
        let mut words: Vec<String> =
            refused.take(MAX_REFUSED + 1).map(|(_, value)| value.to_string()).collect();
        if words.is_empty() {
            return None;
        }
        if words.len() > MAX_REFUSED {
            "and others".clone_into(&mut words[MAX_REFUSED]);
        }
        Some(format!("found {}, which is not expected", words.join(", ")))
    }

    fn enumerated(&mut self, node: NodeId) -> Option<Rc<Enumerated>> {
        let node = resolved(self.schemas, node);
        if let Some(known) = self.enumerated.get(&node) {
            return Some(Rc::clone(known));
        }
        let values = enumerated(self.schemas, node)?.into_iter();
        let values: Vec<_> = values.map(|value| (json_key(&value), value)).collect();
        let keys = values.iter().map(|(key, _)| key.clone()).collect();
        let enumerated = Rc::new(Enumerated { values, keys });
        self.enumerated.insert(node, Rc::clone(&enumerated));
        Some(enumerated)
    }

    /// Returns the properties of an object, by name.
    fn properties(
        &mut self,
        node: NodeId,
        object: &'a ObjectShape,
    ) -> Rc<BTreeMap<&'a str, &'a Property>> {
        let by_name = || {
            let properties = object.properties.iter();
            Rc::new(properties.map(|property| (property.name.value.as_str(), property)).collect())
        };
        Rc::clone(self.properties.entry(node).or_insert_with(by_name))
    }

    fn fields(
        &mut self,
        (from_node, given): (NodeId, &'a ObjectShape),
        (to_node, taken): (NodeId, &'a ObjectShape),
    ) {
        let span = |node: NodeId| self.schemas[node].span;
        let (from, to) = (span(from_node), span(to_node));
        let given_by_name = self.properties(from_node, given);
        let taken_by_name = self.properties(to_node, taken);
        for field in taken.properties.iter().filter(|field| field.required) {
            let name = field.name.value.as_str();
            let is_given = given_by_name.get(name).is_some_and(|field| field.required);
            let is_injected = self.pointer.is_empty() && self.injected.contains(name);
            if !is_given && !is_injected {
                self.found(from, field.name.span, Problem::Missing(name.to_owned()));
            }
        }
        for field in &given.properties {
            let name = field.name.value.as_str();
            let there = taken_by_name.get(name);
            match (there, taken.additional) {
                (Some(there), _) => self.schedule(field.schema, there.schema, Some(name)),
                (None, Additional::Typed(node)) => self.schedule(field.schema, node, Some(name)),
                (None, Additional::Open | Additional::Declared) => {}
                (None, Additional::Closed) => {
                    self.found(field.name.span, to, Problem::Extra(name.to_owned()));
                }
            }
        }
    }

    fn mismatch(&mut self, from: NodeId, to: NodeId, problem: Problem) {
        let span = |node: NodeId| self.schemas[node].span;
        self.found(span(from), span(to), problem);
    }

    fn found(&mut self, from: Span, to: Span, problem: Problem) {
        self.found.push(Mismatch { pointer: self.pointer.clone(), from, to, problem });
    }
}

/// Returns the kinds of values that a node accepts; `None` if any kind is possible.
fn kinds(schemas: &Schemas, node: NodeId) -> Option<BTreeSet<Kind>> {
    let node = resolved(schemas, node);
    if !schemas.is_valid(node) {
        return None;
    }
    Some(match &schemas[node].shape {
        Shape::Any | Shape::Named(_) | Shape::Local(_) => return None,
        Shape::Null => BTreeSet::from([Kind::Null]),
        Shape::Boolean => BTreeSet::from([Kind::Boolean]),
        Shape::String(_) | Shape::Enum(_) => BTreeSet::from([Kind::String]),
        Shape::Integer(_) | Shape::IntegerEnum(_) => BTreeSet::from([Kind::Integer]),
        Shape::Number(_) => BTreeSet::from([Kind::Number]),
        Shape::Array(_) | Shape::Tuple(_) => BTreeSet::from([Kind::Array]),
        Shape::Overlapping(choice) => {
            return choice.members.iter().map(|&member| kind_of(schemas, member)).collect();
        }
        Shape::Object(_) | Shape::Union(_) => BTreeSet::from([Kind::Object]),
        Shape::Const(value) => BTreeSet::from([kind_of_value(value)]),
        Shape::Constants(values) => {
            values.iter().map(|value| kind_of_value(&value.value.value)).collect()
        }
        Shape::Nullable(inner) => {
            let mut kinds = kinds(schemas, *inner)?;
            kinds.insert(Kind::Null);
            kinds
        }
        Shape::Mixed(variants) => variants.iter().map(|variant| variant.kind).collect(),
    })
}

/// Returns the values that an enumeration or constant accepts.
fn enumerated(schemas: &Schemas, node: NodeId) -> Option<Vec<Json>> {
    Some(match &schemas[resolved(schemas, node)].shape {
        Shape::Const(value) => vec![value.clone()],
        Shape::Enum(values) => {
            values.iter().map(|value| Json::string(&value.value.value)).collect()
        }
        Shape::Constants(values) => values.iter().map(|value| value.value.value.clone()).collect(),
        Shape::IntegerEnum(values) => {
            values.iter().map(|value| Json::Number(value.value.to_string())).collect()
        }
        _ => return None,
    })
}

fn listed(kinds: &BTreeSet<Kind>) -> String {
    kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" or ")
}
