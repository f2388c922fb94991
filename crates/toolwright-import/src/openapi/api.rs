//! Reads an OpenAPI document: its version, its operations, and the targets of its references.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::super::dialect::Dialect;
use super::super::json_text;
use super::super::listing::{MAX_KEY_BYTES, has_short_keys};
use super::super::warnings::Warnings;
use super::references::Root;
use super::security_keys::credentials;
use super::{OpenApiError, read_write_only, text};
use toolwright_codegen::diagnostic::{Diagnostic, Report};
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::yaml;
use toolwright_codegen::render::one_line;
use toolwright_codegen::{Source, Sources};

/// The keys of a path item that are operations, and their methods.
const VERBS: [(&str, &str); 8] = [
    ("get", "GET"),
    ("head", "HEAD"),
    ("post", "POST"),
    ("put", "PUT"),
    ("patch", "PATCH"),
    ("delete", "DELETE"),
    ("options", "OPTIONS"),
    ("trace", "TRACE"),
];

/// The beginning of the names of OpenAPI's own dialects, which are 2020-12 with annotations (OpenAPI 3.1, "Schema Object").
const OWN_DIALECTS: &str = "https://spec.openapis.org/oas/3.1/";

/// The most values that references may copy: those to parameters, bodies and responses, and those to schemas inside others.
const MAX_COPIED: usize = 100_000;

/// An OpenAPI document.
pub(super) struct Api {
    pub(super) root: Root,
    /// True if its version is 3.0, whose schemas are not JSON Schema 2020-12.
    pub(super) is_3_0: bool,
    /// The dialect of schemas without `$schema`: that of `jsonSchemaDialect`, if it is known.
    pub(super) dialect: Dialect,
    /// The named schemas that differ between requests and responses.
    pub(super) read_write_only: BTreeSet<String>,
    /// The places and names of the parameters that are credentials.
    pub(super) credentials: BTreeSet<(String, String)>,
    /// How many values references have copied.
    copied: Cell<usize>,
}

/// One operation.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    /// The request's method.
    pub(super) verb: &'static str,
    /// The path as the document writes it.
    pub(super) path: &'a str,
    /// The path item, which has what all operations of the path share.
    pub(super) item: &'a Json,
    /// The operation object.
    pub(super) definition: &'a Json,
}

impl Api {
    pub(super) fn read(
        text: &str,
        file: &str,
        warnings: &mut Warnings,
    ) -> Result<Self, OpenApiError> {
        let root = value(text, file)?;
        if !has_short_keys(&root, MAX_KEY_BYTES) {
            return Err(OpenApiError::new(format!(
                "the keys that lead to a value of this document have more than {MAX_KEY_BYTES} bytes together; expected shorter \
                 names"
            )));
        }
        let root = Root::new(root);
        let version = root.get("openapi").map(|version| match version {
            Json::String(version) => version.clone(),
            other => other.to_string(),
        });
        let is_3_0 = match version.as_deref() {
            Some(version) if version.starts_with("3.0") => true,
            Some(version) if version.starts_with("3.1") => false,
            Some(other) => {
                return Err(OpenApiError::new(format!(
                    "this is OpenAPI {other}, expected 3.0 or 3.1; convert the document first"
                )));
            }
            None if root.get("swagger").is_some() => {
                return Err(OpenApiError::new(
                    "this is Swagger 2, expected OpenAPI 3.0 or 3.1; convert the document first",
                ));
            }
            None => {
                return Err(OpenApiError::new(
                    "this is not an OpenAPI document: it has no `openapi: 3.0.x` or `openapi: 3.1.x`",
                ));
            }
        };
        let dialect = match root.get("jsonSchemaDialect") {
            Some(Json::String(uri)) if !is_3_0 && !uri.starts_with(OWN_DIALECTS) => {
                Dialect::named(uri).unwrap_or_else(|| {
                    warnings.add(format!(
                        "`jsonSchemaDialect: {uri}` is not known, so schemas are read as 2020-12"
                    ));
                    Dialect::New
                })
            }
            _ => Dialect::New,
        };
        let read_write_only = read_write_only::names(&root);
        let credentials = credentials(&root);
        Ok(Self { root, is_3_0, dialect, read_write_only, credentials, copied: Cell::new(0) })
    }

