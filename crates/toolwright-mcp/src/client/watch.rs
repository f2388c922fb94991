//! Keeps what a server lists now, and how that differs from what toolsets were written for, until the server says that
//! its tools changed. Never calls one.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use tokio::sync::{Mutex, MutexGuard};
use toolwright::Origin;

use super::connection::Connection;
use super::drift::Drift;
use super::error::ClientError;
use super::listing;
use super::live::Live;

/// What was seen of a server's tools last.
#[derive(Default)]
pub(super) struct Watch(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// The conversation in which it was seen.
    connection: Weak<Connection>,
    live: Arc<Live>,
    /// By the address of the origin, which is static.
    drifts: BTreeMap<usize, Arc<Drift>>,
}

impl Watch {
    /// What the server lists now.
    pub(super) async fn live(
        &self,
        connection: &Arc<Connection>,
    ) -> Result<Arc<Live>, ClientError> {
        Ok(self.seen(connection).await?.live.clone())
    }

    /// What is between that and what a toolset was written for. Told to the log when it is new.
    pub(super) async fn drift(
        &self,
        connection: &Arc<Connection>,
        origin: &'static Origin,
    ) -> Result<Arc<Drift>, ClientError> {
        let mut seen = self.seen(connection).await?;
        let key = std::ptr::from_ref(origin).addr();
        if let Some(drift) = seen.drifts.get(&key) {
            return Ok(drift.clone());
        }
        let drift = Arc::new(Drift::between(&seen.live, origin));
        if !drift.is_empty() {
            tracing::warn!(server = origin.server, "the tools of an MCP server drifted: {drift}");
        }
        seen.drifts.insert(key, drift.clone());
        Ok(drift)
    }

    /// What was seen, looked at again if it is of another conversation or the server said that it changed.
    async fn seen(
        &self,
        connection: &Arc<Connection>,
    ) -> Result<MutexGuard<'_, Seen>, ClientError> {
        let mut seen = self.0.lock().await;
        let is_known = std::ptr::eq(seen.connection.as_ptr(), Arc::as_ptr(connection));
        if connection.tools_changed() || !is_known {
            // Until it is listed again nothing is known: a failure in between must not leave the old list.
            seen.connection = Weak::new();
            let live = Live::read(&listing::list(connection).await?);
            *seen = Seen {
                connection: Arc::downgrade(connection),
                live: Arc::new(live),
                drifts: BTreeMap::new(),
            };
        }
        Ok(seen)
    }
}
