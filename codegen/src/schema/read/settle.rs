//! Makes the decisions for which all schemas must have been read: finds circular references and the types of choices.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use toolwright::format::IntegerFormat;
use toolwright::value::Kind;

use super::merge::{is_bare, merge};
use super::scalar::constants;
use super::tags::{Candidates, tagged_union};
use crate::diagnostic::{Report, files, schemas};
use crate::json::Json;
use crate::schema::{
    Additional, AppliesTo, ArrayShape, Assertion, Budget, EnumValue, Keyword, MixedVariant, Node,
    NodeId, NumberRules, ObjectShape, Operand, OverlappingShape, Schemas, Shape, StringRules,
    json_key, kind_of, resolved,
};
use crate::source::{Span, Spanned};

/// The most references in a chain. It is followed again for each reference to its beginning.
const MAX_CHAIN: usize = 1000;

/// The decisions that are postponed while reading.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(super) choices: Vec<PendingChoice>,
    /// The nodes with a choice or an `allOf`, inner nodes first.
    pub(super) open: Vec<NodeId>,
    /// The number of nodes that are already settled.
    settled: usize,
    tags: Candidates,
    /// The remaining budget for a project's patterns.
    pub(crate) budget: Budget,
}

/// An `anyOf`, a `oneOf`, or an `allOf` with one member.
#[derive(Debug)]
pub(super) struct PendingChoice {
    pub(super) node: NodeId,
    pub(super) keyword: Keyword,
    pub(super) members: Vec<NodeId>,
}

impl Pending {
    /// Settles all nodes that have been read. They do not change later, because they do not refer to nodes that are read later.
    pub(crate) fn settle(&mut self, schemas: &mut Schemas, report: &mut Report) {
        let choices = mem::take(&mut self.choices);
        for choice in &choices {
            choice.hold(schemas);
        }
        let steps = cut_circles(schemas, self.settled, report);
        let mut search = Search::new(&steps, self.settled);
        for node in self.open.drain(..) {
            search.from(node);
        }
        let choices: BTreeMap<NodeId, &PendingChoice> =
            choices.iter().map(|choice| (choice.node, choice)).collect();
        for node in search.order {
            if schemas.is_valid(node) {
                if let Some(choice) = choices.get(&node) {
                    choice.settle(schemas, &mut self.tags);
                }
                merge(schemas, node);
            }
        }
        self.settled = schemas.len();
    }
}

impl PendingChoice {
    /// Makes the choice an assertion until it is settled: a node that comes before may look at it, as properties may refer to
    /// schemas in a circle.
    fn hold(&self, schemas: &mut Schemas) {
        let Self { node, keyword, members } = self;
        let mut held = schemas[*node].clone();
        held.assertions
            .push(Assertion { keyword: *keyword, operand: Operand::Schemas(members.clone()) });
        schemas.set(*node, held);
    }

    fn settle(&self, schemas: &mut Schemas, tags: &mut Candidates) {
        let mut node = schemas[self.node].clone();
        node.assertions.pop();
        schemas.set(self.node, node);
        // A choice with one member is that member, but not beside other keywords, because `additionalProperties` and
        // `unevaluatedProperties` do not look into a choice (2020-12 core, 10.3 and 11).
        let has_no_siblings = schemas[self.node].assertions.is_empty();
        if let ([only], true) = (self.members.as_slice(), has_no_siblings) {
            let member = schemas[*only].clone();
            self.become_shape(schemas, member.shape, member.assertions);
            return;
        }
        let is_null = |&&id: &&NodeId| {
            matches!(schemas[id].shape, Shape::Null) && schemas[id].assertions.is_empty()
        };
        let (nulls, others): (Vec<NodeId>, Vec<NodeId>) = self.members.iter().partition(is_null);
        let others = if self.keyword == Keyword::AnyOf {
            without_redundant_integers(schemas, others)
        } else {
            others
        };
        let exact = match nulls.len() {
            // All other members were redundant integers.
            0 if others.len() == 1 && self.members.len() > 1 => {
                Some(schemas[others[0]].shape.clone())
            }
            // Types of objects are merged instead.
            0 if self.keyword == Keyword::AllOf => None,
            0 => typed(schemas, &others, tags),
            1 => self.nullable(schemas, &others, tags),
            _ => None,
        };
        if let Some(shape) = exact {
            return self.become_shape(schemas, shape, Vec::new());
        }
        // No type accepts exactly the same values, so the choice remains an assertion. The type has a variant for each member
        // if they overlap; else it is the type of the kind that all members share.
        let span = schemas[self.node].span;
        let keyword = self.keyword;
        if nulls.len() < 2
            && let Some(choice) = overlapping(schemas, &others)
        {
            let operand = Operand::Schemas(others);
            let mut shape = Shape::Overlapping(choice);
            let mut assertions = vec![Assertion { keyword, operand }];
            if !nulls.is_empty() {
                let inner = Node { shape, assertions, ..Node::new(span, Shape::Any) };
                (shape, assertions) = (Shape::Nullable(schemas.add(inner)), Vec::new());
            }
            return self.become_shape(schemas, shape, assertions);
        }
        let mut shape = of_shared_kind(schemas, &others, span);
        if !nulls.is_empty() && !matches!(shape, Shape::Any) {
            shape = Shape::Nullable(schemas.add(Node::new(span, shape)));
        }
        let operand = Operand::Schemas(self.members.clone());
        self.become_shape(schemas, shape, vec![Assertion { keyword, operand }]);
    }

