//! Finds the types of other crates that a scope uses. A toolset re-exports them.

use std::collections::BTreeSet;

use super::{Scope, TypeName, TypeNames};
use crate::model::{Project, ToolsetId};
use crate::schema::{Additional, NodeId, Schemas, Shape};

impl TypeNames {
    /// Returns the types of other crates that a toolset's schemas use, also indirectly, in the order of their names.
    pub fn foreign(&self, project: &Project, toolset: ToolsetId) -> Vec<&TypeName> {
        let own = Scope::Toolset(toolset);
        let mut reached = BTreeSet::new();
        for &tool in &project[toolset].tools {
            follow(&project.schemas, project[tool].args, &mut reached);
            follow(&project.schemas, project[tool].result, &mut reached);
        }
        let names = reached.iter().filter_map(|&node| self.get(node));
        let mut foreign: Vec<_> = names.filter(|name| name.scope != own).collect();
        foreign.sort_by(|a, b| (&a.name, a.node).cmp(&(&b.name, b.node)));
        foreign
    }

    /// Returns the types of other crates that appear in the types and signatures of a scope, in the order of their names.
    pub fn used_directly(
        &self,
        schemas: &Schemas,
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
                _ => push_children(schemas, node, &mut open),
            }
        }
        used.sort_by(|a, b| (&a.name, a.node).cmp(&(&b.name, b.node)));
        used
    }
}

/// Adds a node and everything it refers to.
fn follow(schemas: &Schemas, node: NodeId, reached: &mut BTreeSet<NodeId>) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if reached.insert(node) {
            push_children(schemas, node, &mut open);
        }
    }
}

/// Adds the nodes that a node refers to, also through named types.
fn push_children(schemas: &Schemas, node: NodeId, open: &mut Vec<NodeId>) {
    match &schemas[node].shape {
        Shape::Array(array) => open.push(array.items),
        Shape::Tuple(tuple) => open.extend(tuple.parts()),
        Shape::Object(object) => {
            open.extend(object.properties.iter().map(|property| property.schema));
            if let Additional::Typed(node) = object.additional {
                open.push(node);
            }
        }
        Shape::Nullable(inner) => open.push(*inner),
        Shape::Union(union) => open.extend(union.variants.iter().map(|variant| variant.schema)),
        Shape::Mixed(variants) => open.extend(variants.iter().map(|variant| variant.schema)),
        Shape::Overlapping(members) => open.extend(members),
        Shape::Named(id) => open.push(schemas[*id].schema),
        Shape::Local(target) => open.push(*target),
        _ => {}
    }
}
