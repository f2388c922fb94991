//! Counters of a server, for its operators.

use std::sync::{Arc, Mutex, PoisonError};

/// The counters of a server, which can be read while it runs: see [`McpServer::counters`](crate::McpServer::counters).
/// Clones share the counters.
#[derive(Clone, Debug, Default)]
pub struct Counters(Arc<Mutex<Counts>>);

/// A snapshot of a server's [`Counters`]. The fields `open_…` are current numbers; all others count events since the
/// server started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Open HTTP connections.
    pub open_connections: u64,
    /// Accepted connections.
    pub connections: u64,
    /// How often the server had to wait for a connection to close before it accepted another.
    pub connections_awaited: u64,
    /// Connections that were closed at once because their address had too many. They do not count as accepted.
    pub connections_refused: u64,
    /// Connections that were closed because they were idle, the head of a request did not arrive in time, or the client
    /// read an answer too slowly.
    pub connections_timed_out: u64,
    /// Open HTTP sessions.
    pub open_sessions: u64,
    /// Opened sessions.
    pub sessions: u64,
    /// Sessions that were refused because there were too many.
    pub sessions_refused: u64,
    /// Idle sessions that were closed so that their client could open another one.
    pub sessions_evicted: u64,
    /// Sessions that were closed because they were idle for too long.
    pub sessions_expired: u64,
    /// Requests for a session of another principal.
    pub sessions_denied: u64,
    /// Requests with a malformed host or origin, or with two hosts, origins, authorizations, content types, sessions or
    /// protocol versions.
    pub requests_ambiguous: u64,
    /// Requests whose body did not arrive in time.
    pub bodies_timed_out: u64,
    /// Requests that were refused because all requests together used too much memory.
    pub requests_refused: u64,
    /// Calls in flight.
    pub open_calls: u64,
    /// Calls that failed at once because the server had too many in flight.
    pub calls_unavailable: u64,
    /// Calls that were refused because their session had too many in flight.
    pub calls_refused: u64,
    /// Calls on byte streams that had to wait for other calls of their connection.
    pub calls_delayed: u64,
    /// HTTP streams that were refused because their session had too many.
    pub streams_refused: u64,
    /// Results that were too large to send.
    pub results_too_large: u64,
}

impl Counters {
    /// Returns the current counts.
    pub fn read(&self) -> Counts {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
