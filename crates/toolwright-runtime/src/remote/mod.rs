//! Toolsets in other processes: a server that offers a toolset over any byte stream, and a client that is a toolset.
//!
//! The server creates and enters its toolset when a client opens a connection, and exits it when the connection ends for any
//! reason.
//!
//! The server does not trust its clients (peers):
//!
//! - [`bind_unix`] creates a socket to which no other user can connect, and the server gets the user of a peer from the
//!   kernel. Peers of other users are refused unless [`RemoteOptions::with_peers`] accepts them. A client checks the server in
//!   the same way.
//! - Over TCP with TLS (feature `tls`), client and server verify each other's certificates, which also are in [`Peer`].
//! - The runs, sessions and labels that a peer sends are ignored: each connection is a run of its own. Only the ids of calls
//!   are kept. If all peers are processes of the host, [`RemoteOptions::trusting_peers`] accepts the scopes that they send.
//! - A tool that needs an approval runs only calls with an approval code: an HMAC-SHA256 over the connection, the request and
//!   the call, with the [`ApprovalKey`] of both sides. Each code is valid for one request. Without a key such calls are
//!   refused.
//! - The server lists its tools again before each call, so that a peer calls each tool as it is then: it may need an approval now, or
//!   be gone.
//! - The blocking work of the calls of a connection has as many threads as it may have calls, also after these were cancelled.
//! - A connection is opened with at most 64 KiB, and with a kibibyte over a transport of messages, as the server keeps the scope that a
//!   peer sends.
//! - The numbers of connections, calls and pending replies, and the bytes of active calls and of unread replies, are limited. The
//!   server reads no further requests of a peer with a mebibyte of unread replies, and disconnects it if it does not read them in
//!   time. Until then, the results of the calls that still run are kept, so the memory of results is limited by the numbers of
//!   connections and calls times the largest result.
//!
//! A transport that carries single messages instead of a stream uses [`MessageServer`] and [`MessageClient`]. The crate
//! `toolwright-nats` is one.
//!
//! ```no_run
//! use toolwright::{Scope, ToolSpec};
//! use toolwright_runtime::FunctionTool;
//! use toolwright_runtime::remote::{ApprovalKey, RemoteOptions, RemoteToolset, bind_unix};
//! use toolwright_runtime::tools::IntoSource;
//!
//! # async fn both_sides(secret: [u8; 32]) -> Result<(), Box<dyn std::error::Error>> {
//! // Client and server have the same key.
//! let key = ApprovalKey::new(secret);
//! let bell = FunctionTool::new(ToolSpec::new("ring"), async || true).into_source();
//! let options = RemoteOptions::new().with_approval_key(key);
//! tokio::spawn(bell.serve_unix(bind_unix("/run/bell/socket")?, options.clone()));
//!
//! let remote = RemoteToolset::connect_unix("/run/bell/socket", &Scope::default(), options).await?;
//! # let _ = remote;
//! # Ok(())
//! # }
//! ```

mod answers;
mod client;
mod error;
mod listing;
mod messages;
mod options;
mod protocol;
mod server;
mod signed;
mod socket;
#[cfg(feature = "tls")]
mod tls;

pub use crate::approval::ApprovalKey;
pub use client::RemoteToolset;
pub use error::RemoteError;
pub use messages::{
    CallMessage, Message, MessageClient, MessageServer, OpenMessage, Opened, Question,
};
pub use options::{Peer, RemoteOptions};
pub use socket::bind_unix;
#[cfg(feature = "tls")]
pub use tls::rustls;
