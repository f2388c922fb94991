//! How often something happened that a server's operators want to know of. Never decides anything.

use std::sync::{Arc, Mutex, PoisonError};

/// The counters of a server, to be read while it serves: see [`McpServer::counters`](crate::McpServer::counters). Cheap
/// to clone.
#[derive(Clone, Debug, Default)]
pub struct Counters(Arc<Mutex<Counts>>);

/// What the counters of a server say at one moment. Those whose names begin with `open_` go up and down, all others
/// count from the server's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Connections over HTTP that are open.
    pub open_connections: u64,
    /// Connections that were accepted.
    pub connections: u64,
    /// Times that no connection was accepted until another had ended.
    pub connections_awaited: u64,
    /// Connections that were closed at once, since their address had too many open. They do not count as accepted.
    pub connections_refused: u64,
    /// Connections that were closed because a request's head did not arrive in time, idle ones among them, or because
    /// an answer was read too slowly.
    pub connections_timed_out: u64,
    /// Sessions over HTTP that are open.
    pub open_sessions: u64,
    /// Sessions that were opened.
    pub sessions: u64,
    /// Sessions that were refused, since there were too many.
    pub sessions_refused: u64,
    /// Idle sessions that gave way to new ones of their client.
    pub sessions_evicted: u64,
    /// Sessions that ended for having been idle.
    pub sessions_expired: u64,
    /// Requests for a session of somebody else.
    pub sessions_denied: u64,
    /// Requests that name two hosts, origins, sessions or versions of the protocol.
    pub requests_ambiguous: u64,
    /// Bodies that did not arrive in time.
    pub bodies_timed_out: u64,
    /// Requests that were refused for the memory that all of them take.
    pub requests_refused: u64,
    /// Calls that are in flight.
    pub open_calls: u64,
    /// Calls that failed at once, since too many were in flight in all.
    pub calls_unavailable: u64,
    /// Calls that were refused, since too many of their session were in flight.
    pub calls_refused: u64,
    /// Calls on streams that had to wait for others of their connection.
    pub calls_delayed: u64,
    /// Streams that were refused, since their session had too many open.
    pub streams_refused: u64,
    /// Results that were not sent for their size.
    pub results_too_large: u64,
}

impl Counters {
    /// What they say now.
    pub fn read(&self) -> Counts {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
