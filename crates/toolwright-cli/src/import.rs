//! `toolwright import`: a schema file from what something else knows about its tools. Says what can be imported; never
//! imports anything itself.

mod file;
mod flags;
mod list;
#[cfg(feature = "mcp")]
mod live;
mod mcp;

use clap::Subcommand;

pub(crate) use mcp::run;

/// Whose tools are imported.
#[derive(Subcommand)]
pub(crate) enum Source {
    /// The tools of an MCP server: asked from the server, or from its saved answer to `tools/list`.
    Mcp(Box<mcp::Mcp>),
}
