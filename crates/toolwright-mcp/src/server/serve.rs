//! Ties a server to a transport, until the client leaves. Never looks into a message.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use rmcp::service::{ServerInitializeError, serve_server};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinError;
use toolwright::BoxError;

use super::McpServer;
use super::exposure::Exposure;
use super::handler::Handler;
use super::lines::Lines;

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

impl McpServer {
    /// Serves the process's standard streams until the client closes them. Nothing else may be
    /// printed to standard output meanwhile.
    ///
    /// # Errors
    ///
    /// A schema that is not one, a client that does not speak the protocol, a breakdown.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        let (input, output) = rmcp::transport::io::stdio_pipes();
        self.serve_streams(input, output).await
    }

    /// Serves any two byte streams, one JSON-RPC message a line, until the input ends.
    ///
    /// # Errors
    ///
    /// Those of [`McpServer::serve_stdio`].
    pub async fn serve_streams(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let handler = Handler::of_connection(Arc::new(Exposure::new(self)?));
        match serve_server(handler, Lines::new(input, output)).await {
            Ok(running) => running.waiting().await.map(drop).map_err(ServeError::Broken),
            // A client that leaves before it says anything has asked for nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError::Handshake(Box::new(error))),
        }
    }
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
