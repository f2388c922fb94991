//! Caches the tool list of a server, and its drift from generated toolsets, until the server reports a change.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use tokio::sync::{Mutex, MutexGuard};
use toolwright::Origin;
use toolwright::digests::digest;

use super::connection::Connection;
use super::drift::Drift;
use super::error::ClientError;
use super::listed_tools::ListedTools;
use super::listing;

/// The cached tool list of a server.
#[derive(Default)]
pub(super) struct ToolCache(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    /// The connection on which the list was requested.
    connection: Weak<Connection>,
    /// The digest of the list's text.
    digest: String,
    tools: Arc<ListedTools>,
    /// By the address of the origin, which is a static.
    drifts: BTreeMap<usize, Arc<Drift>>,
}

impl ToolCache {
    /// Returns the tools that the server lists now.
    pub(super) async fn tools(
        &self,
        connection: &Arc<Connection>,
    ) -> Result<Arc<ListedTools>, ClientError> {
        Ok(self.current(connection).await?.tools.clone())
    }

    /// Compares the tools that the server lists now with those of a generated toolset. Logs a new drift as a warning.
    pub(super) async fn drift(
        &self,
        connection: &Arc<Connection>,
        origin: &'static Origin,
    ) -> Result<Arc<Drift>, ClientError> {
        let mut cached = self.current(connection).await?;
        let key = std::ptr::from_ref(origin).addr();
        if let Some(drift) = cached.drifts.get(&key) {
            return Ok(drift.clone());
        }
        let drift = Arc::new(Drift::between(&cached.tools, origin));
        if !drift.is_empty() {
            tracing::warn!(server = origin.server, "the tools of an MCP server drifted: {drift}");
        }
        cached.drifts.insert(key, drift.clone());
        Ok(drift)
    }

    /// Returns the cache, refreshed if it is of an earlier connection or the server may have changed its tools. A list with the same
    /// text is not parsed again, and is the same `Arc`.
    async fn current(
        &self,
        connection: &Arc<Connection>,
    ) -> Result<MutexGuard<'_, Cached>, ClientError> {
        let mut cached = self.0.lock().await;
        let is_same = std::ptr::eq(cached.connection.as_ptr(), Arc::as_ptr(connection));
        if connection.take_tools_changed() || !is_same {
            // If the request fails, the old list must not be used again.
            cached.connection = Weak::new();
            let listing = listing::list(connection).await?;
            let digest = digest("mcp-listing", &listing.json);
            if digest != cached.digest {
                let tools = Arc::new(ListedTools::parse(&listing));
                *cached = Cached { digest, tools, ..Cached::default() };
            }
            cached.connection = Arc::downgrade(connection);
        }
        Ok(cached)
    }
}
