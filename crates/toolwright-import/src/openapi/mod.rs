//! Imports an OpenAPI 3.0 or 3.1 document as a file of the schema language: operations become methods over HTTP, with tools
//! that call them. It takes text and returns text and warnings. What the language cannot express is named in a warning; an
//! operation that cannot be expressed faithfully is left out.

mod answers;
mod api;
mod body;
mod document;
mod parameters;
mod read_write_only;
mod references;
mod schemas;
mod selection;
mod service;

use std::fmt;

use super::accept::{Draft, accept};
use super::listing::{hidden_payload, visible_words};
use super::warnings::{Warning, Warnings};
use super::{Owner, Selection};
use api::{Api, Operation};
use document::Method;
use toolwright_codegen::Source;
use toolwright_codegen::internal::Json;

/// What is made of a document, and of which part of it.
#[derive(Clone, Debug)]
pub struct ApiImport<'a> {
    /// The service whose methods the operations become, and the toolset their tools are in.
    pub owner: Owner<'a>,
    /// Whether each tag gets a toolset of its own, named after both.
    pub by_tag: bool,
    /// Tags; operations with none of them are not taken. All are, where there are none.
    pub tags: Vec<String>,
    /// Which operations, by their names in the document, and under which names.
    pub selection: Selection,
    /// The other schema files of the project: no name is given twice among all of them.
    pub beside: &'a [Source],
}

/// An OpenAPI document as a schema file.
#[derive(Clone, Debug)]
pub struct ImportedApi {
    /// The file.
    pub text: String,
    /// How many operations it has.
    pub operations: usize,
    /// How many that were asked for could not be taken.
    pub left_out: usize,
    /// What was changed or left out.
    pub warnings: Vec<Warning>,
}

/// Why nothing is made of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApiError {
    /// What was found and what was expected.
    pub message: String,
}

/// Writes an OpenAPI document as a schema file. `file` is what messages call the text.
///
/// # Errors
///
/// When the text is neither JSON nor YAML, no OpenAPI document of a version that is known, names none of what is selected,
/// or has no operation that can be taken. Whatever else is wrong with an operation is repaired or leaves it out, and is named
/// in a warning.
pub fn openapi(
    text: &str,
    file: &str,
    import: &ApiImport<'_>,
) -> Result<ImportedApi, OpenApiError> {
    let mut warnings = Warnings::default();
    let api = Api::read(text, file)?;
    let operations = api.operations(&mut warnings);
    let chosen = selection::choose(operations, import, &mut warnings)?;
    let names: Vec<String> = chosen.iter().map(|(name, _)| name.clone()).collect();
    let mut maker = document::Maker::new(&api, &names, &mut warnings);
    let mut methods: Vec<Method> = Vec::new();
    for (name, operation) in &chosen {
        methods.extend(maker.method(name, operation));
    }
    if methods.is_empty() {
        let count = chosen.len();
        return Err(OpenApiError::new(format!(
            "none of {count} operations can be taken: {}",
            first(warnings)
        )));
    }
    let types = maker.into_types();
    let taken: Vec<Operation<'_>> = chosen.iter().map(|(_, operation)| *operation).collect();
    service::warn_of_rest(&api, &taken, &mut warnings);
    let mut document = Json::Object(document::document(&api, import, types, methods));
    if let Some(visible) = visible_words(&document) {
        let message = "descriptions had characters that nobody can see, which were replaced by U+FFFD; read them before the \
                       tools are used";
        warnings.add(message);
        document = visible;
    }
    for section in ["types", "methods"] {
        for (name, value) in entries(&document, section) {
            if let Some(message) = hidden_payload([(name.as_str(), value)]) {
                warnings.add(message);
            }
        }
    }
    let draft = Draft {
        write: &super::document::text,
        beside: import.beside,
        is_foreign: &|_, _| false,
        is_settled: &|_| false,
    };
    let document = accept(document, &draft, &mut warnings)
        .map_err(|lines| OpenApiError::new(lines.join("; ")))?;
    let operations = entries(&document, "methods").len();
    Ok(ImportedApi {
        text: super::document::text(&document),
        operations,
        left_out: chosen.len() - operations,
        warnings: warnings.into_vec(),
    })
}

fn first(warnings: Warnings) -> String {
    let all = warnings.into_vec();
    all.first().map_or_else(|| "there is none".to_owned(), ToString::to_string)
}

/// The text of a key, where there is one that says something.
fn text<'a>(value: &'a Json, key: &str) -> Option<&'a str> {
    match value.get(key) {
        Some(Json::String(text)) if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    }
}

/// The entries behind a key.
fn entries<'a>(value: &'a Json, key: &str) -> &'a [(String, Json)] {
    match value.get(key) {
        Some(Json::Object(entries)) => entries,
        _ => &[],
    }
}

/// Whether a key says `true`.
fn is_set(value: &Json, key: &str) -> bool {
    value.get(key) == Some(&Json::Boolean(true))
}

impl OpenApiError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for OpenApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OpenApiError {}
