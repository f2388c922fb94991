//! Serves toolwright tools over the Model Context Protocol, on rmcp, and uses those of other servers:
//! the module `client`, a feature of its own. Makes no definitions: names, words, schemas and codecs
//! are the specs'.
//!
//! Both eras of the protocol are spoken at once: the revisions that begin with `initialize`, and
//! 2026-07-28, whose requests stand alone. A generated crate brings the server of a schema file as a
//! function; what it returns is served on standard streams ([`McpServer::serve_stdio`]) or, with the
//! feature `http-server`, over streamable HTTP (`McpServer::serve_http`, `McpServer::into_router`).
//!
//! Without generated code it takes a spec and what runs it:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use toolwright::{BoxFuture, Executor, Map, Registrar, Tool, ToolCall, ToolResult, ToolSpec, Value};
//! use toolwright_mcp::{McpServer, ServerSpec};
//!
//! #[derive(Clone, Copy)]
//! struct Echo;
//!
//! impl Tool for Echo {
//!     type Args = Map<Value>;
//!     type Result = Map<Value>;
//!     const SPEC: &'static ToolSpec = {
//!         static SPEC: ToolSpec = ToolSpec::of::<Echo>("echo")
//!             .with_description("Says it again.")
//!             .with_toolset("lab")
//!             .with_service("lab")
//!             .with_result_schema(r#"{"type":"object"}"#);
//!         &SPEC
//!     };
//! }
//!
//! static TOOLS: &[&ToolSpec] = &[Echo::SPEC];
//! static SERVER: ServerSpec = ServerSpec { name: "lab", version: "1.0.0", toolsets: &[TOOLS] };
//!
//! struct Lab;
//!
//! impl Executor for Lab {
//!     fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
//!         match call.tool() {
//!             "echo" => call.run(Echo, |args| async move { Ok(args) }),
//!             _ => call.not_found(TOOLS),
//!         }
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut server = McpServer::new(&SERVER);
//!     server.register(TOOLS, Arc::new(Lab))?;
//!     server.complete()?.serve_stdio().await?;
//!     Ok(())
//! }
//! ```
//!
//! What clients are told: invalid arguments are a result with `isError`, in words that a model can
//! act on, and with what a program can read of the failure under `_meta`; a tool that is not there and a malformed request are errors of the protocol; what went
//! wrong inside goes to standard error and to nobody else. A tool that panics has failed, and the
//! server goes on. A call stops when its client cancels it, or is gone: at once over HTTP without a
//! session, within five seconds otherwise, so that answers already under way arrive. In that time a client of a session
//! may come back for the answer (`Last-Event-ID`).
//!
//! What clients may take of a server is bounded: [`Limits`] has each limit with its default and what happens beyond it,
//! and [`Counters`] tell how often that was. A session over HTTP belongs to the principal that opened it
//! (`HttpOptions::with_principal`). What goes to standard error is one line each, with line ends and all that does not
//! print escaped; where nobody reads it, lines are left out and counted, and no call waits. (The message of a panic is
//! written by Rust's own hook, which does wait: a host whose standard error may stay unread sets a hook of its own.)
//!
//! Numbers: arguments reach their codec as they were sent, to the last digit, and a key given twice is
//! refused. On the way out the text content is the result as it was encoded; `structuredContent` has
//! passed through `serde_json`, where an integer of more than 64 bits is the nearest double.

#![warn(missing_debug_implementations)]

/// The key of a result's `_meta` under which a failure stands in data: its `kind`, `recovery`, and for a declared error its
/// `code` and `data`.
#[cfg(any(feature = "client", feature = "server"))]
const FAILURE: &str = "io.github.toolwright/failure";

#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "client", feature = "server"))]
mod oversized;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "http-server")]
pub use server::{Bearer, BearerLayer, HttpOptions};
#[cfg(feature = "server")]
pub use server::{Content, Counters, Counts, Limits, McpServer, ServeError, ServerSpec, ToolList};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
