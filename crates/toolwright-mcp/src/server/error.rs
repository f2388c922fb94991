//! Why a server stops serving.

use std::error::Error;
use std::fmt;

use tokio::task::JoinError;
use toolwright::BoxError;

/// Why a server stopped serving.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// A tool's schema is none, so it cannot be listed.
    Schema {
        /// The tool.
        tool: String,
        /// What is wrong with its text, if anything.
        cause: Option<serde_json::Error>,
    },
    /// The client and the server did not come to terms.
    Handshake(BoxError),
    /// The server broke down.
    Broken(JoinError),
    /// The address cannot be listened at.
    Listen(std::io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema { tool, .. } => write!(
                f,
                "a schema of tool `{tool}` is not a JSON Schema object; correct the spec it comes from"
            ),
            Self::Handshake(_) => f.write_str("the client does not speak the protocol as expected"),
            Self::Broken(_) => f.write_str("the server broke down while serving"),
            Self::Listen(_) => {
                f.write_str("the address cannot be listened at; choose one that is free")
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
            Self::Handshake(cause) => Some(&**cause),
            Self::Broken(cause) => Some(cause),
            Self::Listen(cause) => Some(cause),
        }
    }
}
