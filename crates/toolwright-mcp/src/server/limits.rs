//! The limits of a server on its clients, with their defaults.

use std::time::Duration;

/// The limits of a server on its clients. Set them with [`McpServer::with_limits`](crate::McpServer::with_limits).
///
/// | field | default | beyond it |
/// |---|---|---|
/// | `result_bytes` | 4 MiB | the call fails |
/// | `calls` | 2,048 | the call fails at once as `unavailable` |
/// | `session_calls` | 256 | 429 over HTTP; on byte streams, further calls wait |
/// | `session_streams` | 8 | 429 |
/// | `waiting_bytes` | 1 MiB | the server stops reading the stream |
/// | `connections` | 1,000 | further ones wait to be accepted |
/// | `client_connections` | 500 | further ones are closed at once |
/// | `header_timeout` | 30 s | the connection is closed |
/// | `body_timeout` | 30 s | 408 |
/// | `write_timeout` | 30 s | the connection is closed |
/// | `write_rate` | 4,096 | the connection is closed |
/// | `request_bytes` | 256 MiB | 503 |
/// | `sessions` | 4,096 | 503 |
/// | `client_sessions` | 1,024 | 429 |
/// | `evictable_after` | 60 s | the session may be closed so that its client can open another one |
///
/// `HttpOptions` sets two more limits: the size of a request (`with_max_body`, 4 MiB) and the idle time of a session
/// (`with_session_idle`, one hour). Five are fixed: 16 MiB for a line on byte streams, 64 KiB for the head of an HTTP
/// request, 64 KiB for the `_meta` of a call and for the parameters of other requests, 1,024 bytes for the id of a request and for a progress token, and what a session keeps of its `initialize`, which is
/// the revision and the first 256 bytes of the client's name and of its version. [`Counters`](crate::Counters) counts how often limits are exceeded.
///
/// ```
/// # use std::time::Duration;
/// # use toolwright_mcp::{Limits, McpServer, ServerSpec};
/// # static SERVER: ServerSpec = ServerSpec { name: "x", version: "1", toolsets: &[] };
/// let few = Limits { sessions: 100, body_timeout: Duration::from_secs(5), ..Limits::default() };
/// let server = McpServer::new(&SERVER).with_limits(few);
/// # drop(server);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest size of a result as its tool encoded it, or of a failure's message and data, in bytes. The response
    /// is about twice as large, because it has the result as text and as structured content.
    pub result_bytes: usize,
    /// Calls in flight on the whole server. Other requests are not limited.
    pub calls: usize,
    /// Calls in flight in one session. A connection on byte streams is one session, and its subscriptions
    /// (`subscriptions/listen`) count too. An HTTP/1 connection has one call in flight at a time.
    pub session_calls: usize,
    /// HTTP streams (`GET`) that one session may have open.
    pub session_streams: usize,
    /// Bytes of calls on a byte stream that were read and wait for other calls to end. Below this limit the server reads
    /// on, so it still answers pings and handles cancellations.
    pub waiting_bytes: usize,
    /// Open connections, if the server listens itself. Choose fewer than the process's limit of open files.
    pub connections: usize,
    /// Open connections from one address, or one IPv6 /64 network, if the server listens itself. Choose fewer than
    /// `connections`; otherwise one client can keep all others out. Behind a proxy all clients have one address: set it
    /// to `connections` there.
    pub client_connections: usize,
    /// The time in which a connection must send the head of its next request, which also limits how long it may be
    /// idle. Applies if the server listens itself.
    pub header_timeout: Duration,
    /// The time in which the body of a request must arrive.
    pub body_timeout: Duration,
    /// The period over which a client must read at `write_rate`. Applies if the server listens itself.
    pub write_timeout: Duration,
    /// Bytes per second that a client must read, on average over each `write_timeout` in which data waits to be sent.
    pub write_rate: usize,
    /// Bytes of all HTTP requests that are being read or handled. The first 64 KiB of each do not count.
    pub request_bytes: usize,
    /// Open HTTP sessions.
    pub sessions: usize,
    /// Open HTTP sessions of one client. A client is a principal (`HttpOptions::with_principal`), or else an address or
    /// an IPv6 /64 network. Behind a proxy and without principals, all clients count as one. In a router of another
    /// application, addresses are known only if axum serves it with
    /// `into_make_service_with_connect_info::<SocketAddr>()`. Clients without a known address have only the limit
    /// `sessions`.
    pub client_sessions: usize,
    /// How long a session must have been idle before it may be closed for a new one of the same client.
    pub evictable_after: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            result_bytes: 4 << 20,
            calls: 2_048,
            session_calls: 256,
            session_streams: 8,
            waiting_bytes: 1 << 20,
            connections: 1_000,
            client_connections: 500,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            write_rate: 4_096,
            request_bytes: 256 << 20,
            sessions: 4_096,
            client_sessions: 1_024,
            evictable_after: Duration::from_mins(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Limits;

    /// A default as `Debug` writes it.
    fn written(default: &str) -> String {
        match default.split_once(' ') {
            Some((mebibytes, "MiB")) => (mebibytes.parse::<usize>().unwrap() << 20).to_string(),
            Some((seconds, "s")) => format!("{seconds}s"),
            _ => default.replace(',', ""),
        }
    }

    #[test]
    fn the_table_of_limits_has_each_field_with_its_default() {
        let rows = include_str!("limits.rs").lines().filter_map(|line| {
            let mut cells = line.strip_prefix("/// | `")?.split(" | ");
            Some((cells.next()?.trim_end_matches('`').to_owned(), written(cells.next()?)))
        });
        let debug = format!("{:#?}", Limits::default());
        let fields = debug.lines().filter_map(|line| {
            let (name, default) = line.trim().trim_end_matches(',').split_once(": ")?;
            Some((name.to_owned(), default.to_owned()))
        });
        assert_eq!(rows.collect::<BTreeMap<_, _>>(), fields.collect());
    }
}
