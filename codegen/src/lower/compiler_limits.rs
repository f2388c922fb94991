//! Refuses types that Rust's compiler cannot compile, because it recurses into them.

use crate::boxes::Boxes;
use crate::diagnostic::{Report, schemas as mistakes};
use crate::naming::TypeNames;
use crate::schema::{Additional, NodeId, Schemas, Shape, parts};

/// The most properties of an object. The compiler's stack overflows in a decoder of 4,000.
const MAX_PROPERTIES: usize = 2_000;

/// The most levels of types in types. The compiler follows 128 levels to find out if a value may be sent to another thread. The
/// others are for what a program holds its values in, such as futures.
const MAX_LEVELS: usize = 96;

/// The levels of the types of the standard library between a container and what it contains.
const LIST_LEVELS: usize = 3;
const MAP_LEVELS: usize = 5;
const BOX_LEVELS: usize = 2;

/// Reports the objects with too many properties, and the innermost schemas whose types have too many levels.
pub(super) fn check(schemas: &Schemas, types: &TypeNames, report: &mut Report) {
    for id in schemas.ids() {
        if let Shape::Object(object) = &schemas[id].shape
            && object.properties.len() > MAX_PROPERTIES
        {
            let (found, most) = (object.properties.len(), MAX_PROPERTIES);
            report.add(mistakes::too_many_properties(schemas[id].span, found, most));
        }
    }
    let boxes = Boxes::of(schemas, types);
    // The levels of the nodes that are known. A node inside itself adds none.
    let mut levels = vec![None; schemas.len()];
    for root in schemas.ids() {
        let mut open = vec![(root, false)];
        while let Some((node, are_parts_known)) = open.pop() {
            if !are_parts_known {
                if levels[node.position()].is_none() {
                    levels[node.position()] = Some(0);
                    open.push((node, true));
                    open.extend(parts(schemas, node).into_iter().map(|part| (part, false)));
                }
                continue;
            }
            let inside = inside(schemas, types, &boxes, node);
            let inside = inside
                .into_iter()
                .map(|(part, between)| (levels[part.position()].unwrap_or_default(), between));
            let (deepest, most) = inside.fold((0, 0), |(deepest, most), (part, between)| {
                (deepest.max(part), most.max(part + between))
            });
            let is_alias = matches!(schemas[node].shape, Shape::Named(_) | Shape::Local(_))
                && schemas[node].assertions.is_empty();
            let found = most + usize::from(types.get(node).is_some() && !is_alias);
            levels[node.position()] = Some(found);
            if found > MAX_LEVELS && deepest <= MAX_LEVELS {
                report.add(mistakes::too_many_levels(schemas[node].span, found, MAX_LEVELS));
            }
        }
    }
}

/// Returns the parts of a node, each with the levels between the two.
fn inside(
    schemas: &Schemas,
    types: &TypeNames,
    boxes: &Boxes,
    node: NodeId,
) -> Vec<(NodeId, usize)> {
    let held = |part: NodeId, between: usize| {
        let is_boxed = boxes.contain_in(schemas, types, node, part);
        (part, between + if is_boxed { BOX_LEVELS } else { 0 })
    };
    match &schemas[node].shape {
        Shape::Named(_) | Shape::Local(_) => {
            parts(schemas, node).into_iter().map(|target| (target, 0)).collect()
        }
        Shape::Array(array) => vec![(array.items, LIST_LEVELS)],
        Shape::Tuple(tuple) => {
            let places = tuple.places.iter().map(|&place| held(place, 1));
            places.chain(tuple.rest.iter().map(|rest| (rest.items, LIST_LEVELS + 1))).collect()
        }
        Shape::Object(object) => {
            let properties = object
                .properties
                .iter()
                .map(|property| held(property.schema, usize::from(!property.required)));
            let additional = match object.additional {
                Additional::Typed(value) => Some((value, MAP_LEVELS)),
                _ => None,
            };
            properties.chain(additional).collect()
        }
        Shape::Nullable(inner) => vec![held(*inner, 1)],
        _ => parts(schemas, node).into_iter().map(|part| held(part, 0)).collect(),
    }
}
