//! Serves toolwright tools over the Model Context Protocol (MCP), and calls the tools of other MCP servers: the
//! module `client`, behind a feature of the same name. Built on rmcp. Names, descriptions, schemas and codecs come from
//! the tools' specs.
//!
//! A server supports both eras of the protocol at once: the revisions with an `initialize` handshake, and 2026-07-28,
//! whose requests need no session. A generated crate has a function that returns the server of a schema file. The host
//! serves it on standard streams ([`McpServer::serve_stdio`]) or, with the feature `http-server`, over streamable HTTP
//! (`McpServer::serve_http`, `McpServer::into_router`).
//!
//! Without generated code, a server needs specs and an executor:
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
//!             .with_description("Returns its arguments.")
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
//! # Errors of calls
//!
//! Invalid arguments give a result with `isError` and a message that a model can act on; `_meta` has the failure as
//! data for programs, at the key `io.github.toolwright/failure`. An unknown tool and a malformed request give a protocol error. Details of internal errors are
//! written to standard error only. A panic in a tool fails that call alone.
//!
//! A call is cancelled when its client cancels it or disconnects: at once over HTTP without a session, within five
//! seconds otherwise. During these seconds a client with a session can reconnect and get the answer (`Last-Event-ID`).
//!
//! # Limits
//!
//! [`Limits`] lists the limits on clients, their defaults, and what happens beyond each; [`Counters`] counts how often
//! that happened. A session over HTTP belongs to the principal that opened it (`HttpOptions::with_principal`).
//!
//! Each message for operators is one line on standard error, with line breaks and unprintable characters escaped. If
//! nobody reads standard error, lines are dropped and counted, and calls do not wait. Rust's panic hook does wait: a
//! host whose standard error may stay unread should set its own hook.
//!
//! # Numbers
//!
//! The codec decodes arguments exactly as they were sent, with every digit, and rejects duplicate keys. The text content
//! of a result is exactly what the codec encoded. `structuredContent` is built with `serde_json`, which rounds integers
//! of more than 64 bits to the nearest double.

#![warn(missing_debug_implementations)]

/// The key in a result's `_meta` that holds a failure as data: its `kind`, `recovery`, and for a declared error its
/// `code` and `data`.
#[cfg(any(feature = "client", feature = "server"))]
const FAILURE: &str = "io.github.toolwright/failure";

#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "client", feature = "server"))]
mod json;
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
