//! The types of arguments, payloads and results, and where they stand.

use super::Planner;
use crate::naming::{Identifier, Scope};
use crate::schema::{NodeId, Shape};

/// The type of arguments, a payload or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootType {
    /// A type of some `types` module.
    Named(Identifier),
    /// Any JSON value.
    Value,
    /// `null`
    Unit,
}

impl RootType {
    /// Whether it stands in some `types` module.
    pub fn is_named(&self) -> bool {
        matches!(self, Self::Named(_))
    }
}

/// A root type and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedType {
    /// The path of its module; the `types` beside, where there is none.
    pub path: Option<String>,
    /// The type.
    pub ty: RootType,
}

impl LocatedType {
    /// Whether it is named in the `types` beside.
    pub fn is_local(&self) -> bool {
        self.path.is_none() && self.ty.is_named()
    }
}

impl Planner<'_> {
    /// The type of arguments, a payload or a result.
    pub(super) fn root_type(self, node: NodeId) -> RootType {
        if let Some(name) = self.names.get(node) {
            return RootType::Named(name.name.clone());
        }
        match &self.project.schemas[node].shape {
            Shape::Named(id) => self.root_type(self.project.schemas[*id].schema),
            Shape::Null => RootType::Unit,
            _ => RootType::Value,
        }
    }

    /// A type with the path of its module, unless that is the `types` of the scope itself.
    pub(super) fn located_type(self, node: NodeId, own: Option<Scope>) -> LocatedType {
        let node = self.named(node);
        let foreign = self.names.get(node).filter(|name| Some(name.scope) != own);
        LocatedType {
            path: foreign.map(|name| self.types_path(name.scope)),
            ty: self.root_type(node),
        }
    }

    /// The node behind references that have no type of their own.
    fn named(self, node: NodeId) -> NodeId {
        match self.project.schemas[node].shape {
            Shape::Named(id) if self.names.get(node).is_none() => self.project.schemas[id].schema,
            _ => node,
        }
    }
}
