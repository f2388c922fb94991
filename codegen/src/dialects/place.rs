//! Finds where a place of a published schema is written.

use crate::schema::{
    Additional, NodeId, ObjectShape, Operand, Schemas, Shape, definitions, resolved,
};
use crate::source::Span;

/// Returns the span of a place in a schema of a tool: that of the innermost property on the way there. Without one, it
/// is the name of the type that the place is in, or the span beside the schema.
pub(super) fn span_of(schemas: &Schemas, (root, span): (NodeId, Span), pointer: &str) -> Span {
    let unescaped = |segment: &str| segment.replace("~1", "/").replace("~0", "~");
    let mut segments = pointer.split('/').skip(1).map(unescaped);
    let (mut node, mut span) = (root, span);
    while let Some(keyword) = segments.next() {
        let next = if keyword == "$defs" {
            segments.next().and_then(|key| definition(schemas, root, &key))
        } else {
            part(schemas, node, &keyword, &mut segments)
        };
        let Some((inner, inner_span)) = next else { break };
        (node, span) = (inner, inner_span.unwrap_or(span));
    }
    span
}

/// Returns the node of a definition, and where it is written.
fn definition(schemas: &Schemas, root: NodeId, key: &str) -> Option<(NodeId, Option<Span>)> {
    let all = definitions(schemas, root);
    let (_, node) = all.into_iter().find(|(name, _)| name == key)?;
    let named = schemas.type_of(node).map(|id| &schemas[id]);
    Some((node, Some(named.map_or(schemas[node].span, |named| named.name.span))))
}

/// Returns the node that a keyword of another one leads to, and its span if it is a property. A name or an index after the
/// keyword is taken from `segments`.
fn part(
    schemas: &Schemas,
    node: NodeId,
    keyword: &str,
    segments: &mut impl Iterator<Item = String>,
) -> Option<(NodeId, Option<Span>)> {
    let target = match schemas[resolved(schemas, node)].shape {
        Shape::Nullable(inner) if keyword != "anyOf" => resolved(schemas, inner),
        _ => resolved(schemas, node),
    };
    let mut index = || segments.next()?.parse::<usize>().ok();
    let inner = match (keyword, &schemas[target].shape) {
        ("properties", Shape::Object(object)) => {
            let name = segments.next()?;
            let property = object.properties.iter().find(|property| property.name.value == name)?;
            return Some((property.schema, Some(property.name.span)));
        }
        (
            "additionalProperties",
            Shape::Object(ObjectShape { additional: Additional::Typed(values), .. }),
        ) => *values,
        ("items", Shape::Array(array)) => array.items,
        ("items", Shape::Tuple(tuple)) => tuple.rest.as_ref()?.items,
        ("prefixItems", Shape::Tuple(tuple)) => *tuple.places.get(index()?)?,
        ("anyOf", Shape::Nullable(inner)) => index().filter(|index| *index == 0).map(|_| *inner)?,
        ("anyOf", Shape::Mixed(variants)) => variants.get(index()?)?.schema,
        ("oneOf", Shape::Union(union)) => union.variants.get(index()?)?.schema,
        _ => {
            let assertions = schemas[node].assertions.iter().chain(&schemas[target].assertions);
            let mut named = assertions.filter(|assertion| assertion.keyword.word() == keyword);
            match &named.next()?.operand {
                Operand::Plain(_) => return None,
                Operand::Schema(inner) => *inner,
                Operand::Schemas(members) => *members.get(index()?)?,
                Operand::Named(members) => {
                    let name = segments.next()?;
                    members.iter().find(|(key, _)| *key == name)?.1
                }
            }
        }
    };
    Some((inner, None))
}