    /// Every operation in the order of the document.
    pub(super) fn operations(&self, warnings: &mut Warnings) -> Vec<Operation<'_>> {
        let mut found = Vec::new();
        for (path, item) in self.root.entries("paths") {
            if path.starts_with("x-") {
                continue;
            }
            let item = match self.copied(item) {
                Ok(item) => item,
                Err(why) => {
                    warnings.at(path, format!("this path was left out: {why}"));
                    continue;
                }
            };
            let Json::Object(entries) = item else { continue };
            for (key, definition) in entries {
                let verb = VERBS.iter().find(|(known, _)| known == key);
                if let (Some((_, verb)), Json::Object(_)) = (verb, definition) {
                    let operation = Operation { verb, path, item, definition };
                    for key in operation.wrongly_typed_keys() {
                        let message = format!("`{key}` was ignored, as it is not text");
                        warnings.at(operation.label(), message);
                    }
                    found.push(operation);
                }
            }
        }
        found
    }

    /// Returns whether a schema, or one that it refers to, sets a key to `true`.
    pub(super) fn sets(&self, schema: &Json, key: &'static str) -> bool {
        self.root.sets(schema, key)
    }

    /// Does the same as [`follow`](Self::follow), for a path, parameter, body or response that becomes a part of operations. Returns
    /// an error if references have copied too much.
    pub(super) fn copied<'a>(&'a self, value: &'a Json) -> Result<&'a Json, String> {
        let target = self.follow(value)?;
        if value.get("$ref").is_some() {
            self.count_copied(target)?;
        }
        Ok(target)
    }

    /// Counts the values of a target of a reference that is copied. Returns an error if references have copied too much.
    pub(super) fn count_copied(&self, target: &Json) -> Result<(), String> {
        let left = MAX_COPIED.saturating_sub(self.copied.get());
        let size = size(target, left + 1);
        self.copied.set(self.copied.get() + size);
        if size > left {
            return Err(format!(
                "the references of the document copy more than {MAX_COPIED} values; move large schemas to `components/schemas`"
            ));
        }
        Ok(())
    }

    /// Follows the reference of a parameter, body, response or path item, if it is one.
    pub(super) fn follow<'a>(&'a self, value: &'a Json) -> Result<&'a Json, String> {
        self.root.follow(value)
    }
}

/// Returns the number of values in a value, or `most` if there are more. A text counts once more for each KiB, as each copy of it is
/// trimmed.
fn size(value: &Json, most: usize) -> usize {
    let parts: Box<dyn Iterator<Item = &Json>> = match value {
        Json::Object(entries) => Box::new(entries.iter().map(|(_, part)| part)),
        Json::Array(items) => Box::new(items.iter()),
        _ => Box::new(std::iter::empty()),
    };
    let mut found = match value {
        Json::String(text) => most.min(1 + (text.len() >> 10)),
        _ => 1,
    };
    for part in parts {
        if found >= most {
            return most;
        }
        found += size(part, most - found);
    }
    found
}

impl Operation<'_> {
    /// The name of the operation in warnings.
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.verb, self.path)
    }

    /// The `operationId`.
    pub(super) fn id(&self) -> Option<&str> {
        text(self.definition, "operationId")
    }

    /// The name that the method's name is made of: the `operationId`, otherwise the HTTP method and path.
    pub(super) fn wanted_name(&self) -> String {
        let fallback = || format!("{} {}", self.verb.to_ascii_lowercase(), self.path);
        self.id().map_or_else(fallback, str::to_owned)
    }

    /// The keys among `operationId` and `tags` whose values are not text.
    fn wrongly_typed_keys(&self) -> impl Iterator<Item = &'static str> {
        let is_text = |value: &Json| matches!(value, Json::String(_));
        let is_list = |value: &Json| matches!(value, Json::Array(all) if all.iter().all(is_text));
        let wrong = |key, is_right: &dyn Fn(&Json) -> bool| {
            self.definition.get(key).is_some_and(|value| !is_right(value)).then_some(key)
        };
        [wrong("operationId", &is_text), wrong("tags", &is_list)].into_iter().flatten()
    }

    /// The tags of the operation.
    pub(super) fn tags(&self) -> Vec<&str> {
        let Some(Json::Array(tags)) = self.definition.get("tags") else { return Vec::new() };
        let tags = tags.iter().filter_map(|tag| match tag {
            Json::String(tag) if !tag.trim().is_empty() => Some(tag.as_str()),
            _ => None,
        });
        tags.collect()
    }
}

/// Parses a text as JSON if it begins with `{`, otherwise as YAML.
fn value(text: &str, file: &str) -> Result<Json, OpenApiError> {
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        return json_text::read(text).map_err(|error| OpenApiError::new(error.to_string()));
    }
    let sources = Sources::new(vec![Source { path: file.to_owned(), text: text.to_owned() }]);
    let mut report = Report::default();
    let read = sources.iter().next();
    let node = read.and_then(|(id, source)| yaml::parse_foreign(id, &source.text, &mut report));
    let has_errors = report.has_errors();
    let findings = report.into_findings();
    match node {
        Some(node) if !has_errors => Ok(node.to_json()),
        _ => {
            let line = |finding: &Diagnostic| {
                let help = finding.help.iter().map(|help| format!(" ({help})"));
                one_line(finding, &sources) + &help.collect::<String>()
            };
            let lines: Vec<String> = findings.iter().take(5).map(line).collect();
            Err(OpenApiError::new(format!("this is not valid YAML: {}", lines.join("; "))))
        }
    }
}