    fn become_shape(&self, schemas: &mut Schemas, shape: Shape, mut assertions: Vec<Assertion>) {
        let node = schemas[self.node].clone();
        schemas.set(self.node, Node { shape: shape.clone(), ..node.clone() });
        let word = kind_of(schemas, self.node).map(|kind| Json::string(kind.as_str()));
        // A `type` beside the choice is redundant if it says the same as the new shape.
        let is_redundant = |assertion: &Assertion| match &assertion.operand {
            Operand::Plain(types) => {
                assertion.keyword == Keyword::Type && Some(types) == word.as_ref()
            }
            _ => false,
        };
        assertions
            .extend(node.assertions.iter().filter(|assertion| !is_redundant(assertion)).cloned());
        schemas.set(self.node, Node { shape, assertions, ..node });
    }

    /// Returns the type of a choice between `null` and other members, if a type accepts exactly the same values.
    fn nullable(
        &self,
        schemas: &mut Schemas,
        others: &[NodeId],
        tags: &mut Candidates,
    ) -> Option<Shape> {
        let refuses_null = others
            .iter()
            .all(|&other| kind_of(schemas, other).is_some_and(|kind| kind != Kind::Null));
        if self.keyword == Keyword::OneOf && !refuses_null {
            return None;
        }
        let [only] = others else {
            let shape = typed(schemas, others, tags)?;
            let span = schemas[self.node].span;
            let inner = schemas.add(Node::new(span, shape));
            return Some(Shape::Nullable(inner));
        };
        let inner = &schemas[resolved(schemas, *only)];
        let accepts_null = matches!(inner.shape, Shape::Any | Shape::Null | Shape::Nullable(_));
        if accepts_null && inner.assertions.is_empty() && is_bare(schemas, *only) {
            return Some(schemas[*only].shape.clone());
        }
        // A schema of which only assertions are known may accept `null` itself.
        (!matches!(inner.shape, Shape::Any)).then_some(Shape::Nullable(*only))
    }
}

/// Returns the type of the kind that all members share, without their limits.
fn of_shared_kind(schemas: &mut Schemas, members: &[NodeId], span: Span) -> Shape {
    let kinds: BTreeSet<Option<Kind>> =
        members.iter().map(|&member| kind_of(schemas, member)).collect();
    let kinds: Vec<_> = kinds.into_iter().collect();
    let &[Some(kind)] = kinds.as_slice() else { return Shape::Any };
    let items = schemas.reserve(span);
    let mut shape = unlimited(kind, items);
    if let Shape::Integer(rules) = &mut shape {
        let is_i64 = |bound: Option<i128>| bound.is_some_and(|bound| i64::try_from(bound).is_ok());
        let fits = |member: &NodeId| match &schemas[resolved(schemas, *member)].shape {
            Shape::Integer(rules) => is_i64(rules.min_integer()) && is_i64(rules.max_integer()),
            shape => matches!(shape, Shape::IntegerEnum(_)),
        };
        rules.format = members.iter().all(fits).then_some(IntegerFormat::Int64);
    }
    if let Shape::Number(rules) = &mut shape {
        rules.is_double = members.iter().all(|member| is_within_doubles(schemas, *member));
    }
    shape
}

