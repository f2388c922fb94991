//! What a schema says about itself (2020-12 validation, 7 and 9). Never changes what is accepted.

use std::collections::BTreeSet;

use toolwright::format::{Format, IntegerFormat};

use super::places::Root;
use super::{Place, SchemaReader};
use crate::diagnostic::schemas;
use crate::schema::{Annotations, DIALECT, DOUBLE, number};
use crate::yaml::{Entry, Node, Value};

impl SchemaReader<'_> {
    /// Reads all annotations of one schema.
    pub(super) fn annotations(&mut self, place: Place<'_>, root: &mut Root) -> Annotations {
        let mut read = Annotations::NONE;
        for Entry { key, value } in place.text.entries().unwrap_or_default() {
            match key.value.as_str() {
                "title" => read.title = self.text(value),
                "description" => read.description = self.text(value),
                "default" => read.default = Some(value.to_json()),
                "examples" => match &value.value {
                    Value::Sequence(items) => {
                        read.examples = items.iter().map(Node::to_json).collect();
                    }
                    _ => self.expected("a list of examples", value),
                },
                "deprecated" => read.deprecated = self.boolean(value),
                "readOnly" => read.read_only = self.boolean(value),
                "writeOnly" => read.write_only = self.boolean(value),
                "format" => read.format = self.unchecked_format(value),
                "$anchor" => {
                    if let Some(name) = self.text(value) {
                        self.anchored(&name, place.id, root);
                        read.anchor = Some(name);
                    }
                }
                "$comment" => {
                    self.text(value);
                }
                "$schema" => {
                    self.dialect(value);
                    read.dialect = true;
                }
                "contentEncoding" | "contentMediaType" | "contentSchema" => {
                    read.content.push((key.value.clone(), value.to_json()));
                }
                "x-enum-names" => read.enum_names = self.enum_names(place.text, value),
                _ => {}
            }
        }
        read
    }

    /// The names of the integers of the `enum` beside them.
    fn enum_names(&mut self, text: &Node, node: &Node) -> Vec<String> {
        let is_integer =
            |node: &&Node| matches!(&node.value, Value::Number(text) if number::is_whole(text));
        let values = text.get("enum").map(items).unwrap_or_default();
        let integers = values.iter().filter(is_integer).count();
        let names: Vec<&str> = items(node).iter().filter_map(Node::as_str).collect();
        let different: BTreeSet<&str> =
            names.iter().copied().filter(|name| !name.is_empty()).collect();
        let counts = [values.len(), items(node).len(), names.len(), different.len()];
        if integers == 0 || counts.iter().any(|count| *count != integers) {
            self.report.add(schemas::wrong_enum_names(node.span));
            return Vec::new();
        }
        names.into_iter().map(str::to_owned).collect()
    }

    fn text(&mut self, node: &Node) -> Option<String> {
        if node.as_str().is_none() {
            self.expected("a string", node);
        }
        node.as_str().map(str::to_owned)
    }

    fn boolean(&mut self, node: &Node) -> bool {
        if !matches!(node.value, Value::Boolean(_)) {
            self.expected("`true` or `false`", node);
        }
        matches!(node.value, Value::Boolean(true))
    }

    /// A format that nothing checks.
    fn unchecked_format(&mut self, node: &Node) -> Option<String> {
        let format = self.text(node)?;
        let is_of_integers = || IntegerFormat::from_name(&format).is_some();
        if format == DOUBLE || Format::from_name(&format).is_some() || is_of_integers() {
            return None;
        }
        self.report.add(schemas::unknown_format(node.span, &format));
        Some(format)
    }

    fn dialect(&mut self, node: &Node) {
        if node.as_str().map(|uri| uri.trim_end_matches('#')) != Some(DIALECT) {
            self.report.add(schemas::unsupported_dialect(node.span, DIALECT));
        }
    }
}

/// The items of a list; none of anything else.
fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::Sequence(items) => items,
        _ => &[],
    }
}
