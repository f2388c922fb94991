//! Objects and arrays. Never what a property's schema says: that is read like any other.

use super::{Root, SchemaReader, reserve};
use crate::diagnostic::Diagnostic;
use crate::schema::{Additional, ArrayShape, NodeId, ObjectShape, Property};
use crate::source::Spanned;
use crate::yaml::{Node, Value};

impl SchemaReader<'_> {
    /// Reads an object (2020-12 core, 10.3.2; validation, 6.5).
    pub(super) fn object(&mut self, text: &Node, root: &Root) -> ObjectShape {
        let required = self.required(text);
        let mut properties = self.properties(text, &required, root);
        let additional = self.additional(text, root);
        for name in &required {
            if !properties.iter().any(|property| property.name.value == name.value) {
                properties.extend(self.undescribed(name, additional));
            }
        }
        ObjectShape { properties, additional }
    }

    fn properties(
        &mut self,
        text: &Node,
        required: &[Spanned<String>],
        root: &Root,
    ) -> Vec<Property> {
        let Some(node) = text.get("properties") else { return Vec::new() };
        let Some(entries) = node.entries() else {
            self.expected("a mapping from names to schemas", node);
            return Vec::new();
        };
        let mut properties = Vec::new();
        for entry in entries {
            properties.push(Property {
                name: entry.key.clone(),
                schema: self.subschema(&entry.value, root),
                required: required.iter().any(|name| name.value == entry.key.value),
            });
        }
        properties
    }

    fn required(&mut self, text: &Node) -> Vec<Spanned<String>> {
        let Some(node) = text.get("required") else { return Vec::new() };
        let Value::Sequence(items) = &node.value else {
            self.expected("a list of property names", node);
            return Vec::new();
        };
        let mut names: Vec<Spanned<String>> = Vec::new();
        for item in items {
            match item.as_str() {
                None => self.expected("a property name", item),
                Some(name) if names.iter().any(|known| known.value == name) => {
                    let message = format!("`{name}` is required twice");
                    self.report.add(Diagnostic::error("repeated-item", item.span, message));
                }
                Some(name) => names.push(Spanned::new(name.to_owned(), item.span)),
            }
        }
        names
    }

    /// A required property that `properties` does not describe.
    fn undescribed(&mut self, name: &Spanned<String>, rest: Additional) -> Option<Property> {
        let schema = match rest {
            Additional::Open => reserve(self.project, name.span),
            Additional::Typed(node) => node,
            Additional::Closed => {
                let message = format!(
                    "`{}` is required, but no property of that name is allowed",
                    name.value
                );
                let finding = Diagnostic::error("impossible-property", name.span, message)
                    .help("describe it under `properties`, or do not require it");
                self.report.add(finding);
                return None;
            }
        };
        Some(Property { name: name.clone(), schema, required: true })
    }

    fn additional(&mut self, text: &Node, root: &Root) -> Additional {
        let Some(node) = text.get("additionalProperties") else { return Additional::Open };
        match &node.value {
            Value::Boolean(false) => Additional::Closed,
            Value::Boolean(true) => Additional::Open,
            Value::Mapping(entries) if entries.is_empty() => Additional::Open,
            _ => Additional::Typed(self.subschema(node, root)),
        }
    }

    /// Reads an array (2020-12 core, 10.3.1; validation, 6.4).
    pub(super) fn array(&mut self, text: &Node, root: &Root) -> ArrayShape {
        let min_items = self.count(text, "minItems");
        let max_items = self.count(text, "maxItems");
        self.check_counts(text, "maxItems", min_items, max_items);
        let items = self.items(text, root);
        ArrayShape { items, min_items, max_items }
    }

    fn items(&mut self, text: &Node, root: &Root) -> NodeId {
        match text.get("items") {
            Some(items) => self.subschema(items, root),
            None => reserve(self.project, text.span),
        }
    }
}
