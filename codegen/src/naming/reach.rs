//! Which types of other crates a toolset's schemas reach: those it re-exports.

use std::collections::BTreeSet;

use super::{Scope, TypeName, TypeNames};
use crate::model::{Project, ToolsetId};
use crate::schema::{Additional, NodeId, Shape};

impl TypeNames {
    /// The types a toolset's schemas reach that stand elsewhere, in the order of their names.
    pub fn foreign(&self, project: &Project, toolset: ToolsetId) -> Vec<&TypeName> {
        let own = Scope::Toolset(toolset);
        let mut reached = BTreeSet::new();
        for &tool in &project[toolset].tools {
            follow(project, project[tool].args, &mut reached);
            follow(project, project[tool].result, &mut reached);
        }
        let names = reached.iter().filter_map(|&node| self.get(node));
        let mut foreign: Vec<_> = names.filter(|name| name.scope != own).collect();
        foreign.sort_by(|a, b| (&a.name, a.node).cmp(&(&b.name, b.node)));
        foreign
    }

    /// The types that stand elsewhere and are named in the text of a scope's types and signatures,
    /// in the order of their names.
    pub fn used_directly(
        &self,
        project: &Project,
        scope: Scope,
        roots: impl Iterator<Item = NodeId>,
    ) -> Vec<&TypeName> {
        let mut open: Vec<NodeId> = roots.collect();
        let mut seen = BTreeSet::new();
        let mut used = Vec::new();
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            match self.get(node) {
                Some(name) if name.scope != scope => used.push(name),
                _ => open.extend(children(project, node)),
            }
        }
        used.sort_by(|a, b| (&a.name, a.node).cmp(&(&b.name, b.node)));
        used
    }
}

/// Adds a node and everything it refers to.
fn follow(project: &Project, node: NodeId, reached: &mut BTreeSet<NodeId>) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if reached.insert(node) {
            open.extend(children(project, node));
        }
    }
}

/// The nodes a node refers to, named types followed.
fn children(project: &Project, node: NodeId) -> Vec<NodeId> {
    match &project.schemas[node].shape {
        Shape::Array(array) => vec![array.items],
        Shape::Tuple(items) => items.clone(),
        Shape::Object(object) => {
            let additional = match object.additional {
                Additional::Typed(node) => Some(node),
                Additional::Closed | Additional::Open | Additional::Declared => None,
            };
            object.properties.iter().map(|property| property.schema).chain(additional).collect()
        }
        Shape::Nullable(inner) => vec![*inner],
        Shape::Union(union) => union.variants.iter().map(|variant| variant.schema).collect(),
        Shape::Mixed(variants) => variants.iter().map(|variant| variant.schema).collect(),
        Shape::Overlapping(members) => members.clone(),
        Shape::Named(id) => vec![project[*id].schema],
        Shape::Local(target) => vec![*target],
        _ => Vec::new(),
    }
}
