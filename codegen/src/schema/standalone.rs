//! Reads JSON Schemas that stand alone, such as those of a lock.

use toolwright::Value;

use super::read::{KnownTypes, Pending, SchemaReader};
use super::{NodeId, Schemas};
use crate::diagnostic::Report;
use crate::source::{Source, Sources, Span, Spanned};
use crate::yaml;

/// Reads JSON Schemas that refer to no types of a project. Returns their nodes in the given order, or the message of the first
/// mistake.
///
/// # Errors
///
/// If one is not a schema that the language accepts.
pub fn read_values(values: &[Value]) -> Result<(Schemas, Vec<NodeId>), String> {
    // Sources are sorted by their paths.
    let source = |index: usize| Source { path: format!("{index:08}"), text: String::new() };
    let sources = Sources::new((0..values.len()).map(source).collect());
    let exact_integers = sources.iter().map(|(id, _)| id).collect();
    let (mut schemas, mut pending) = (Schemas::default(), Pending::default());
    let (mut report, names) = (Report::default(), KnownTypes::default());
    let mut roots = Vec::new();
    for ((source, _), value) in sources.iter().zip(values) {
        let mut reader = SchemaReader {
            schemas: &mut schemas,
            names: &names,
            service: "",
            exact_integers: &exact_integers,
            pending: &mut pending,
            report: &mut report,
            errors_below: 0,
        };
        let schema = node(value, Span { source, start: 0, end: 0 });
        roots.push(reader.schema_or_name(&schema));
    }
    pending.settle(&mut schemas, &mut report);
    if report.has_errors() {
        let findings = report.into_findings();
        let message = findings.into_iter().next().map(|finding| finding.message);
        return Err(message.unwrap_or_else(|| "expected a JSON Schema".to_owned()));
    }
    Ok((schemas, roots))
}

/// Converts a JSON value, all of whose parts get the same span.
fn node(value: &Value, span: Span) -> yaml::Node {
    let value = match value {
        Value::Null => yaml::Value::Null,
        Value::Boolean(value) => yaml::Value::Boolean(*value),
        Value::Number(number) => yaml::Value::Number(number.to_string()),
        Value::String(text) => yaml::Value::String(text.clone()),
        Value::Array(items) => {
            yaml::Value::Sequence(items.iter().map(|item| node(item, span)).collect())
        }
        Value::Object(entries) => {
            let entry = |(key, value): (&str, &Value)| yaml::Entry {
                key: Spanned::new(key.to_owned(), span),
                value: node(value, span),
            };
            yaml::Value::Mapping(entries.iter().map(entry).collect())
        }
    };
    yaml::Node { span, value }
}

impl Schemas {
    /// Removes all annotations, so that schemas for the same values have the same published text.
    #[must_use]
    pub fn without_annotations(mut self) -> Self {
        for node in &mut self.nodes {
            node.annotations = super::BoxedAnnotations::default();
        }
        self
    }
}
