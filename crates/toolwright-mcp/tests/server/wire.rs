//! A minimal HTTP client that sends requests as they are given.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolwright_mcp::{Counters, Counts, HttpOptions, McpServer};

use crate::lab::lab;

/// Serves the lab until the test's runtime ends.
pub(crate) async fn served(options: HttpOptions) -> SocketAddr {
    serve(lab(), options).await
}

/// Serves until the test's runtime ends.
pub(crate) async fn serve(server: McpServer, options: HttpOptions) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server.serve_listener(listener, options));
    address
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// Sends one request on a connection of its own.
pub(crate) async fn send(
    address: SocketAddr,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let headers: String =
        headers.iter().flat_map(|(name, value)| [*name, ": ", *value, "\r\n"]).collect();
    let length = body.len();
    let head = format!(
        "{method} /mcp HTTP/1.1\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // A server that refuses early may not read the whole body.
    let _ = stream.write_all(body.as_bytes()).await;
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all).await;
    let all = String::from_utf8(all).unwrap();
    let (head, body) = all.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Response { status, head: head.to_owned(), body: body.to_owned() }
}

pub(crate) const HOST: (&str, &str) = ("Host", "localhost");
pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");
pub(crate) const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");
pub(crate) const MODERN: [(&str, &str); 4] =
    [HOST, JSON, ACCEPT, ("MCP-Protocol-Version", "2026-07-28")];

pub(crate) const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Opens a session.
pub(crate) async fn initialize(address: SocketAddr, more: &[(&str, &str)]) -> Response {
    let headers = [&[HOST, JSON, ACCEPT], more].concat();
    send(address, "POST", &headers, INITIALIZE).await
}

/// Sends a request or a notification in a session.
pub(crate) async fn in_session(
    address: SocketAddr,
    session: &str,
    more: &[(&str, &str)],
    method: &str,
    body: &str,
) -> Response {
    let headers = [&[HOST, JSON, ACCEPT, ("Mcp-Session-Id", session)], more].concat();
    send(address, method, &headers, body).await
}

/// Waits until a condition on the counters is true.
pub(crate) async fn until(counters: &Counters, condition: impl Fn(Counts) -> bool) {
    let wait = async {
        while !condition(counters.read()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), wait).await;
    assert!(waited.is_ok(), "{:?}", counters.read());
}

impl Response {
    pub(crate) fn session(&self) -> String {
        assert_eq!(self.status, 200, "{}", self.body);
        self.header("mcp-session-id").expect("it has a session").to_owned()
    }
}
