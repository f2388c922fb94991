//! Finds the property that tells the objects of a choice apart: each requires it, with a different constant string.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::Json;
use crate::schema::{
    Node, NodeId, ObjectShape, Operand, Property, Schemas, Shape, UnionShape, Variant, resolved,
};
use crate::source::Spanned;

/// The most properties of an object that are considered as tags. It may have thousands of constants, and be a member of
/// thousands of choices.
const MAX_CANDIDATES: usize = 16;

/// The first properties of objects that may be tags, each by its position. An object is only searched once for all choices.
#[derive(Debug, Default)]
pub(super) struct Candidates(BTreeMap<NodeId, Vec<usize>>);

impl Candidates {
    /// Returns the properties of an object that may be its tag; `None` if the node is not an object.
    fn of<'s>(&mut self, schemas: &'s Schemas, node: NodeId) -> Option<Vec<&'s Property>> {
        let Shape::Object(ObjectShape { properties, .. }) = &schemas[node].shape else {
            return None;
        };
        let positions = self.0.entry(node).or_insert_with(|| {
            let may_be_tag = |position: &usize| may_be_tag(schemas, &properties[*position]);
            (0..properties.len()).filter(may_be_tag).take(MAX_CANDIDATES).collect()
        });
        Some(positions.iter().map(|&position| &properties[position]).collect())
    }
}

/// Returns the union of objects that require the same property, with a different constant string in each.
pub(super) fn tagged_union(
    schemas: &Schemas,
    members: &[NodeId],
    candidates: &mut Candidates,
) -> Option<UnionShape> {
    let nodes: Vec<NodeId> = members.iter().map(|&member| resolved(schemas, member)).collect();
    // The same object twice has the same constants twice.
    if nodes.iter().collect::<BTreeSet<_>>().len() < nodes.len() {
        return None;
    }
    let objects: Option<Vec<_>> = nodes.iter().map(|&node| candidates.of(schemas, node)).collect();
    let objects = objects?;
    objects.first()?.iter().find_map(|candidate| {
        let tag = &candidate.name.value;
        let mut values = BTreeSet::new();
        let mut variants = Vec::new();
        for (&schema, properties) in members.iter().zip(&objects) {
            let property = properties.iter().find(|property| property.name.value == *tag)?;
            let value = tag_value(schemas, property)?;
            if !values.insert(value) {
                return None;
            }
            let span = schemas[property.schema].span;
            variants.push(Variant { tag: Spanned::new(value.clone(), span), schema });
        }
        Some(UnionShape { tag: tag.clone(), variants })
    })
}

/// Returns the constant string of a required property.
fn tag_value<'a>(schemas: &'a Schemas, property: &Property) -> Option<&'a String> {
    match &schemas[property.schema].shape {
        Shape::Const(Json::String(value)) if property.required => Some(value),
        _ => None,
    }
}

/// Returns whether a property is a required constant string, or will be one when its choice with one member is settled.
fn may_be_tag(schemas: &Schemas, property: &Property) -> bool {
    let Node { shape, assertions, .. } = &schemas[property.schema];
    let is_open = match (shape, assertions.as_slice()) {
        (Shape::Any, [only]) => {
            matches!(&only.operand, Operand::Schemas(members) if members.len() == 1)
        }
        _ => false,
    };
    tag_value(schemas, property).is_some() || (property.required && is_open)
}
