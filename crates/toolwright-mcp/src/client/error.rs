//! Errors of a client, for operators and programs. [`super::failure`] converts them into failures for models.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use toolwright::untrusted::line;

/// The maximum number of bytes kept of a text from a server.
pub(super) const MAX_SERVER_TEXT: usize = 4 * 1024;

/// An error of a client. Texts from the server are one line without hidden characters.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// The server could not be started or reached, or the handshake failed.
    Connect {
        /// The program or URL of the server.
        server: String,
        /// The cause.
        reason: String,
    },
    /// The last attempt to connect failed, and it is too early for another.
    Backoff {
        /// The program or URL of the server.
        server: String,
        /// The time until another attempt is possible.
        retry_in: Duration,
        /// The cause of the last failure.
        reason: String,
    },
    /// The connection was lost before the response arrived. The server may have handled the request.
    ConnectionLost,
    /// The response did not arrive in time.
    Timeout(Duration),
    /// The server returned a JSON-RPC error.
    JsonRpc {
        /// The code of the error.
        code: i32,
        /// The message of the error, written by the server.
        message: String,
    },
    /// The response is invalid.
    InvalidResponse(String),
    /// HTTP failed.
    Http {
        /// The status, if there was a response.
        status: Option<u16>,
        /// False if the server has certainly not handled the request.
        may_have_run: bool,
        /// The cause.
        reason: String,
    },
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { server, reason } => {
                write!(f, "MCP server {server} could not be reached: {reason}")
            }
            Self::Backoff { server, retry_in, reason } => write!(
                f,
                "MCP server {server} could not be reached and can be tried again in {retry_in:?}: {reason}"
            ),
            Self::ConnectionLost => f.write_str("the connection to the MCP server was lost"),
            Self::Timeout(limit) => write!(f, "the MCP server did not answer within {limit:?}"),
            Self::JsonRpc { code, message } => {
                write!(f, "the MCP server returned error {code}: {message}")
            }
            Self::InvalidResponse(reason) => {
                write!(f, "the response of the MCP server is invalid: {reason}")
            }
            Self::Http { status: Some(status), reason, .. } => {
                write!(f, "the MCP server returned HTTP status {status}: {reason}")
            }
            Self::Http { status: None, reason, .. } => write!(f, "HTTP failed: {reason}"),
        }
    }
}

impl Error for ClientError {}

impl ClientError {
    /// Returns true if it is unknown whether the server has handled the request. After an invalid response it has, so nothing
    /// repeats the call.
    pub(super) fn may_have_run(&self) -> bool {
        match self {
            Self::ConnectionLost | Self::Timeout(_) => true,
            Self::Http { may_have_run, .. } => *may_have_run,
            _ => false,
        }
    }
}

/// Returns an error and its causes as one line without hidden characters.
pub(super) fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    line(&text, MAX_SERVER_TEXT)
}
