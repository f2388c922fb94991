//! Finds types that contain themselves by value and so need a `Box`.

use std::collections::BTreeMap;

use crate::components::components;
use crate::naming::TypeNames;
use crate::schema::{NodeId, Schemas, Shape};

/// The strongly connected components of the "holds by value" relation between types.
#[derive(Debug)]
pub(super) struct Recursion {
    component: BTreeMap<NodeId, usize>,
    edges: BTreeMap<NodeId, Vec<NodeId>>,
}

impl Recursion {
    /// Finds the components.
    pub(super) fn of(schemas: &Schemas, names: &TypeNames) -> Self {
        let types: Vec<NodeId> = names.all().map(|name| name.node).collect();
        let edges: BTreeMap<_, _> =
            types.iter().map(|&node| (node, held(schemas, names, node))).collect();
        Self { component: components(&types, &edges), edges }
    }

    /// Returns whether the type `held`, which `within` contains by value, contains `within` by value in turn.
    pub(super) fn closes_cycle(&self, within: NodeId, held: NodeId) -> bool {
        let same = self.component.get(&within) == self.component.get(&held);
        same && (within != held || self.edges.get(&held).is_some_and(|edges| edges.contains(&held)))
    }
}

/// Returns the types that a type contains by value.
fn held(schemas: &Schemas, names: &TypeNames, node: NodeId) -> Vec<NodeId> {
    let direct: Vec<NodeId> = match &schemas[node].shape {
        Shape::Object(object) => object.properties.iter().map(|property| property.schema).collect(),
        Shape::Union(union) => union.variants.iter().map(|variant| variant.schema).collect(),
        Shape::Mixed(variants) => variants.iter().map(|variant| variant.schema).collect(),
        Shape::Overlapping(members) => members.clone(),
        Shape::Tuple(tuple) => tuple.places.clone(),
        Shape::Nullable(inner) => vec![*inner],
        Shape::Named(id) => vec![schemas[*id].schema],
        Shape::Local(target) => vec![*target],
        _ => Vec::new(),
    };
    direct.into_iter().flat_map(|inner| by_value(schemas, names, inner)).collect()
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
        Shape::Local(target) => by_value(schemas, names, *target),
        _ => Vec::new(),
    }
}
