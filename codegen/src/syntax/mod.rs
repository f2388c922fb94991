//! What was written: every key and value of the language with its span. Never any meaning: whether a
//! name exists or fits is [`crate::lower`]'s business.
//!
//! Each mapping of the language is declared once, by `mapping!`; the reader and the schema for
//! editors both come from that declaration, so neither can know a key that the other does not.

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
pub use values::{Entries, HttpAnswer, Literal, SchemaText, Word};

/// Reads every file; what is wrong with their form is reported, and what could be read is given.
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
