//! Which types hold themselves by value, and so need a pointer. Never changes what is accepted.

use std::collections::BTreeMap;

use crate::components::components;
use crate::model::Project;
use crate::naming::TypeNames;
use crate::schema::{NodeId, Shape};

/// The strongly connected components of the "holds by value" relation between types.
#[derive(Debug)]
pub(super) struct Recursion {
    component: BTreeMap<NodeId, usize>,
    edges: BTreeMap<NodeId, Vec<NodeId>>,
}

impl Recursion {
    /// Finds the components.
    pub(super) fn of(project: &Project, names: &TypeNames) -> Self {
        let types: Vec<NodeId> = names.all().map(|name| name.node).collect();
        let edges: BTreeMap<_, _> =
            types.iter().map(|&node| (node, held(project, names, node))).collect();
        Self { component: components(&types, &edges), edges }
    }

    /// Whether a type, held by value in another, holds that one by value in turn.
    pub(super) fn closes_a_circle(&self, within: NodeId, held: NodeId) -> bool {
        let same = self.component.get(&within) == self.component.get(&held);
        same && (within != held || self.edges.get(&held).is_some_and(|edges| edges.contains(&held)))
    }
}

/// The types a type holds by value.
fn held(project: &Project, names: &TypeNames, node: NodeId) -> Vec<NodeId> {
    let direct: Vec<NodeId> = match &project.schemas[node].shape {
        Shape::Object(object) => object.properties.iter().map(|property| property.schema).collect(),
        Shape::Union(union) => union.variants.iter().map(|variant| variant.schema).collect(),
        Shape::Mixed(variants) => variants.iter().map(|variant| variant.schema).collect(),
        Shape::Overlapping(members) => members.clone(),
        Shape::Tuple(items) => items.clone(),
        Shape::Nullable(inner) => vec![*inner],
        Shape::Named(id) => vec![project[*id].schema],
        Shape::Local(target) => vec![*target],
        _ => Vec::new(),
    };
    direct.into_iter().flat_map(|inner| by_value(project, names, inner)).collect()
}

/// The types a node is by value, through tuples, references and `null`; none for a list, a map or a scalar.
fn by_value(project: &Project, names: &TypeNames, node: NodeId) -> Vec<NodeId> {
    if names.get(node).is_some() {
        return vec![node];
    }
    match &project.schemas[node].shape {
        Shape::Tuple(items) => {
            items.iter().flat_map(|&item| by_value(project, names, item)).collect()
        }
        Shape::Nullable(inner) => by_value(project, names, *inner),
        Shape::Named(id) => by_value(project, names, project[*id].schema),
        Shape::Local(target) => by_value(project, names, *target),
        _ => Vec::new(),
    }
}
