//! Whether what one schema accepts can be handed to another, field by field: declared arguments to a method's payload,
//! what a method gives to a declared result. Compares kinds, enumerations and which fields there are; never limits,
//! which payloads are checked against when they come.

use std::collections::BTreeSet;

use toolwright::pointer::escaped;
use toolwright::value::Kind;

use crate::diagnostic::{Diagnostic, Report, tools};
use crate::json::Json;
use crate::schema::{
    Additional, NodeId, ObjectShape, Schemas, Shape, UnionShape, as_object, json_equal, kind_of,
    kind_of_value, resolved,
};
use crate::source::{Span, Spanned};

/// Two schemas, the values of one of which are handed to the other.
#[derive(Debug)]
pub(super) struct Handover {
    /// Where the tool's schema is written.
    pub(super) span: Span,
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) direction: Direction,
}

/// Which way values go.
#[derive(Debug)]
pub(super) enum Direction {
    /// From a tool to its method, with fields that are filled in on the way.
    Args { injected: Vec<Spanned<String>> },
    /// From a method to its tool.
    Result,
}

/// One place where a value that is handed on would be refused.
struct Mismatch {
    pointer: String,
    from: Span,
    to: Span,
    problem: Problem,
}

enum Problem {
    /// A field that is required there and may be missing here.
    Missing(String),
    /// A field that is not allowed there.
    Extra(String),
    /// Values that are not accepted there.
    Values(String),
}

