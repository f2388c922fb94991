//! Reads JSON Schemas that stand alone, such as those of a lock.

use super::read::{KnownTypes, Pending, SchemaReader};
use super::{NodeId, Schemas};
use crate::diagnostic::Report;
use crate::source::{Source, Sources};
use crate::yaml;

/// Reads JSON Schemas that refer to no types of a project. Returns their nodes in the given order, or the message of the first
/// mistake.
///
/// # Errors
///
/// If a text is not JSON, or not a schema that the language accepts.
pub fn read_texts(texts: &[&str]) -> Result<(Schemas, Vec<NodeId>), String> {
    // Sources are sorted by their paths.
    let source = |(index, text): (usize, &&str)| Source {
        path: format!("{index:08}"),
        text: (*text).to_owned(),
    };
    let sources = Sources::new(texts.iter().enumerate().map(source).collect());
    let exact_integers = sources.iter().map(|(id, _)| id).collect();
    let (mut schemas, mut pending) = (Schemas::default(), Pending::default());
    let (mut report, names) = (Report::default(), KnownTypes::default());
    let mut roots = Vec::new();
    for (id, source) in sources.iter() {
        let Some(text) = yaml::parse(id, &source.text, &mut report) else { break };
        let mut reader = SchemaReader {
            schemas: &mut schemas,
            names: &names,
            service: "",
            exact_integers: &exact_integers,
            pending: &mut pending,
            report: &mut report,
            errors_below: 0,
        };
        roots.push(reader.schema_or_name(&text));
    }
    pending.settle(&mut schemas, &mut report);
    if report.has_errors() || roots.len() < texts.len() {
        let findings = report.into_findings();
        let message = findings.into_iter().next().map(|finding| finding.message);
        return Err(message.unwrap_or_else(|| "expected a JSON Schema".to_owned()));
    }
    Ok((schemas, roots))
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