/// Returns whether every number that a schema accepts fits into a double.
fn is_within_doubles(schemas: &Schemas, node: NodeId) -> bool {
    match &schemas[resolved(schemas, node)].shape {
        Shape::Number(rules) => rules.is_within_doubles(),
        Shape::Integer(rules) => rules.standard().is_some(),
        shape => matches!(shape, Shape::IntegerEnum(_)),
    }
}

/// Removes integers from the members of an `anyOf` that also accepts any number.
fn without_redundant_integers(schemas: &Schemas, mut members: Vec<NodeId>) -> Vec<NodeId> {
    let is_any_number = |&member: &NodeId| {
        let Node { shape, assertions, .. } = &schemas[member];
        matches!(shape, Shape::Number(rules) if rules.lower.is_none() && rules.upper.is_none())
            && assertions.is_empty()
    };
    if let Some(&number) = members.iter().find(|member| is_any_number(member)) {
        let is_double = is_within_doubles(schemas, number);
        members.retain(|&member| {
            kind_of(schemas, member) != Some(Kind::Integer)
                || (is_double && !is_within_doubles(schemas, member))
                || !schemas[member].annotations.is_empty()
        });
    }
    members
}

/// Returns a type that accepts exactly the same values as a choice, both for `anyOf` and for `oneOf`.
fn typed(schemas: &Schemas, members: &[NodeId], tags: &mut Candidates) -> Option<Shape> {
    enumerated(schemas, members)
        .or_else(|| tagged_union(schemas, members, tags).map(Shape::Union))
        .or_else(|| mixed(schemas, members).map(Shape::Mixed))
}

/// Returns a type with a variant for each member of a choice, if every member has one kind other than null, and several members
/// are arrays or objects.
fn overlapping(schemas: &Schemas, members: &[NodeId]) -> Option<OverlappingShape> {
    let kinds: Option<Vec<Kind>> = members.iter().map(|&member| kind_of(schemas, member)).collect();
    let kinds = kinds?;
    let is_container = |kind: &&Kind| matches!(kind, Kind::Array | Kind::Object);
    if kinds.contains(&Kind::Null) || kinds.iter().filter(is_container).count() < 2 {
        return None;
    }
    let kind = kinds.iter().all(|kind| *kind == kinds[0]).then_some(kinds[0]);
    Some(OverlappingShape { members: members.to_vec(), kind })
}

/// Returns the type of a choice of different constant strings, numbers and booleans.
fn enumerated(schemas: &Schemas, members: &[NodeId]) -> Option<Shape> {
    let mut values: Vec<EnumValue<Json>> = Vec::new();
    let mut keys = BTreeSet::new();
    for &member in members {
        let Node { span, shape, assertions, annotations, .. } = &schemas[member];
        match shape {
            Shape::Const(value @ (Json::String(_) | Json::Number(_) | Json::Boolean(_)))
                if assertions.is_empty() && keys.insert(json_key(value)) =>
            {
                let value = Spanned::new(value.clone(), *span);
                values.push(EnumValue { value, annotations: annotations.clone() });
            }
            _ => return None,
        }
    }
    if values.len() < 2 {
        return None;
    }
    let strings: Option<Vec<EnumValue<String>>> = values
        .iter()
        .map(|EnumValue { value, annotations }| match &value.value {
            Json::String(text) => Some(EnumValue {
                value: Spanned::new(text.clone(), value.span),
                annotations: annotations.clone(),
            }),
            _ => None,
        })
        .collect();
    Some(strings.map_or_else(|| constants(values.into_iter()), Shape::Enum))
}

/// Returns the variants of a choice of schemas with different kinds.
fn mixed(schemas: &Schemas, members: &[NodeId]) -> Option<Vec<MixedVariant>> {
    let mut seen = BTreeSet::new();
    let mut variants = Vec::new();
    for &schema in members {
        let kind = kind_of(schemas, schema)?;
        // A number may also be an integer.
        let number = if kind == Kind::Integer { Kind::Number } else { kind };
        if !seen.insert(number) {
            return None;
        }
        variants.push(MixedVariant { kind, schema });
    }
    (variants.len() > 1).then_some(variants)
}

