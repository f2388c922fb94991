//! Imports an OpenAPI 3.0 or 3.1 document as a file of the schema language. Operations become methods over HTTP, with tools
//! that call them. Input and output are texts; no files are read or written. A warning names each thing that the language
//! cannot express. An operation that cannot be expressed faithfully is left out.

mod api;
mod body;
mod document;
mod parameters;
mod read_write_only;
mod references;
mod responses;
mod schemas;
mod security_keys;
mod selection;
mod service;

use std::fmt;

use super::accept::{Draft, accept, check_size};
use super::listing::{hidden_payload, visible_texts};
use super::warnings::{Warning, Warnings};
use super::{Owner, Selection};
use api::{Api, Operation};
use document::Method;
use toolwright_codegen::Source;
use toolwright_codegen::internal::Json;

/// The settings of an import.
#[derive(Clone, Debug)]
pub struct ApiImport<'a> {
    /// The service of the methods and the toolset of their tools.
    pub owner: Owner<'a>,
    /// True if each tag gets its own toolset, named `TOOLSET_TAG`.
    pub by_tag: bool,
    /// The tags of the operations to import. Empty for all operations.
    pub tags: Vec<String>,
    /// The operations to import, by their names in the document, and their new names.
    pub selection: Selection,
    /// The other schema files of the project. The import uses no name that one of them has.
    pub other_files: &'a [Source],
}

/// The schema file made of an OpenAPI document.
#[derive(Clone, Debug)]
pub struct ImportedApi {
    /// The text of the file.
    pub text: String,
    /// The number of imported operations.
    pub operations: usize,
    /// The number of selected operations that could not be imported.
    pub left_out: usize,
    /// One warning for each kind of change to the operations.
    pub warnings: Vec<Warning>,
}

/// Nothing was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApiError {
    /// What was found, what was expected and what to do.
    pub message: String,
}

/// Writes an OpenAPI document as a schema file. `file` is the name of the text in messages.
///
/// # Errors
///
/// Returns an error if the text is neither JSON nor YAML, or is not an OpenAPI 3.0 or 3.1 document; if the selection does not
/// match its operations; or if no selected operation can be imported. Any other mistake is repaired or its operation left out,
/// with a warning.
pub fn openapi(
    text: &str,
    file: &str,
    import: &ApiImport<'_>,
) -> Result<ImportedApi, OpenApiError> {
    let mut warnings = Warnings::default();
    let api = Api::read(text, file, &mut warnings)?;
    let operations = api.operations(&mut warnings);
    let chosen = selection::choose(operations, import, &mut warnings)?;
    let names: Vec<String> = chosen.iter().map(|(name, _)| name.clone()).collect();
    let mut builder = document::Builder::new(&api, &names, &mut warnings);
    let mut methods: Vec<Method> = Vec::new();
    let mut bytes = 0;
    for (name, operation) in &chosen {
        let method = builder.method(name, operation);
        // Before an API whose operations share a long text takes much memory.
        bytes += method.as_ref().map_or(0, Method::text_bytes);
        check_size(bytes).map_err(OpenApiError::new)?;
        methods.extend(method);
    }
    if methods.is_empty() {
        return Err(none_of(chosen.len(), warnings));
    }
    let types = builder.into_types();
    let taken: Vec<Operation<'_>> = chosen.iter().map(|(_, operation)| *operation).collect();
    service::warn_of_rest(&api, &taken, &mut warnings);
    let mut document = Json::Object(document::document(&api, import, types, methods));
    if let Some(visible) = visible_texts(&document) {
        let message = "descriptions had invisible characters, which were replaced by U+FFFD; read them before the tools are \
                       used";
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
        other_files: import.other_files,
        is_foreign: &|_| Box::new(|_| false),
        had: &|_| false,
        keeps_name: &|_| false,
    };
    let document = accept(document, &draft, &mut warnings)
        .map_err(|lines| OpenApiError::new(lines.join("; ")))?;
    let operations = entries(&document, "methods").len();
    if operations == 0 {
        return Err(none_of(chosen.len(), warnings));
    }
    Ok(ImportedApi {
        text: super::document::text(&document),
        operations,
        left_out: chosen.len() - operations,
        warnings: warnings.into_vec(),
    })
}

fn none_of(count: usize, warnings: Warnings) -> OpenApiError {
    // Those before are about repairs.
    let last = warnings.into_vec().pop().map_or_else(String::new, |why| format!(": {why}"));
    OpenApiError::new(format!("none of {count} operations can be imported{last}"))
}

/// The text under a key, if there is one that is not blank.
fn text<'a>(value: &'a Json, key: &str) -> Option<&'a str> {
    match value.get(key) {
        Some(Json::String(text)) => Some(text.trim()).filter(|text| !text.is_empty()),
        _ => None,
    }
}

/// The entries of the object under a key; none if there is no object.
fn entries<'a>(value: &'a Json, key: &str) -> &'a [(String, Json)] {
    match value.get(key) {
        Some(Json::Object(entries)) => entries,
        _ => &[],
    }
}

/// Returns whether the value under a key is `true`.
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
