//! Decides which types are in a `Box` where another type holds them: those that contain themselves by value, and those that would
//! make the other type large. A value lies on the stack while it is read, and types that use each other twice double at each step.

use std::collections::{BTreeMap, BTreeSet};

use crate::components::components;
use crate::naming::TypeNames;
use crate::schema::{NodeId, Schemas, Shape};

/// The most fields of a type, with those of the types that it holds by value.
const MOST_FIELDS: usize = 128;

/// The most fields of a type that a larger type holds without a `Box`.
const FEW_FIELDS: usize = 4;

/// The types that are in a `Box` where another type holds them.
#[derive(Debug)]
pub(crate) struct Boxes {
    /// The strongly connected components of the "holds by value" relation between types.
    component: BTreeMap<NodeId, usize>,
    edges: BTreeMap<NodeId, Vec<NodeId>>,
    /// The fields of each type, with those of the types that it holds without a `Box`.
    fields: BTreeMap<NodeId, usize>,
    /// The types that would have too many fields.
    large: BTreeSet<NodeId>,
}

impl Boxes {
    /// Finds the types of a project.
    pub(crate) fn of(schemas: &Schemas, names: &TypeNames) -> Self {
        let types: Vec<NodeId> = names.all().map(|name| name.node).collect();
        let edges: BTreeMap<_, _> =
            types.iter().map(|&node| (node, held(schemas, names, node))).collect();
        let component = components(&types, &edges);
        let (fields, large) = (BTreeMap::new(), BTreeSet::new());
        let mut boxes = Self { component, edges, fields, large };
        let mut order = types;
        // Types that are held come before those that hold them.
        order.sort_by_key(|node| std::cmp::Reverse(boxes.component.get(node).copied()));
        for node in order {
            boxes.count(schemas, node);
        }
        boxes
    }

    /// Returns whether the type `held`, which `within` contains by value, is in a `Box` there.
    pub(crate) fn contain(&self, within: NodeId, held: NodeId) -> bool {
        self.closes_cycle(within, held)
            || (self.large.contains(&within) && self.fields_of(held) > FEW_FIELDS)
    }

    /// Returns whether a type that `within` contains by value through its part `part` is in a `Box` there.
    pub(crate) fn contain_in(
        &self,
        schemas: &Schemas,
        names: &TypeNames,
        within: NodeId,
        part: NodeId,
    ) -> bool {
        by_value(schemas, names, part).into_iter().any(|held| self.contain(within, held))
    }

    /// Returns whether the same types are in a `Box` in two types that contain the part `part` by value.
    pub(crate) fn agree(
        &self,
        schemas: &Schemas,
        names: &TypeNames,
        [a, b]: [NodeId; 2],
        part: NodeId,
    ) -> bool {
        let held = by_value(schemas, names, part);
        held.into_iter().all(|held| self.contain(a, held) == self.contain(b, held))
    }

    /// Returns whether the type `held`, which `within` contains by value, contains `within` by value in turn.
    fn closes_cycle(&self, within: NodeId, held: NodeId) -> bool {
        let same = self.component.get(&within) == self.component.get(&held);
        same && (within != held || self.edges.get(&held).is_some_and(|edges| edges.contains(&held)))
    }

    /// Counts the fields of a type whose held types were counted before.
    fn count(&mut self, schemas: &Schemas, node: NodeId) {
        let own = members(schemas, node).len().max(1);
        let held = self.edges.get(&node).map(Vec::as_slice).unwrap_or_default();
        let sum = |boxes: &Self| {
            held.iter().fold(own, |sum, held| {
                let is_boxed = boxes.contain(node, *held);
                sum.saturating_add(if is_boxed { 0 } else { boxes.fields_of(*held) })
            })
        };
        let mut fields = sum(self);
        if fields > MOST_FIELDS {
            self.large.insert(node);
            fields = sum(self);
        }
        self.fields.insert(node, fields);
    }

    fn fields_of(&self, node: NodeId) -> usize {
        self.fields.get(&node).copied().unwrap_or(1)
    }
}

/// Returns the types that a type contains by value.
fn held(schemas: &Schemas, names: &TypeNames, node: NodeId) -> Vec<NodeId> {
    let direct = members(schemas, node).into_iter();
    direct.flat_map(|inner| by_value(schemas, names, inner)).collect()
}

/// Returns the fields, variants or places of a type.
fn members(schemas: &Schemas, node: NodeId) -> Vec<NodeId> {
    match &schemas[node].shape {
        Shape::Object(object) => object.properties.iter().map(|property| property.schema).collect(),
        Shape::Union(union) => union.variants.iter().map(|variant| variant.schema).collect(),
        Shape::Mixed(variants) => variants.iter().map(|variant| variant.schema).collect(),
        Shape::Overlapping(choice) => choice.members.clone(),
        Shape::Tuple(tuple) => tuple.places.clone(),
        Shape::Nullable(inner) => vec![*inner],
        Shape::Named(id) => vec![schemas[*id].schema],
        Shape::Local(target) => vec![*target],
        _ => Vec::new(),
    }
}

/// Returns the types that a node stands for or contains by value, through tuples, references and `null`; none for a list, a
/// map or a scalar.
fn by_value(schemas: &Schemas, names: &TypeNames, node: NodeId) -> Vec<NodeId> {
    if names.get(node).is_some() {
        return vec![node];
    }
    match &schemas[node].shape {
        Shape::Tuple(tuple) => {
            tuple.places.iter().flat_map(|&item| by_value(schemas, names, item)).collect()
        }
        Shape::Nullable(inner) => by_value(schemas, names, *inner),
        Shape::Named(id) => by_value(schemas, names, schemas[*id].schema),
        Shape::Local(target) if names.get(*target).is_some() => vec![*target],
        _ => Vec::new(),
    }
}