/// Compares every pair of schemas.
pub(super) fn check(schemas: &Schemas, handovers: &[Handover], report: &mut Report) {
    for handover in handovers {
        if let (Direction::Args { injected }, Some(args)) =
            (&handover.direction, as_object(schemas, handover.from))
        {
            for name in injected {
                check_not_declared(args, name, report);
            }
        }
        for mismatch in mismatches(schemas, handover) {
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

fn finding(handover: &Handover, mismatch: Mismatch) -> Diagnostic {
    let Mismatch { pointer, from, to, problem } = mismatch;
    match (&handover.direction, problem) {
        (Direction::Args { .. }, Problem::Missing(name)) => tools::payload_not_filled(
            if pointer.is_empty() { handover.span } else { from },
            &name,
            to,
        ),
        (Direction::Args { .. }, Problem::Extra(name)) => tools::not_in_payload(from, &name),
        (Direction::Args { .. }, Problem::Values(words)) => {
            let field = tools::field_words(&pointer, "the arguments");
            tools::args_do_not_fit(from, &field, &words, to)
        }
        (Direction::Result, problem) => {
            let field = tools::field_words(&pointer, "the result");
            let words = match problem {
                Problem::Missing(name) => format!("`{name}` may be missing, which is required"),
                Problem::Extra(name) => format!("`{name}` may be there, which is not allowed"),
                Problem::Values(words) => words,
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

fn mismatches(schemas: &Schemas, handover: &Handover) -> Vec<Mismatch> {
    let injected = match &handover.direction {
        Direction::Args { injected } => injected.as_slice(),
        Direction::Result => &[],
    };
    let mut comparison = Comparison {
        schemas,
        injected,
        open: vec![Step { from: handover.from, to: handover.to, pointer: String::new() }],
        seen: BTreeSet::new(),
        pointer: String::new(),
        found: Vec::new(),
    };
    while let Some(step) = comparison.open.pop() {
        comparison.pointer = step.pointer;
        comparison.values(step.from, step.to);
    }
    comparison.found
}

/// Two schemas inside the compared ones, and where in a value they meet.
struct Step {
    from: NodeId,
    to: NodeId,
    pointer: String,
}

struct Comparison<'a> {
    schemas: &'a Schemas,
    /// Fields of the whole that are filled in on the way.
    injected: &'a [Spanned<String>],
    /// The comparisons left to do: schemas may lead far down, so nothing here calls itself.
    open: Vec<Step>,
    /// Pairs that have been compared: recursion ends there.
    seen: BTreeSet<(NodeId, NodeId)>,
    pointer: String,
    found: Vec<Mismatch>,
}

impl<'a> Comparison<'a> {
    fn values(&mut self, from: NodeId, to: NodeId) {
        let schemas: &'a Schemas = self.schemas;
        let (plain_from, plain_to) = (resolved(schemas, from), resolved(schemas, to));
        let is_valid = |node| schemas.is_valid(node);
        let all_valid = [from, to, plain_from, plain_to].into_iter().all(is_valid);
        if plain_from == plain_to || !all_valid || !self.seen.insert((plain_from, plain_to)) {
            return;
        }
        if let Some(words) = self.refused_kinds(plain_from, plain_to) {
            self.mismatch(from, to, Problem::Values(words));
            return;
        }
        match (&schemas[plain_from].shape, &schemas[plain_to].shape) {
            (Shape::Nullable(inner), _) => self.later(*inner, to, None),
            (_, Shape::Nullable(inner)) => self.later(from, *inner, None),
            (Shape::Object(a), Shape::Object(b)) => self.fields((from, a), (to, b)),
            (Shape::Array(a), Shape::Array(b)) => self.later(a.items, b.items, Some("*")),
            (Shape::Tuple(a), Shape::Tuple(b)) => {
                for (index, (&a, &b)) in a.places.iter().zip(&b.places).enumerate() {
                    self.later(a, b, Some(&index.to_string()));
                }
            }
            (Shape::Union(a), Shape::Union(b)) if a.tag == b.tag => self.variants(a, to, b),
            _ => self.constants(from, to),
        }
    }

    /// Compares two schemas in their turn: of the same value, or of what stands under a key of it.
    fn later(&mut self, from: NodeId, to: NodeId, key: Option<&str>) {
        let mut pointer = self.pointer.clone();
        if let Some(key) = key {
            pointer.push('/');
            pointer.push_str(&escaped(key));
        }
        self.open.push(Step { from, to, pointer });
    }

    fn variants(&mut self, given: &UnionShape, to: NodeId, taken: &UnionShape) {
        for variant in &given.variants {
            let tag = &variant.tag.value;
            if let Some(same) = taken.variants.iter().find(|other| other.tag.value == *tag) {
                self.later(variant.schema, same.schema, None);
            } else {
                let words = format!("`{tag}` given as `{}`, which is not expected", taken.tag);
                self.mismatch(variant.schema, to, Problem::Values(words));
            }
        }
    }

    /// Words for kinds of values that are refused there, where it is known what both accept.
    fn refused_kinds(&self, from: NodeId, to: NodeId) -> Option<String> {
        let (given, taken) = (kinds(self.schemas, from)?, kinds(self.schemas, to)?);
        let is_taken = |kind: &Kind| {
            taken.contains(kind) || (*kind == Kind::Integer && taken.contains(&Kind::Number))
        };
        if given.iter().all(is_taken) {
            return None;
        }
        Some(format!("{} given, {} expected", listed(&given), listed(&taken)))
    }

    /// Enumerated values against enumerated values.
    fn constants(&mut self, from: NodeId, to: NodeId) {
        let (Some(given), Some(taken)) =
            (enumerated(self.schemas, from), enumerated(self.schemas, to))
        else {
            return;
        };
        let is_refused = |value: &&Json| !taken.iter().any(|known| json_equal(known, value));
        let refused: Vec<String> = given.iter().filter(is_refused).map(Json::to_string).collect();
        if !refused.is_empty() {
            let words = format!("{} given, which is not expected", refused.join(", "));
            self.mismatch(from, to, Problem::Values(words));
        }
    }

    fn fields(
        &mut self,
        (from, given): (NodeId, &'a ObjectShape),
        (to, taken): (NodeId, &'a ObjectShape),
    ) {
        let span = |node: NodeId| self.schemas[node].span;
        let (from, to) = (span(from), span(to));
        for field in taken.properties.iter().filter(|field| field.required) {
            let name = &field.name.value;
            let is_given =
                given.properties.iter().any(|field| field.required && field.name.value == *name);
            let is_injected = self.pointer.is_empty()
                && self.injected.iter().any(|injected| injected.value == *name);
            if !is_given && !is_injected {
                self.found(from, field.name.span, Problem::Missing(name.clone()));
            }
        }
        for field in &given.properties {
            let name = &field.name.value;
            let there = taken.properties.iter().find(|other| other.name.value == *name);
            match (there, taken.additional) {
                (Some(there), _) => self.later(field.schema, there.schema, Some(name)),
                (None, Additional::Typed(node)) => self.later(field.schema, node, Some(name)),
                (None, Additional::Open | Additional::Declared) => {}
                (None, Additional::Closed) => {
                    self.found(field.name.span, to, Problem::Extra(name.clone()));
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

/// The kinds of values that a node accepts; none where it may be any.
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
        Shape::Overlapping(members) => {
            return members.iter().map(|&member| kind_of(schemas, member)).collect();
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

/// The values that a node lists.
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
