//! Ties a server to a transport, until the client leaves. Never looks into a message.

use std::sync::Arc;

use rmcp::service::{ServerInitializeError, serve_server};
use tokio::io::{AsyncRead, AsyncWrite};

use super::McpServer;
use super::error::ServeError;
use super::exposure::Exposure;
use super::handler::Handler;
use super::lines::Lines;
use super::operators;

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
        let exposure = Arc::new(Exposure::new(self)?);
        let lines = Lines::new(input, output, exposure.limits(), exposure.counters().clone());
        let served = serve_server(Handler::of_connection(exposure), lines).await;
        let ended = match served {
            Ok(running) => running.waiting().await.map(drop).map_err(ServeError::Broken),
            // A client that leaves before it says anything has asked for nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError::Handshake(Box::new(error))),
        };
        operators::flush().await;
        ended
    }
}
