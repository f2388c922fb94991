//! Finds the types of other crates that a scope uses. A toolset re-exports them.

use std::collections::BTreeSet;

use super::{Scope, TypeName, TypeNames};
use crate::model::{Project, ServiceId, ToolsetId};
use crate::schema::{NodeId, Schemas, parts, reached};

impl TypeNames {
    /// Returns the types of other crates that a toolset's schemas use, also indirectly, in the order of their names.
    pub fn foreign(&self, project: &Project, toolset: ToolsetId) -> Vec<&TypeName> {
        let own = Scope::Toolset(toolset);
        let reached = reached(&project.schemas, project.payloads(toolset));
        let names = reached.iter().filter_map(|&node| self.get(node));
        let mut foreign: Vec<_> = names.filter(|name| name.scope != own).collect();
        foreign.sort_by(|a, b| (&a.name, a.node).cmp(&(&b.name, b.node)));
        foreign
    }

    /// Returns the types of other crates that a service's own types use directly, so that its `types` module imports them, in the
    /// order of their names.
    pub fn imported(&self, project: &Project, service: ServiceId) -> Vec<&TypeName> {
        let scope = Scope::Service(service);
        self.used_directly(&project.schemas, scope, self.of(scope).map(|name| name.node))
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
                _ => open.extend(parts(schemas, node)),
            }
        }
        used.sort_by(|a, b| (&a.name, a.node).cmp(&(&b.name, b.node)));
        used
    }
}
