//! What clients may take of a server. Never enforces anything.

use std::time::Duration;

/// What the clients of a server may take of it, together and each, over whichever transport. Set by
/// [`McpServer::with_limits`](crate::McpServer::with_limits).
///
/// | field | default | beyond it |
/// |---|---|---|
/// | `result_bytes` | 4 MiB | the call fails and says so |
/// | `calls` | 2,048 | the call fails at once: the server is `unavailable` |
/// | `session_calls` | 256 | 429 over HTTP; on streams, further calls wait |
/// | `session_streams` | 8 | 429 |
/// | `waiting_bytes` | 1 MiB | streams are not read on |
/// | `connections` | 1,000 | further ones wait to be accepted |
/// | `client_connections` | 500 | further ones are closed at once |
/// | `header_timeout` | 30 s | the connection is closed |
/// | `body_timeout` | 30 s | 408 |
/// | `write_timeout` | 30 s | the connection is closed |
/// | `write_rate` | 4,096 | the connection is closed |
/// | `request_bytes` | 256 MiB | 503 |
/// | `sessions` | 4,096 | 503 |
/// | `client_sessions` | 1,024 | 429 |
/// | `evictable_after` | 60 s | the session may give way to a new one of its client |
///
/// How large one request may be and how long a session may be silent is set beside them, by `HttpOptions::with_max_body`
/// (4 MiB) and `HttpOptions::with_session_idle` (an hour); a line on streams has at most 16 MiB, the head of a request
/// 64 KiB. [`Counters`](crate::Counters) tell how often a limit was met.
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
    /// Bytes of one result as its tool encoded it, or of a failure's message and data. A client is sent about twice as
    /// much, as text and as structured content.
    pub result_bytes: usize,
    /// Calls in flight in all. Other requests are answered all the same.
    pub calls: usize,
    /// Calls in flight in one session. One connection on streams is one session, and its subscriptions
    /// (`subscriptions/listen`) count, too; a connection of HTTP/1 has one call in flight at a time.
    pub session_calls: usize,
    /// Streams over HTTP on which one session listens (`GET`).
    pub session_streams: usize,
    /// Bytes of calls on streams that are read and wait for those in flight. While they are fewer, a ping is answered
    /// and a cancellation is heard.
    pub waiting_bytes: usize,
    /// Connections that are open at once, where the server listens itself. Fewer than the process may have open files,
    /// or those are the limit.
    pub connections: usize,
    /// Connections that are open at once from one address, or one /64 network of IPv6, where the server listens itself.
    /// Fewer than `connections`, or one client can keep all others out. Behind a proxy all clients have one address: raise
    /// it to `connections` there.
    pub client_connections: usize,
    /// How long a connection may take to send the head of its next request, and so how long it may be idle. Where the
    /// server listens itself.
    pub header_timeout: Duration,
    /// How long the body of a request may take to arrive.
    pub body_timeout: Duration,
    /// The period over which a client must read at `write_rate`. Applies where the server listens itself.
    pub write_timeout: Duration,
    /// Bytes a second that a client has to read on average of each `write_timeout` in which something waits to be sent to it.
    pub write_rate: usize,
    /// Bytes of all requests over HTTP that are being read or acted on. The first 64 KiB of each do not count.
    pub request_bytes: usize,
    /// Sessions over HTTP.
    pub sessions: usize,
    /// Sessions over HTTP of one client: of one principal (`HttpOptions::with_principal`), else of one address, or one
    /// /64 network of IPv6. Behind a proxy and without principals, all clients are one. In a router of another
    /// application, addresses are known if axum serves it by `into_make_service_with_connect_info::<SocketAddr>()`.
    pub client_sessions: usize,
    /// How long a session must have been idle for a new one of the same client to take its place.
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
