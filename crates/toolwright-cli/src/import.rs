//! `toolwright import`: a schema file from what something else knows about its tools. Says what can be imported; never
//! imports anything itself.

mod file;
mod flags;
mod list;
#[cfg(feature = "mcp")]
mod live;
mod mcp;
pub(crate) mod openapi;

use clap::Subcommand;
use toolwright_import::Provenance;

use crate::end::End;

pub(crate) use mcp::run;

/// What is imported.
#[derive(Subcommand)]
pub(crate) enum Source {
    /// The tools of an MCP server: asked from the server, or from its saved answer to `tools/list`.
    Mcp(Box<mcp::Mcp>),
    /// The operations of an HTTP API, from its OpenAPI document: methods over HTTP, and tools on them.
    Openapi(Box<openapi::OpenApi>),
}

/// A list, and what is known of who gave it.
struct Listed {
    /// An answer to `tools/list`.
    json: String,
    /// What the server said of itself.
    from: Provenance<String>,
    /// What the list is called in messages.
    source: String,
}

/// Why there is none.
type Failure = (End, String);
