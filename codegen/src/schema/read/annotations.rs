//! Reads the annotations of a schema (2020-12 validation, 7 and 9).

use std::collections::BTreeSet;

use super::places::Root;
use super::{Place, SchemaReader};
use crate::diagnostic::schemas;
use crate::schema::keyword::{Expected, annotated, formats};
use crate::schema::{Annotations, number};
use crate::yaml::{Entry, Node, Value};

impl SchemaReader<'_> {
    /// Reads all annotations of one schema.
    pub(super) fn annotations(&mut self, place: Place<'_>, root: &mut Root) -> Annotations {
        let mut read = Annotations::NONE;
        for Entry { key, value } in place.text.entries().unwrap_or_default() {
            let word = key.value.as_str();
            if word == "format" {
                read.format = self.unchecked_format(value);
            }
            if !annotated(word).is_some_and(|expected| self.fits(expected, value)) {
                continue;
            }
            let text = || value.as_str().map(str::to_owned);
            let flag = matches!(value.value, Value::Boolean(true));
            match word {
                "title" => read.title = text(),
                "description" => read.description = text(),
                "default" => read.default = Some(value.to_json()),
                "examples" => read.examples = items(value).iter().map(Node::to_json).collect(),
                "deprecated" => read.deprecated = flag,
                "readOnly" => read.read_only = flag,
                "writeOnly" => read.write_only = flag,
                "$anchor" => {
                    if let Some(name) = text() {
                        self.anchored(&name, place.id, value.span, root);
                        read.anchor = Some(name);
                    }
                }
                "$schema" => read.dialect = true,
                "contentEncoding" | "contentMediaType" | "contentSchema" => {
                    read.content.push((key.value.clone(), value.to_json()));
                }
                "x-enum-names" => read.enum_names = self.enum_names(place.text, value),
                _ => {}
            }
        }
        read
    }

    /// Reads the names of the integers in an `enum`.
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

    /// Reads an unknown format, which is only an annotation.
    fn unchecked_format(&mut self, node: &Node) -> Option<String> {
        if !self.fits(Expected::Format, node) {
            return None;
        }
        let format = node.as_str()?.to_owned();
        if formats().any(|known| known == format) {
            return None;
        }
        self.report.add(schemas::unknown_format(node.span, &format, formats()));
        Some(format)
    }
}

/// Returns the items of a list; none for any other value.
fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::Sequence(items) => items,
        _ => &[],
    }
}
