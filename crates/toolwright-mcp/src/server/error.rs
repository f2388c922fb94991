//! Errors of serving.

use std::error::Error;
use std::fmt;

use tokio::task::JoinError;
use toolwright::BoxError;

/// An error that ends a server or keeps it from starting.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// A tool cannot be listed because its schema is invalid.
    Schema {
        /// The name of the tool.
        tool: String,
        /// The JSON error, if the schema is not JSON.
        cause: Option<serde_json::Error>,
    },
    /// A tool has the name of one that is listed in place of all tools: see [`McpServer::with_search`](crate::McpServer::with_search).
    Reserved {
        /// The name of the tool.
        tool: String,
    },
    /// The handshake with the client failed.
    Handshake(BoxError),
    /// The server's task panicked or was aborted.
    Broken(JoinError),
    /// The server cannot listen on the address.
    Listen(std::io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema { tool, .. } => write!(
                f,
                "a schema of tool `{tool}` is not a JSON Schema object; correct the spec it comes from"
            ),
            Self::Reserved { tool } => write!(
                f,
                "tool `{tool}` has the name of a tool that this server lists in place of all; rename it, or list all tools"
            ),
            Self::Handshake(_) => f.write_str("the client does not speak the protocol as expected"),
            Self::Broken(_) => f.write_str("the server stopped because of an internal error"),
            Self::Listen(_) => {
                f.write_str("the server cannot listen on this address; choose one that is free")
            }
        }
    }
}

impl Error for ServeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Schema { cause, .. } => {
                cause.as_ref().map(|cause| cause as &(dyn Error + 'static))
            }
            Self::Reserved { .. } => None,
            Self::Handshake(cause) => Some(&**cause),
            Self::Broken(cause) => Some(cause),
            Self::Listen(cause) => Some(cause),
        }
    }
}
