//! `toolwright import`: writes a schema file from the tools of an MCP server or from an OpenAPI document.

mod file;
mod flags;
mod list;
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
struct ToolList {
    /// The response to `tools/list`.
    json: String,
    /// The server's name, version and protocol.
    from: Provenance<String>,
    /// The name of the source in messages.
    source: String,
}

/// The exit code and the message of a failed import.
type Failure = (Exit, String);
