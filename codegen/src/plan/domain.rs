//! What the options say of named types: which are types of the user's, and what each derives.

use std::collections::BTreeMap;

use crate::options::{DomainType, RustPath, TypeOptions};
use crate::schema::{NodeId, Schemas, aliased};

/// What the options say of named types, by the nodes of these.
#[derive(Debug)]
pub(super) struct OptionsOf<'a>(pub(super) BTreeMap<NodeId, &'a TypeOptions>);

impl OptionsOf<'_> {
    /// The macros that a type derives beside those that all types derive.
    pub(super) fn derive(&self, node: NodeId) -> &[RustPath] {
        self.0.get(&node).map_or(&[], |options| &options.derive)
    }

    /// The type of the user's in the place of a named one.
    pub(super) fn domain(&self, node: NodeId) -> Option<&DomainType> {
        self.0.get(&node)?.domain.as_ref()
    }

    /// The named type in whose place there is one of the user's and that a node is another name of, or is itself.
    pub(super) fn behind(&self, schemas: &Schemas, node: NodeId) -> Option<NodeId> {
        if self.0.is_empty() {
            return None;
        }
        aliased(schemas, node).find(|node| self.domain(*node).is_some())
    }
}
