//! Imports the tools of an MCP server, or an OpenAPI document ([`openapi`]), as a file of the schema language. It takes text
//! and returns text and warnings: whatever the language cannot express is named in a warning. It reads no files and fetches
//! nothing.

mod accept;
mod defaults;
mod definitions;
mod dialect;
mod difference;
mod digest;
mod document;
mod edits;
mod equality;
mod existing;
mod field_clashes;
mod json_text;
mod keywords;
mod listing;
mod merge;
pub mod openapi;
mod patch;
mod provenance;
mod references;
mod repair;
mod schema_changes;
mod selection;
mod suspicions;
mod tool_names;
mod type_names;
mod types;
mod update_report;
mod warnings;
mod widen;
mod yaml_scalar;
mod yaml_text;

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fmt;

pub use difference::difference;
pub use existing::{Existing, ExistingError};
pub use json_text::JsonError;
pub use provenance::is_date;
pub use selection::Selection;
pub use suspicions::suspicions;
pub use toolwright::remote::Provenance;
pub use update_report::UpdateReport;
pub use warnings::Warning;

use accept::{Draft, accept};
use definitions::Definitions;
use dialect::Dialect;
use document::{Import, Tool};
use keywords::with_parts;
use listing::{List, Listed};
use references::Standalone;
use suspicions::Suspicion;
use tool_names::Unnamed;
use toolwright_codegen::Source;
use toolwright_codegen::internal::Json;
use types::{Origin, Types};
use warnings::{Subject, Warnings};

/// The service and the toolset that the imported tools belong to.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The service that owns them.
    pub service: &'a str,
    /// The toolset they are in, which is also the server's name in the file.
    pub toolset: &'a str,
}

/// The settings of an import.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The service and the toolset of the tools.
    pub owner: Owner<'a>,
    /// The tools to import, and their names.
    pub selection: Selection,
    /// The server's name and version, the protocol, and the date of the list, as far as they are known.
    pub from: Provenance<String>,
    /// The other schema files of the project. The import uses no name that one of them has.
    pub other_files: &'a [Source],
}

/// The schema file made of a list of tools.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The text of the file.
    pub text: String,
    /// The number of imported tools in it.
    pub tools: usize,
    /// One warning for each kind of change to the server's tools.
    pub warnings: Vec<Warning>,
    /// The changes since the last import. Empty for a new file.
    pub report: UpdateReport,
}

/// The text is not a list of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolListError {
    /// It is not JSON.
    Syntax(JsonError),
    /// It is JSON of another form.
    Form(String),
}

/// Nothing was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportError {
    /// The text is not a list of tools.
    List(ToolListError),
    /// The selection does not match the server's tools. One sentence for each mistake.
    Selection(Vec<String>),
    /// `check` refuses the file, and leaving out tools does not help. One sentence for each finding.
    Check(Vec<String>),
}

/// Writes a server's answer to `tools/list` as a schema file. The text is the result, the whole JSON-RPC response, or the
/// bare list of tools. All tools are imported under their own names.
///
/// # Errors
///
/// The same as those of [`mcp`].
pub fn tools_list(text: &str, owner: Owner<'_>) -> Result<Imported, ImportError> {
    let request = Request {
        owner,
        selection: Selection::default(),
        from: Provenance::default(),
        other_files: &[],
    };
    mcp(text, &request, None)
}

/// Writes a server's answer to `tools/list` as a schema file, or updates an existing file.
///
/// # Errors
///
/// Returns an error if the text is not JSON or not such an answer, if the selection does not match its tools, or if `check`
/// refuses the file. Any other mistake in a tool is repaired and named in a warning.
pub fn mcp(
    text: &str,
    request: &Request<'_>,
    existing: Option<&Existing>,
) -> Result<Imported, ImportError> {
    let (mut warnings, mut report) = (Warnings::default(), UpdateReport::default());
    let json =
        json_text::read(text).map_err(|error| ImportError::List(ToolListError::Syntax(error)))?;
    // Hidden characters are replaced, which has a warning of its own.
    suspicions::warn(&json.to_value(), &mut warnings, |suspicion| suspicion != Suspicion::Hidden);
    let list = listing::read(json, &mut warnings)
        .map_err(|error| ImportError::List(ToolListError::Form(error)))?;
    check_removed(&list.tools, request, existing, &mut report)?;
    let import = import(list, request, existing, &mut warnings, &mut report)?;
    let import = accepted(import, request, existing, &mut warnings)?;
    let tools = import.tools.len();
    let text = if let Some(existing) = existing {
        merged_text(existing, &import, request, &mut report, &mut warnings)?
    } else {
        let document = Json::Object(document::document(request.owner, &import));
        let recorded = document::with_records(document.clone(), &document, &import, request.owner);
        document::text(&recorded)
    };
    Ok(Imported { text, tools, warnings: warnings.into_vec(), report })
}

