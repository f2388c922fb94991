//! The types of arguments, payloads and results, and the paths of their modules.

use super::Plans;
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
    /// Returns whether it is a type of some `types` module.
    pub fn is_named(&self) -> bool {
        matches!(self, Self::Named(_))
    }
}

/// A root type with the path of its module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedType {
    /// The path of its module, or `None` for the `types` module of the same crate.
    pub path: Option<String>,
    /// The type.
    pub ty: RootType,
}

impl LocatedType {
    /// Returns whether it is a type of the `types` module of the same crate.
    pub fn is_local(&self) -> bool {
        self.path.is_none() && self.ty.is_named()
    }
}

impl Plans<'_> {
    /// Returns the type of arguments, a payload or a result.
    pub(super) fn root_type(&self, node: NodeId) -> RootType {
        if let Some(name) = self.names.get(node) {
            return RootType::Named(name.name.clone());
        }
        match &self.project.schemas[node].shape {
            Shape::Named(id) => self.root_type(self.project.schemas[*id].schema),
            Shape::Null => RootType::Unit,
            _ => RootType::Value,
        }
    }

    /// Returns a type with the path of its module; types of the scope `own` have no path.
    pub(super) fn located_type(&self, node: NodeId, own: Option<Scope>) -> LocatedType {
        let node = self.named(node);
        let foreign = self.names.get(node).filter(|name| Some(name.scope) != own);
        LocatedType {
            path: foreign.map(|name| self.types_path(name.scope)),
            ty: self.root_type(node),
        }
    }

    /// Returns the target of a reference that has no type of its own, or else the node itself.
    fn named(&self, node: NodeId) -> NodeId {
        match self.project.schemas[node].shape {
            Shape::Named(id) if self.names.get(node).is_none() => self.project.schemas[id].schema,
            _ => node,
        }
    }
}
