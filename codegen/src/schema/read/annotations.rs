//! What a schema says about itself (2020-12 validation, 7 and 9). Never changes what is accepted.

use super::SchemaReader;
use crate::diagnostic::Diagnostic;
use crate::schema::Annotations;
use crate::yaml::{Entry, Node, Value};

/// Formats that will be checked; until then they are refused, so that nobody believes they are.
const CHECKED_FORMATS: [&str; 12] = [
    "date-time",
    "date",
    "time",
    "duration",
    "uuid",
    "ipv4",
    "ipv6",
    "uri",
    "email",
    "hostname",
    "regex",
    "json-pointer",
];

/// The dialect that is read.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

impl SchemaReader<'_> {
    /// Reads all annotations of one schema.
    pub(super) fn annotations(&mut self, entries: &[Entry]) -> Annotations {
        let mut read = Annotations::default();
        for Entry { key, value } in entries {
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
                "format" => read.format = self.format(value),
                "$comment" => {
                    self.text(value);
                }
                "$schema" => self.dialect(value),
                _ => {}
            }
        }
        read
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

    fn format(&mut self, node: &Node) -> Option<String> {
        let format = self.text(node)?;
        let finding = if CHECKED_FORMATS.contains(&format.as_str()) {
            let message = format!("checked formats such as `{format}` are not supported yet");
            Diagnostic::error("unsupported-format", node.span, message)
                .help("leave the format out; a `pattern` can stand in for it")
        } else {
            let message = format!("the format `{format}` is not known, so nothing checks it");
            Diagnostic::warning("unknown-format", node.span, message)
        };
        self.report.add(finding);
        Some(format)
    }

    fn dialect(&mut self, node: &Node) {
        if node.as_str().map(|uri| uri.trim_end_matches('#')) != Some(DIALECT) {
            let message = "schemas are read as JSON Schema 2020-12 only";
            let finding = Diagnostic::error("unsupported-dialect", node.span, message)
                .help(format!("leave `$schema` out, or write {DIALECT}"));
            self.report.add(finding);
        }
    }
}
