//! Parses schema files into documents: the keys and values of the language as written, with their spans.
//! [`crate::lower`] resolves names.
//!
//! `mapping!` declares each mapping of the language once, both for the reader and for the editors' schema.

mod document;
#[cfg(feature = "language-schema")]
mod language;
#[cfg(feature = "language-schema")]
mod patterns;
mod read;
mod values;
#[cfg(feature = "language-schema")]
mod vocabulary;

use crate::diagnostic::Report;
use crate::parallel;
use crate::source::Sources;
use crate::yaml;

pub use document::{
    Agent, Document, Http, HttpQuery, McpBacking, Method, MethodError, Tool, ToolDetails, Toolset,
};
#[cfg(feature = "language-schema")]
pub use language::language_schema;
pub use values::{Disclosure, Entries, HttpAnswer, Literal, SchemaText, Word};

/// Parses every file, reports mistakes in keys and values, and returns the documents that could be parsed.
pub fn parse(sources: &Sources, report: &mut Report) -> Vec<Document> {
    let readable: Vec<_> = sources.readable().collect();
    let read = parallel::map(&readable, |(id, source)| {
        let mut report = Report::default();
        let node = yaml::parse(*id, &source.text, &mut report);
        (node.and_then(|node| document::read(&node, &mut report)), report)
    });
    let mut documents = Vec::new();
    for (document, found) in read {
        documents.extend(document);
        report.extend(found);
    }
    documents
}
