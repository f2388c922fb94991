//! Reads choices among schemas. Their members may refer to schemas that have not been read yet, so [`super::settle`] decides
//! on their types.

use toolwright::value::Kind;

use super::places::Root;
use super::settle::{PendingChoice, unlimited};
use super::{Place, SchemaReader};
use crate::schema::{Keyword, MixedVariant, Node, NodeId, Shape};
use crate::yaml;

impl SchemaReader<'_> {
    /// Reads a choice among schemas.
    pub(super) fn choice(&mut self, place: Place<'_>, keyword: Keyword, root: &mut Root) -> Shape {
        if let Some(node) = place.text.get(keyword.word())
            && let Some(members) = self.schemas(keyword, node, place, root)
        {
            self.pending.open.push(place.id);
            self.pending.choices.push(PendingChoice { node: place.id, keyword, members });
        }
        Shape::Any
    }

    /// Reads an `allOf` with one member, which means the same as that member.
    pub(super) fn wrapped(&mut self, place: Place<'_>, root: &mut Root) -> Shape {
        self.choice(place, Keyword::AllOf, root)
    }

    /// Reads `type` with several words. Limits beside it stay assertions, but they decide on the formats of numbers.
    pub(super) fn several_kinds(&mut self, kinds: &[Kind], text: &yaml::Node) -> Shape {
        let has = |kind: Kind| kinds.contains(&kind);
        // Every integer is a number.
        let of_value =
            |kind: &&Kind| **kind != Kind::Null && !(**kind == Kind::Integer && has(Kind::Number));
        let variants: Vec<MixedVariant> = kinds
            .iter()
            .filter(of_value)
            .map(|&kind| MixedVariant { kind, schema: self.any_of_kind(kind, text) })
            .collect();
        let shape = match variants.as_slice() {
            [only] => self.schemas[only.schema].shape.clone(),
            _ => Shape::Mixed(variants),
        };
        if has(Kind::Null) { self.nullable(shape, text.span) } else { shape }
    }

    fn any_of_kind(&mut self, kind: Kind, text: &yaml::Node) -> NodeId {
        let items = self.schemas.reserve(text.span);
        let id = self.schemas.reserve(text.span);
        let node = self.schemas[id].clone();
        let mut shape = unlimited(kind, items);
        match &mut shape {
            Shape::Integer(rules) => rules.format = self.numbers(text, true).format,
            Shape::Number(rules) => {
                rules.is_double = self.is_default_double(rules, text.span)
                    && self.numbers(text, false).is_within_doubles();
            }
            _ => {}
        }
        self.schemas.set(id, Node { shape, ..node });
        id
    }
}
