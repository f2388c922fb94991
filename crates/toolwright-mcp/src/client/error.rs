//! Why a server could not be reached, asked or understood. For operators and programs; what a model is told of it stands
//! in [`super::failure`].

use std::error::Error;
use std::fmt;
use std::time::Duration;

use toolwright::untrusted::line;

/// The longest kept text of a server in bytes.
pub(super) const LONGEST: usize = 4 * 1024;

/// Why a server could not be reached, asked or understood. A server's words in it are on one line, with nothing hidden.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// The server could not be started or reached, or the conversation could not begin.
    Connect {
        /// The server.
        server: String,
        /// Why.
        why: String,
    },
    /// The server was tried a moment ago, without success.
    Waiting {
        /// The server.
        server: String,
        /// When it is tried again.
        again: Duration,
        /// Why it could not be reached.
        why: String,
    },
    /// The connection was lost before an answer came; what was asked may have been done.
    Lost,
    /// Nothing came in time.
    Timeout(Duration),
    /// The server answered with an error of JSON-RPC.
    Refused {
        /// Its code.
        code: i32,
        /// The server's words.
        message: String,
    },
    /// The answer is none that anybody could use.
    Unusable(String),
    /// HTTP failed.
    Http {
        /// The status, where there was a response.
        status: Option<u16>,
        /// What happened.
        why: String,
    },
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { server, why } => {
                write!(f, "MCP server {server} could not be reached: {why}")
            }
            Self::Waiting { server, again, why } => write!(
                f,
                "MCP server {server} could not be reached and is tried again in {again:?}: {why}"
            ),
            Self::Lost => f.write_str("the connection to the MCP server was lost"),
            Self::Timeout(limit) => write!(f, "the MCP server did not answer within {limit:?}"),
            Self::Refused { code, message } => {
                write!(f, "the MCP server answered with error {code}: {message}")
            }
            Self::Unusable(why) => write!(f, "the MCP server's answer cannot be used: {why}"),
            Self::Http { status: Some(status), why } => {
                write!(f, "the MCP server answered with HTTP status {status}: {why}")
            }
            Self::Http { status: None, why } => write!(f, "HTTP failed: {why}"),
        }
    }
}

impl Error for ClientError {}

/// An error and its causes on one line, with nothing hidden in a server's words.
pub(super) fn described(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    line(&text, LONGEST)
}
