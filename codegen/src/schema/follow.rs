//! Following references from node to node. Never reads what an object holds.

use super::{NodeId, ObjectShape, Shape};
use crate::model::Project;

/// The node that a chain of references ends in; the node itself where it is none.
///
/// A chain that never ends is refused while lowering; there, the walk stops somewhere on it.
pub fn resolved(project: &Project, node: NodeId) -> NodeId {
    let mut at = node;
    for _ in 0..=project.schemas.len() {
        at = match project.schemas[at].shape {
            Shape::Named(name) => project[name].schema,
            Shape::Local(target) => target,
            _ => return at,
        };
    }
    at
}

/// The object that a node describes, through references.
pub fn as_object(project: &Project, node: NodeId) -> Option<&ObjectShape> {
    match &project.schemas[resolved(project, node)].shape {
        Shape::Object(object) => Some(object),
        _ => None,
    }
}