/// Checks the names of the service and the toolset of a new file before its list of tools is known.
///
/// # Errors
///
/// Fails if a name is reserved, or if another file of the project has it.
pub fn check_owner(owner: Owner<'_>, other_files: &[Source]) -> Result<(), ImportError> {
    let document = Json::Object(document::document(owner, &Import::default()));
    let draft = Draft {
        write: &document::text,
        other_files,
        is_foreign: &|_| Box::new(|_| false),
        had: &|_| false,
        keeps_name: &|_| false,
    };
    accept::check_owner(&document, &draft).map_err(ImportError::Check)
}

/// The parts of an import that `check` accepts in a file of their own. A new file is checked together with the other files of
/// the project.
fn accepted(
    import: Import,
    request: &Request<'_>,
    existing: Option<&Existing>,
    warnings: &mut Warnings,
) -> Result<Import, ImportError> {
    let document = Json::Object(document::document(request.owner, &import));
    let draft = Draft {
        write: &document::text,
        other_files: if existing.is_some() { &[] } else { request.other_files },
        is_foreign: &|_| Box::new(|_| false),
        had: &|_| false,
        keeps_name: &|_| false,
    };
    let document = accept(document, &draft, warnings).map_err(ImportError::Check)?;
    Ok(import.updated_from(&document, request.owner))
}

/// The updated text of an existing file, changed until `check` accepts it.
fn merged_text(
    existing: &Existing,
    import: &Import,
    request: &Request<'_>,
    report: &mut UpdateReport,
    warnings: &mut Warnings,
) -> Result<String, ImportError> {
    let (document, renames) = merge::merge(existing, import, request.owner, report);
    let patched =
        |document: &Json| patch::patch(&existing.text, &existing.root, document, &renames);
    let before = LazyCell::new(|| accept::codes(&existing.text, request.other_files));
    let draft = Draft {
        write: &|document| patched(document).text,
        other_files: request.other_files,
        is_foreign: &|document| merge::is_foreign(document, existing, request.owner),
        had: &|code| before.contains(code),
        keeps_name: &|path| existing.has(path),
    };
    let document = accept(document, &draft, warnings).map_err(ImportError::Check)?;
    let patched = patched(&document);
    report.is_rewritten = patched.is_rewritten;
    Ok(patched.text)
}

