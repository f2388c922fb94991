//! `anyOf` and `oneOf`: nullable schemas and tagged unions. What a member refers to may not be read
//! yet, so what depends on it is left to [`super::settle`].

use super::settle::{Choice, PendingNull, PendingUnion};
use super::{Root, SchemaReader, blank, reserve};
use crate::diagnostic::Diagnostic;
use crate::schema::{NodeId, Shape, UnionShape};
use crate::yaml::{Node, Value};

impl SchemaReader<'_> {
    /// Reads a choice among schemas.
    pub(super) fn choice(
        &mut self,
        id: NodeId,
        text: &Node,
        keyword: &'static str,
        root: &Root,
    ) -> Shape {
        let Some(node) = text.get(keyword) else { return Shape::Any };
        let Value::Sequence(members) = &node.value else {
            self.expected("a list of schemas", node);
            return Shape::Any;
        };
        let (nulls, others): (Vec<&Node>, Vec<&Node>) =
            members.iter().partition(|member| is_null(member));
        for null in &nulls {
            self.subschema(null, root);
        }
        let choice = Choice { exclusive: keyword == "oneOf", span: node.span };
        match (others.as_slice(), nulls.len()) {
            ([], 1) => Shape::Null,
            ([only], 0) => self.only_member(id, only, root),
            ([only], 1) => {
                let inner = self.subschema(only, root);
                self.pending.nulls.push(PendingNull { node: id, inner, choice });
                Shape::Nullable(inner)
            }
            ([_, _, ..], 0) => self.union(id, &others, choice, root),
            ([_, _, ..], 1) => {
                let inner = reserve(self.project, text.span);
                let shape = self.union(inner, &others, choice, root);
                self.project.schemas.set(inner, crate::schema::Node { shape, ..blank(text.span) });
                Shape::Nullable(inner)
            }
            _ => {
                let message = format!("this `{keyword}` accepts nothing, or `null` twice");
                self.report.add(Diagnostic::error("unsupported-union", node.span, message));
                Shape::Any
            }
        }
    }

    /// A choice of one is that one; what the member says about itself gives way to the choice.
    fn only_member(&mut self, id: NodeId, member: &Node, root: &Root) -> Shape {
        let Some(entries) = member.entries() else {
            self.subschema(member, root);
            return Shape::Any;
        };
        self.check_keywords(entries, false);
        self.annotations(entries);
        self.shape(id, member, root)
    }

    fn union(&mut self, id: NodeId, members: &[&Node], choice: Choice, root: &Root) -> Shape {
        let variants = members.iter().map(|member| self.subschema(member, root)).collect();
        self.pending.unions.push(PendingUnion { node: id, variants, choice });
        // Its tag is found when every schema is read.
        Shape::Union(UnionShape { tag: String::new(), variants: Vec::new() })
    }
}

/// Whether a schema is `{type: "null"}` and nothing else that asserts.
fn is_null(member: &Node) -> bool {
    let word = member.get("type").is_some_and(|node| match &node.value {
        Value::Null => true,
        Value::String(word) => word == "null",
        _ => false,
    });
    let annotation = |key: &str| ["type", "title", "description", "$comment"].contains(&key);
    let entries = member.entries().unwrap_or_default();
    word && entries.iter().all(|entry| annotation(&entry.key.value))
}
