//! Serves byte streams until the client disconnects.

use std::sync::Arc;

use rmcp::service::{ServerInitializeError, serve_server};
use tokio::io::{AsyncRead, AsyncWrite};

use super::McpServer;
use super::error::ServeError;
use super::handler::Handler;
use super::lines::LineTransport;
use super::operator_log;
use super::state::ServerState;

impl McpServer {
    /// Serves standard input and output until the client closes them. Nothing else may print to standard output.
    ///
    /// # Errors
    ///
    /// Fails if a tool's schema is invalid, if the handshake fails, or if the server's task panics.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        let (input, output) = rmcp::transport::io::stdio_pipes();
        self.serve_streams(input, output).await
    }

    /// Serves any two byte streams, with one JSON-RPC message per line, until the input ends.
    ///
    /// # Errors
    ///
    /// Fails like [`McpServer::serve_stdio`].
    pub async fn serve_streams(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let state = Arc::new(ServerState::new(self)?);
        let transport = LineTransport::new(input, output, state.limits(), state.counters().clone());
        let served = serve_server(Handler::of_connection(state), transport).await;
        let ended = match served {
            Ok(running) => running.waiting().await.map(drop).map_err(ServeError::Broken),
            // A client may disconnect before its first message.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError::Handshake(Box::new(error))),
        };
        operator_log::flush().await;
        ended
    }
}
