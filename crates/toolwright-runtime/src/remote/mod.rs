//! A toolset in another process: a server that offers one over any byte stream, and the toolset that stands for it.
//! Never routes: to everybody else a remote toolset is a toolset.
//!
//! One connection is one entering: the server makes, enters and lists its toolset when a client has said whose run it
//! is, and exits it when the client leaves, however it leaves.
//!
//! A server trusts its peers with nothing that it did not agree to:
//!
//! - [`bind_unix`] makes a socket that no other user can connect to, and a server asks the kernel who a peer is. Peers of
//!   another user are refused unless [`RemoteOptions::with_peers`] lets them in; so is, by a client, a server.
//! - What a peer says of runs, sessions and labels is not believed: each connection is a run of its own. Ids of calls stay
//!   the peer's, to tell them apart. Where peers are the host's own processes, [`RemoteOptions::trusting_peers`] takes
//!   their word.
//! - A tool that needs an approval runs only calls that show one, as a code (HMAC-SHA256) over the connection, the request
//!   and the call, made with the [`ApprovalKey`] that both sides were given. Nothing else that a peer says counts as an
//!   approval, so that without a key such calls are refused. Each code is good for one request.
//! - Connections, calls under way, their bytes and replies that wait are limited. A peer that does not read is not read
//!   from.
//!
//! ```no_run
//! use toolwright::{Scope, ToolSpec};
//! use toolwright_runtime::FunctionTool;
//! use toolwright_runtime::remote::{ApprovalKey, RemoteOptions, RemoteToolset, bind_unix};
//! use toolwright_runtime::tools::IntoSource;
//!
//! # async fn both_sides(secret: [u8; 32]) -> Result<(), Box<dyn std::error::Error>> {
//! // Here, and the same in the process of the client.
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

mod approval;
mod client;
mod options;
mod protocol;
mod server;
mod socket;

pub use approval::ApprovalKey;
pub use client::{RemoteError, RemoteToolset};
pub use options::{Peer, RemoteOptions};
pub use socket::bind_unix;