/// Returns the shape of all values of a kind; `items` is a node that accepts anything.
pub(super) fn unlimited(kind: Kind, items: NodeId) -> Shape {
    match kind {
        Kind::Null => Shape::Null,
        Kind::Boolean => Shape::Boolean,
        Kind::String => Shape::String(StringRules::default()),
        Kind::Integer => Shape::Integer(NumberRules::default()),
        Kind::Number => Shape::Number(NumberRules::default()),
        Kind::Array => Shape::Array(ArrayShape {
            items,
            is_described: false,
            min_items: None,
            max_items: None,
            unique: false,
        }),
        Kind::Object => {
            Shape::Object(ObjectShape { properties: Vec::new(), additional: Additional::Open })
        }
    }
}

/// Reports schemas that refer to themselves for the same value, and replaces them, so that following references always ends.
/// Returns for each node the nodes that apply to the same value.
fn cut_circles(schemas: &mut Schemas, settled: usize, report: &mut Report) -> Vec<Vec<NodeId>> {
    // 2020-12 core, 10.2.
    let in_place = |id: NodeId| {
        let schema = &schemas[id];
        let mut steps = match schema.shape {
            Shape::Named(name) => vec![schemas[name].schema],
            Shape::Local(target) => vec![target],
            Shape::Nullable(inner) => vec![inner],
            _ => Vec::new(),
        };
        for assertion in &schema.assertions {
            if assertion.keyword.applies_to() == AppliesTo::SameValue {
                steps.extend(assertion.schemas());
            }
        }
        steps
    };
    let steps: Vec<Vec<NodeId>> = schemas.ids().skip(settled).map(in_place).collect();
    let mut search = Search::new(&steps, settled);
    for id in schemas.ids().skip(settled) {
        search.from(id);
    }
    for node in mem::take(&mut search.circles) {
        let span = schemas[node].span;
        report.add(schemas::endless_reference(span));
        schemas.set(node, Node::new(span, Shape::Any));
        schemas.mark_invalid(node);
    }
    cut_chains(schemas, &search.order, report);
    steps
}

/// Reports references that have a long way to the end of their chain, and replaces them, so that following references takes a
/// limited time. `order` has each node after those that it refers to.
fn cut_chains(schemas: &mut Schemas, order: &[NodeId], report: &mut Report) {
    let mut lengths: BTreeMap<NodeId, usize> = BTreeMap::new();
    for &node in order {
        let target = match schemas[node].shape {
            Shape::Named(name) => schemas[name].schema,
            Shape::Local(target) => target,
            _ => continue,
        };
        let length = lengths.get(&target).map_or(1, |length| length + 1);
        if length <= MAX_CHAIN {
            lengths.insert(node, length);
            continue;
        }
        let span = schemas[node].span;
        let message = format!("this reference is followed by {MAX_CHAIN} others in a chain");
        report.add(files::over_budget(span, message, "refer to the schema at the end"));
        schemas.set(node, Node::new(span, Shape::Any));
        schemas.mark_invalid(node);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// A depth-first search for circles, without recursion.
struct Search<'a> {
    steps: &'a [Vec<NodeId>],
    /// The number of settled nodes, which come before those of `steps` and do not refer to them.
    settled: usize,
    state: Vec<State>,
    circles: Vec<NodeId>,
    /// The nodes that were reached, each after the nodes that it refers to.
    order: Vec<NodeId>,
}

impl<'a> Search<'a> {
    fn new(steps: &'a [Vec<NodeId>], settled: usize) -> Self {
        let state = vec![State::New; steps.len()];
        Self { steps, settled, state, circles: Vec::new(), order: Vec::new() }
    }

    fn from(&mut self, start: NodeId) {
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.pop() {
            let Some(position) = node.position().checked_sub(self.settled) else { continue };
            if next == 0 {
                if self.state[position] != State::New {
                    continue;
                }
                self.state[position] = State::Open;
            }
            let Some(&step) = self.steps[position].get(next) else {
                self.state[position] = State::Done;
                self.order.push(node);
                continue;
            };
            stack.push((node, next + 1));
            match step.position().checked_sub(self.settled).map(|step| self.state[step]) {
                Some(State::New) => stack.push((step, 0)),
                Some(State::Open) => self.circles.push(step),
                Some(State::Done) | None => {}
            }
        }
    }
}
