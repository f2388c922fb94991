//! Serves toolwright tools over the Model Context Protocol, on rmcp. Makes no definitions of its
//! own: names, words, schemas and codecs are the specs'.
//!
//! Both eras of the protocol are spoken, as rmcp does: revisions that begin with `initialize`, and
//! 2026-07-28, whose requests stand alone.
//!
//! Numbers: rmcp reads a message into `serde_json` values before any codec sees it. Integers of 64
//! bits and every double arrive as they were sent; a larger integer becomes the nearest double, and
//! of a key given twice the last one counts. On the way out the text content is the result as it was
//! encoded, to the last digit; `structuredContent` has passed through `serde_json` too.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "server")]
pub use server::{McpServer, ServeError, ServerSpec};
