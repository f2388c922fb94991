//! A remote MCP server's list of tools to a file of the schema language. Pure: text in, text and
//! warnings out; whatever has no place in the language is named in a warning. Never reads a file, never
//! fetches.

mod defaults;
mod dialect;
mod document;
mod fitting;
mod json_text;
mod keywords;
mod listing;
mod mend;
pub mod openapi;
mod references;
mod tool_names;
mod types;
mod warnings;
mod yaml_scalar;
mod yaml_text;

use std::fmt;

pub use json_text::NotJson;
pub use warnings::Warning;

use crate::schema::Json;
use dialect::Dialect;
use document::Tool;
use keywords::rebuild;
use listing::Listed;
use references::Standalone;
use types::{Origin, Types};
use warnings::{Subject, Warnings};

/// What the imported tools are to belong to.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The service that owns them.
    pub service: &'a str,
    /// The toolset they are in; the server is known by the same name.
    pub toolset: &'a str,
}

/// A list of tools as a schema file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The file.
    pub text: String,
    /// How many tools it has: as many as the list.
    pub tools: usize,
    /// What was changed or left out.
    pub warnings: Vec<Warning>,
}

/// Why a text is no list of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAToolList {
    /// It is not JSON.
    Syntax(NotJson),
    /// It is JSON that says something else.
    Form(String),
}

/// Writes the answer of a server to `tools/list` as a schema file: the result alone, the whole JSON-RPC
/// response, or the bare list of tools.
///
/// # Errors
///
/// When the text is not JSON, or not such an answer. Whatever else is wrong with a tool is mended, and
/// named in a warning.
pub fn tools_list(text: &str, owner: Owner<'_>) -> Result<Imported, NotAToolList> {
    let json = json_text::read(text).map_err(NotAToolList::Syntax)?;
    let mut warnings = Warnings::default();
    let listed = listing::tools(json, &mut warnings).map_err(NotAToolList::Form)?;
    let remote: Vec<&str> = listed.iter().map(|tool| tool.name.as_str()).collect();
    let names = tool_names::assign(&remote, &mut warnings);
    let mut types = Types::of(&names);
    let tools = names.into_iter().zip(listed);
    let tools: Vec<Tool> =
        tools.map(|(name, listed)| tool(name, listed, &mut types, &mut warnings)).collect();
    let count = tools.len();
    let document = document::document(owner, types.into_entries(), tools);
    let text = yaml_text::document(&document);
    Ok(Imported { text, tools: count, warnings: warnings.into_vec() })
}

fn tool(name: String, mut listed: Listed, types: &mut Types, warnings: &mut Warnings) -> Tool {
    let sides = [("args", listed.args.take()), ("result", listed.result.take())];
    let [args, result] = sides.map(|(side, raw)| {
        let mut subject = Subject { tool: &listed.name, side, warnings };
        let raw = if side == "args" { object_schema(raw, &mut subject) } else { raw? };
        let schema = understood(&raw, &mut subject);
        Some(types.lift(schema, Origin { tool: &name, side }, warnings))
    });
    Tool { name, listed, args, result }
}

/// A schema in the words of 2020-12, its slips mended.
fn understood(raw: &Json, subject: &mut Subject<'_>) -> Standalone {
    let dialect = Dialect::of(raw, subject);
    let gathered = references::gather(raw, subject);
    let mut settle = |schema: Json, pointer: &str| {
        rebuild(schema, pointer, &mut |part, at| {
            let part = dialect.translate(part, at, subject);
            mend::mend(part, at, subject)
        })
    };
    let root = settle(gathered.root, "");
    let definitions = gathered.definitions.into_iter().map(|(name, body)| {
        let body = settle(body, &format!("/$defs/{name}"));
        (name, body)
    });
    let settled = Standalone { definitions: definitions.collect(), root };
    defaults::mend(settled, subject)
}

/// Arguments are an object, also where the schema does not say so.
fn object_schema(raw: Option<Json>, subject: &mut Subject<'_>) -> Json {
    let mut entries = match raw {
        Some(Json::Object(entries)) => entries,
        _ => Vec::new(),
    };
    let says = ["type", "$ref", "allOf", "anyOf", "oneOf"];
    if !entries.iter().any(|(key, _)| says.contains(&key.as_str())) {
        subject.warn("", "arguments are an object, which the schema now says");
        entries.insert(0, ("type".to_owned(), Json::string("object")));
    }
    Json::Object(entries)
}

impl fmt::Display for NotAToolList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(f),
            Self::Form(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for NotAToolList {}
