//! Calls the tools of MCP servers. A [`Client`] connects to one server, which is a child process or is on streamable
//! HTTP, in either era of the protocol. Built on rmcp.
//!
//! A typed toolset on a child process: the generated executor takes the client as its [`Remote`](toolwright::Remote).
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
//! // A generated crate has `GitExecutor::new(client)`, whose `execute` does this:
//! let result = call.run_remote(&REMOTE, &client).await;
//! # Ok(result)
//! # }
//! ```
//!
//! A server without a schema file, whose tools are registered at run time:
//!
//! ```
//! use toolwright_mcp::client::{Client, McpToolset, ServerUrl};
//! use toolwright_runtime::Registry;
//!
//! # async fn example(token: String) -> Result<(), Box<dyn std::error::Error>> {
//! let catalog = Registry::new().catalog();
//! let client = Client::new(ServerUrl::new("https://example.com/mcp").with_bearer(token));
//! let toolset = McpToolset::connect("search", &client);
//! let tools = catalog.connect("search", "search", toolset).await?;
//! catalog.allow("helper", "search")?;
//! assert!(tools.iter().any(|tool| tool.name() == "find"));
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! Progress notifications of a call are reported to its [watcher](toolwright::progress::watch). Their messages are text
//! from the server, for people to read.
//!
//! Arguments and results keep every digit of their numbers. A model sees a server's error text only if it is the error of
//! a tool; texts of protocol and transport errors are details for operators. A call is not sent again if its connection
//! or session was lost.

mod address;
mod answer;
mod changes;
mod child;
mod connection;
mod connector;
mod drift;
mod error;
#[cfg(feature = "http-client")]
mod events;
mod failure;
mod headers;
#[cfg(feature = "http-client")]
mod http;
mod lines;
mod listed_tools;
mod listing;
mod message_codec;
#[expect(deprecated, reason = "servers of the older era ask for roots")]
mod notifications;
mod options;
mod pause;
mod remote;
mod reply_limit;
#[cfg(feature = "router")]
mod router;
mod tool_cache;
mod toolset;
#[cfg(feature = "http-client")]
mod url;

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

use connector::Connector;
use tool_cache::ToolCache;

/// A client of one MCP server.
///
/// It connects when it is first used, and again when the connection was lost. Clones share the connection. When the last
/// clone is dropped, the connection is closed, and a server that the client started is ended.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

struct Shared {
    connector: Arc<Connector>,
    tool_cache: ToolCache,
}

impl Client {
    /// Creates a client with the default options. It does not connect yet.
    pub fn new(address: impl Into<ServerAddress>) -> Self {
        Self::with_options(address, ClientOptions::default())
    }

    /// Creates a client with options. It does not connect yet.
    pub fn with_options(address: impl Into<ServerAddress>, options: ClientOptions) -> Self {
        let connector = Arc::new(Connector::new(address.into(), options));
        Self(Arc::new(Shared { connector, tool_cache: ToolCache::default() }))
    }

    fn connector(&self) -> &Arc<Connector> {
        &self.0.connector
    }

    fn tool_cache(&self) -> &ToolCache {
        &self.0.tool_cache
    }

    /// Connects to the server if necessary, and returns its name and version.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be started or reached, or if the handshake fails or takes too long.
    pub async fn connect(&self) -> Result<ServerInfo, ClientError> {
        Ok(self.connector().connection().await?.server())
    }

    /// Lists all tools of the server, exactly as the server wrote them.
    ///
    /// # Errors
    ///
    /// Fails like [`Client::connect`], and if the server returns an error, does not answer in time or sends an invalid
    /// list.
    pub async fn list_tools_raw(&self) -> Result<Listing, ClientError> {
        let limit = self.connector().options().connect_timeout;
        let list = async { listing::list(&*self.connector().connection().await?).await };
        tokio::time::timeout(limit, list).await.unwrap_or(Err(ClientError::Timeout(limit)))
    }

    /// Closes the connection, and waits up to ten seconds until the server that was started for it has ended. While the client
    /// connects, waits for that first, at most for the timeout of connecting. A server whose handshake failed ends by itself. The
    /// next use connects again.
    pub async fn close(&self) {
        self.connector().close().await;
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("address", self.connector().address())
            .finish_non_exhaustive()
    }
}
