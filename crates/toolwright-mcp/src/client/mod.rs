//! Uses the tools of MCP servers, on rmcp: one [`Client`] a server, reached as a child process or over streamable HTTP,
//! in either era of the protocol.
//!
//! A typed toolset over a child process: a generated executor takes the client as its [`Remote`](toolwright::Remote).
//!
//! ```
//! use toolwright::{Executor, Origin, ToolCall, ToolResult};
//! use toolwright_mcp::client::{Client, ServerCommand};
//!
//! # static REMOTE: Origin = Origin { server: "git", tools: &[], listed: &[], from: toolwright::remote::Provenance::UNKNOWN };
//! # async fn example(call: ToolCall) -> Result<ToolResult, toolwright_mcp::client::ClientError> {
//! let client = Client::new(ServerCommand::new("uvx").arg("mcp-server-git"));
//! let server = client.connect().await?;
//! assert_eq!(server.name.as_deref(), Some("mcp-git"));
//! // With a generated crate: `GitExecutor::new(client).execute(&call).await`, which is
//! let result = call.run_remote(&REMOTE, &client).await;
//! # Ok(result)
//! # }
//! ```
//!
//! A server that no schema knows, registered at run time:
//!
//! ```
//! use toolwright_mcp::client::{Client, McpToolset, ServerUrl};
//! use toolwright_runtime::Registry;
//!
//! # async fn example(token: String) -> Result<(), Box<dyn std::error::Error>> {
//! let catalog = Registry::new().catalog();
//! let client = Client::new(ServerUrl::new("https://example.com/mcp").with_bearer(token));
//! let reach = McpToolset::reach("search", &client);
//! let tools = catalog.connect("search", "search", reach).await?;
//! catalog.allow("helper", "search")?;
//! assert!(tools.iter().any(|tool| tool.name() == "find"));
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! What a server tells of a call's progress goes to whoever [watches](toolwright::progress::watch) the call. Its message is the
//! server's, for people to read.
//!
//! Numbers are exact in both directions. Of a server's words a model is shown the text of a tool's own error alone; those
//! of the protocol and of transports are details for operators. A call whose connection was lost is never sent again.

mod address;
mod answer;
mod changes;
mod child;
mod connection;
mod digest;
mod drift;
#[expect(deprecated, reason = "servers of the older era ask for roots")]
mod ear;
mod error;
mod failure;
mod headers;
#[cfg(feature = "http-client")]
mod http;
mod lines;
mod link;
mod listing;
mod live;
mod options;
mod remote;
mod replies;
#[cfg(feature = "router")]
mod router;
mod texts;
mod toolset;
#[cfg(feature = "http-client")]
mod url;
mod watch;

use std::fmt;
use std::sync::Arc;

pub use address::{ServerAddress, ServerCommand, ServerUrl, Stderr};
pub use changes::{ChangeKind, ToolChange, ToolPart};
pub use connection::ServerInfo;
pub use drift::Drift;
pub use error::ClientError;
pub use listing::Listing;
pub use options::{ClientOptions, DriftPolicy};
#[cfg(feature = "router")]
pub use router::router_tools;
pub use toolset::McpToolset;

use link::Link;
use watch::Watch;

/// A client of one MCP server. Clones share the conversation, which begins with the first need, and again after it was
/// lost. When the last clone is dropped the conversation ends, and with it the server that was started for it.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

struct Shared {
    link: Arc<Link>,
    watch: Watch,
}

impl Client {
    /// A client that has not reached its server yet.
    pub fn new(address: impl Into<ServerAddress>) -> Self {
        Self::with_options(address, ClientOptions::default())
    }

    /// A client that has not reached its server yet, and how it behaves.
    pub fn with_options(address: impl Into<ServerAddress>, options: ClientOptions) -> Self {
        let link = Arc::new(Link::new(address.into(), options));
        Self(Arc::new(Shared { link, watch: Watch::default() }))
    }

    fn link(&self) -> &Arc<Link> {
        &self.0.link
    }

    fn watch(&self) -> &Watch {
        &self.0.watch
    }

    /// Reaches the server, if it is not reached yet, and says who it is.
    ///
    /// # Errors
    ///
    /// A server that cannot be started or reached, or that does not speak the protocol in time.
    pub async fn connect(&self) -> Result<ServerInfo, ClientError> {
        Ok(self.link().connection().await?.server())
    }

    /// Every tool the server lists, to the letter.
    ///
    /// # Errors
    ///
    /// Those of [`Client::connect`]; a server that refuses, does not answer in time or lists no tools.
    pub async fn list_tools_raw(&self) -> Result<Listing, ClientError> {
        let limit = self.link().options().connect_timeout;
        let list = async { listing::list(&*self.link().connection().await?).await };
        tokio::time::timeout(limit, list).await.unwrap_or(Err(ClientError::Timeout(limit)))
    }

    /// Ends the conversation, and waits until the server that was started for it is gone. The next need begins another.
    pub async fn close(&self) {
        self.link().close().await;
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("address", self.link().address()).finish_non_exhaustive()
    }
}
