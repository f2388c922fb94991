//! `toolwright import`: writes a schema file from the tools of an MCP server or from an OpenAPI document.

mod file;
pub(crate) mod flags;
pub(crate) mod list;
#[cfg(feature = "mcp")]
mod live;
pub(crate) mod mcp;
pub(crate) mod openapi;

use clap::Subcommand;
use toolwright_import::Provenance;

use crate::exit::Exit;

/// The kind of source to import from.
#[derive(Subcommand)]
pub(crate) enum Source {
    /// Import the tools of an MCP server, or of its saved response to `tools/list`.
    Mcp(Box<mcp::Mcp>),
    /// Import the operations of an OpenAPI document as methods over HTTP and tools.
    Openapi(Box<openapi::OpenApi>),
}

/// A tool list with its source.
pub(crate) struct ToolList {
    /// The response to `tools/list`.
    pub(crate) json: String,
    /// The server's name, version and protocol.
    pub(crate) from: Provenance<String>,
    /// The name of the source in messages.
    pub(crate) source: String,
}

/// The exit code and the message of a failed import.
pub(crate) type Failure = (Exit, String);