/// Reports the tools that the server no longer lists. Returns an error if the file has some and the request does not remove
/// them, as calls of them would fail.
fn check_removed(
    listed: &[Listed],
    request: &Request<'_>,
    existing: Option<&Existing>,
    report: &mut UpdateReport,
) -> Result<(), ImportError> {
    let Some(existing) = existing else { return Ok(()) };
    let listed: BTreeSet<&str> = listed.iter().map(|tool| tool.name.as_str()).collect();
    let is_listed = |name: &str| listed.contains(name);
    let gone = existing.tools().filter(|(remote, _)| !is_listed(remote));
    report.gone = gone.map(|(remote, _)| remote.to_owned()).collect();
    let left_out = existing.listed.keys().filter(|name| existing.local_name(name).is_none());
    report.gone_left_out = left_out.filter(|name| !is_listed(name)).cloned().collect();
    if report.gone.is_empty() || request.selection.remove_gone {
        return Ok(());
    }
    Err(ImportError::Selection(vec![format!(
        "the server no longer has {}; remove such tools with --remove-gone, or give them their new names under `remote`",
        report.gone.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]))
}

/// Reads the selected tools of a list, and gathers their types.
fn import(
    list: List,
    request: &Request<'_>,
    existing: Option<&Existing>,
    warnings: &mut Warnings,
    report: &mut UpdateReport,
) -> Result<Import, ImportError> {
    let names: Vec<&str> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
    let picked =
        request.selection.pick(&names, existing, report).map_err(ImportError::Selection)?;
    let listed = list.tools.iter().map(|tool| (tool.name.clone(), tool.recorded()));
    let listed = listed.collect();
    let taken: Vec<(Listed, Option<String>)> = list
        .tools
        .into_iter()
        .zip(picked.names)
        .zip(picked.taken)
        .filter_map(|(tool, taken)| taken.then_some(tool))
        .collect();
    let unnamed =
        taken.iter().map(|(tool, name)| Unnamed { remote: &tool.name, given: name.as_deref() });
    let unnamed: Vec<Unnamed<'_>> = unnamed.collect();
    let names = tool_names::assign(&unnamed, &request.selection.prefix, warnings);
    let mut types = Types::of(&names);
    let tools = names.into_iter().zip(taken);
    let tools = tools.map(|(name, (listed, _))| tool(name, listed, &mut types, warnings)).collect();
    let from = request.from.clone().or(list.from);
    Ok(Import { from, listed, tools, types: types.into_entries() })
}

fn tool(name: String, mut listed: Listed, types: &mut Types, warnings: &mut Warnings) -> Tool {
    let sides = [("args", listed.args.take()), ("result", listed.result.take())];
    let [args, result] = sides.map(|(side, raw)| {
        let mut subject = Subject { tool: &listed.name, side, warnings };
        let raw = if side == "args" { object_schema(raw, &mut subject) } else { raw? };
        let mut definitions = Definitions::default();
        let schema = normalize(&raw, &mut definitions, &mut subject);
        Some(types.lift(schema, &mut definitions, Origin { tool: &name, side }, warnings))
    });
    Tool { name, listed, args, result }
}

/// Translates a schema to 2020-12 and repairs common mistakes in it and its definitions.
fn normalize(raw: &Json, definitions: &mut Definitions, subject: &mut Subject<'_>) -> Standalone {
    let dialect = Dialect::New.of(raw, subject);
    let gathered = references::gather(raw, subject);
    let root = repaired(gathered.root, "", dialect, subject);
    let bodies = gathered.definitions.into_iter().map(|(name, body)| {
        let pointer = format!("/$defs/{name}");
        let dialect = dialect.inside(&body, &pointer, subject);
        (name, repaired(body, &pointer, dialect, subject))
    });
    let bodies = bodies.collect();
    definitions.add(Standalone { root, definitions: bodies }, subject)
}

/// Translates a schema of a dialect to 2020-12 and repairs each of its subschemas, which may be of others.
fn repaired(schema: Json, pointer: &str, dialect: Dialect, subject: &mut Subject<'_>) -> Json {
    let schema = with_parts(schema, pointer, &mut |part, at| {
        let dialect = dialect.inside(&part, at, subject);
        repaired(part, at, dialect, subject)
    });
    let schema = dialect.translate(schema, pointer, subject);
    repair::repair(schema, pointer, subject)
}

/// Adds `type: object` to a schema of arguments that has no type.
fn object_schema(raw: Option<Json>, subject: &mut Subject<'_>) -> Json {
    let mut entries = match raw {
        Some(Json::Object(entries)) => entries,
        _ => Vec::new(),
    };
    let typed = ["type", "$ref", "allOf", "anyOf", "oneOf"];
    if !entries.iter().any(|(key, _)| typed.contains(&key.as_str())) {
        subject.warn("", "arguments are an object, which the schema now says");
        entries.insert(0, ("type".to_owned(), Json::string("object")));
    }
    Json::Object(entries)
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(error) => error.fmt(f),
            Self::Selection(mistakes) | Self::Check(mistakes) => f.write_str(&mistakes.join("; ")),
        }
    }
}

impl std::error::Error for ImportError {}

impl fmt::Display for ToolListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(f),
            Self::Form(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ToolListError {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
