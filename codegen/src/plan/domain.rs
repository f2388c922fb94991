//! The options for named types: which of them are domain types, defined by the user, and which macros each derives.

use std::collections::BTreeMap;

use crate::options::{DomainType, RustPath, TypeOptions};
use crate::schema::{NodeId, Schemas, aliased};

/// The options of named types, by node.
#[derive(Debug)]
pub(super) struct TypeOptionsMap<'a>(pub(super) BTreeMap<NodeId, &'a TypeOptions>);

impl TypeOptionsMap<'_> {
    /// Returns the macros that this type derives, besides those of all types.
    pub(super) fn derive(&self, node: NodeId) -> &[RustPath] {
        self.0.get(&node).map_or(&[], |options| &options.derive)
    }

    /// Returns the domain type that replaces a named type.
    pub(super) fn domain(&self, node: NodeId) -> Option<&DomainType> {
        self.0.get(&node)?.domain.as_ref()
    }

    /// Returns the node that a domain type replaces, if the given node is that one or an alias of it.
    pub(super) fn behind(&self, schemas: &Schemas, node: NodeId) -> Option<NodeId> {
        if self.0.is_empty() {
            return None;
        }
        aliased(schemas, node).find(|node| self.domain(*node).is_some())
    }
}
