//! The errors of both sides.

use std::error::Error;
use std::{fmt, io};

use toolwright::untrusted::line;

use super::protocol::{MAX_LINE_BYTES, MAX_OPEN_BYTES};

/// The longest reason of the other side that a message repeats, in bytes.
const LONGEST_REASON: usize = 500;

/// A remote toolset cannot be connected, or a server cannot serve a client.
#[derive(Debug)]
#[non_exhaustive]
pub enum RemoteError {
    /// The stream could not be opened, or it failed.
    Io(io::Error),
    /// The server refused the connection or could not provide its toolset.
    Refused {
        /// The reason that the server gave.
        reason: String,
    },
    /// The other side violated the protocol.
    Protocol(String),
    /// The connection was closed.
    Disconnected,
    /// A request is longer than a line of the protocol may be. It was not sent.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// The scope of the client is longer than a connection may be opened with. It was not sent.
    ScopeTooLong {
        /// The length of the request to open the connection, in bytes.
        bytes: usize,
    },
    /// The options of the client do not accept the server.
    UntrustedPeer {
        /// The id of the user who serves the socket; `None` over TLS, or if the kernel does not provide it.
        user_id: Option<u32>,
    },
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the stream to a remote toolset failed: {error}"),
            Self::Refused { reason } => {
                write!(f, "the remote toolset is not provided: {}", line(reason, LONGEST_REASON))
            }
            Self::Protocol(error) => {
                let error = line(error, LONGEST_REASON);
                write!(f, "the other side of a remote toolset violates the protocol: {error}")
            }
            Self::Disconnected => {
                f.write_str("the connection to the remote toolset is closed; connect again")
            }
            Self::TooLong { bytes } => write!(
                f,
                "a request to a remote toolset has {bytes} bytes, expected at most {MAX_LINE_BYTES}"
            ),
            Self::ScopeTooLong { bytes } => write!(
                f,
                "the request to open a connection to a remote toolset has {bytes} bytes, expected at most {MAX_OPEN_BYTES}; use \
                 fewer or shorter labels"
            ),
            Self::UntrustedPeer { user_id } => {
                if let Some(id) = user_id {
                    write!(f, "user {id} serves the socket")?;
                } else {
                    f.write_str("the server is not trusted")?;
                }
                f.write_str(
                    ", expected a peer that `RemoteOptions::with_peers` accepts, by default the user of this process",
                )
            }
        }
    }
}

impl Error for RemoteError {}

impl From<io::Error> for RemoteError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::InvalidData {
            return Self::Protocol(error.to_string());
        }
        Self::Io(error)
    }
}
