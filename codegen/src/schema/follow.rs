//! Follows references between nodes, and finds the nodes of the parts of a value.

use std::collections::BTreeSet;

use toolwright::value::Kind;

use super::{Additional, Assertion, Node, NodeId, ObjectShape, Schemas, Shape, number};
use crate::json::Json;

/// Follows a chain of references to its end; returns the node itself if it is not a reference.
///
/// For references in a circle, which lowering reports, this returns one of the nodes in the circle.
pub fn resolved(schemas: &Schemas, node: NodeId) -> NodeId {
    let mut current = node;
    for _ in 0..=schemas.len() {
        current = match schemas[current].shape {
            Shape::Named(name) => schemas[name].schema,
            Shape::Local(target) => target,
            _ => return current,
        };
    }
    current
}

/// Returns a node and the nodes that it is an alias of.
pub fn aliased(schemas: &Schemas, node: NodeId) -> impl Iterator<Item = NodeId> {
    let target = |node: &NodeId| {
        let Node { shape, assertions, .. } = &schemas[*node];
        match shape {
            _ if !assertions.is_empty() => None,
            Shape::Named(name) => Some(schemas[*name].schema),
            Shape::Local(target) => Some(*target),
            _ => None,
        }
    };
    std::iter::successors(Some(node), target).take(schemas.len() + 1)
}

/// Returns the object that a node describes, also through references.
pub fn as_object(schemas: &Schemas, node: NodeId) -> Option<&ObjectShape> {
    match &schemas[resolved(schemas, node)].shape {
        Shape::Object(object) => Some(object),
        _ => None,
    }
}

/// Returns the kind of the values that a schema accepts, if all of them have the same kind.
pub fn kind_of(schemas: &Schemas, node: NodeId) -> Option<Kind> {
    Some(match &schemas[resolved(schemas, node)].shape {
        Shape::Null | Shape::Const(Json::Null) => Kind::Null,
        Shape::Boolean | Shape::Const(Json::Boolean(_)) => Kind::Boolean,
        Shape::String(_) | Shape::Enum(_) | Shape::Const(Json::String(_)) => Kind::String,
        Shape::Integer(_) | Shape::IntegerEnum(_) => Kind::Integer,
        Shape::Number(_) | Shape::Const(Json::Number(_)) => Kind::Number,
        Shape::Array(_) | Shape::Tuple(_) | Shape::Const(Json::Array(_)) => Kind::Array,
        Shape::Object(_) | Shape::Union(_) | Shape::Const(Json::Object(_)) => Kind::Object,
        Shape::Constants(values) => {
            let kinds: BTreeSet<Kind> =
                values.iter().map(|value| kind_of_value(&value.value.value)).collect();
            let kinds: Vec<Kind> = kinds.into_iter().collect();
            match kinds[..] {
                [kind] | [Kind::Integer, kind @ Kind::Number] => kind,
                _ => return None,
            }
        }
        Shape::Overlapping(choice) => return choice.kind,
        Shape::Any | Shape::Nullable(_) | Shape::Mixed(_) | Shape::Named(_) | Shape::Local(_) => {
            return None;
        }
    })
}

/// Returns the narrowest kind of a value.
pub(crate) fn kind_of_value(value: &Json) -> Kind {
    match value {
        Json::Null => Kind::Null,
        Json::Boolean(_) => Kind::Boolean,
        Json::Number(text) if number::is_whole(text) => Kind::Integer,
        Json::Number(_) => Kind::Number,
        Json::String(_) => Kind::String,
        Json::Array(_) => Kind::Array,
        Json::Object(_) => Kind::Object,
    }
}

/// Returns the nodes for the same values or for parts of them.
pub fn parts(schemas: &Schemas, node: NodeId) -> Vec<NodeId> {
    match &schemas[node].shape {
        Shape::Array(array) => vec![array.items],
        Shape::Tuple(tuple) => tuple.parts().collect(),
        Shape::Overlapping(choice) => choice.members.clone(),
        Shape::Object(object) => {
            let additional = match object.additional {
                Additional::Typed(node) => Some(node),
                _ => None,
            };
            let properties = object.properties.iter().map(|property| property.schema);
            properties.chain(additional).collect()
        }
        Shape::Nullable(node) | Shape::Local(node) => vec![*node],
        Shape::Named(id) => vec![schemas[*id].schema],
        Shape::Union(union) => union.variants.iter().map(|variant| variant.schema).collect(),
        Shape::Mixed(variants) => variants.iter().map(|variant| variant.schema).collect(),
        _ => Vec::new(),
    }
}

/// Returns nodes and everything that they refer to, without what occurs only in assertions.
pub fn reached(schemas: &Schemas, roots: impl IntoIterator<Item = NodeId>) -> BTreeSet<NodeId> {
    closure(roots, |node| parts(schemas, node))
}

/// Returns a node and everything that it refers to, also in assertions.
pub(super) fn reached_with_assertions(schemas: &Schemas, root: NodeId) -> BTreeSet<NodeId> {
    closure([root], |node| {
        let asserted = schemas[node].assertions.iter().flat_map(Assertion::schemas);
        parts(schemas, node).into_iter().chain(asserted).collect()
    })
}

fn closure(
    roots: impl IntoIterator<Item = NodeId>,
    parts: impl Fn(NodeId) -> Vec<NodeId>,
) -> BTreeSet<NodeId> {
    let (mut reached, mut waiting) = (BTreeSet::new(), Vec::from_iter(roots));
    while let Some(node) = waiting.pop() {
        if reached.insert(node) {
            waiting.extend(parts(node));
        }
    }
    reached
}
