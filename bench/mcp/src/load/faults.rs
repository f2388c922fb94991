//! Clients that misbehave, and calls of tools that do. Their errors are ignored.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::driver::Client;
use crate::servers::Server;

const HALF_OPEN: usize = 32;
const UNFINISHED: usize = 16;
const SLOW_READERS: usize = 8;

/// The length of a result that the client does not read, in bytes.
const UNREAD: u32 = 3 << 20;
/// The length of a large result that the client reads, in bytes.
const LARGE: u32 = 1 << 20;

/// The time that a caller of a misbehaving tool waits for the response. If the tool panics, there may be none.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Tasks that misbehave until they are stopped.
pub(super) struct Faults(JoinSet<()>);

impl Faults {
    /// Starts all of them. Over standard streams, only tools misbehave.
    pub(super) async fn start(server: &Server) -> io::Result<Self> {
        let mut faults = JoinSet::new();
        let block = json!({ "milliseconds": 200 });
        let tools = [
            ("panic", json!({}), Duration::from_millis(100)),
            ("block", block, Duration::from_secs(1)),
            ("fill", json!({ "bytes": LARGE }), Duration::from_millis(500)),
        ];
        for (tool, arguments, every) in tools {
            faults.spawn(call_again(server.client().await?, tool, arguments, every));
        }
        let Some(url) = server.url() else { return Ok(Self(faults)) };
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        let head = format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\n");
        for _ in 0..HALF_OPEN {
            faults.spawn(again(address.clone(), head.clone()));
        }
        let unfinished = format!(
            "{head}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: 4000000\r\n\r\n{{\"jsonrpc\":\"2.0\","
        );
        for _ in 0..UNFINISHED {
            faults.spawn(again(address.clone(), unfinished.clone()));
        }
        for _ in 0..SLOW_READERS {
            faults.spawn(never_read(server.client().await?));
        }
        Ok(Self(faults))
    }

    /// Stops all of them and closes their connections.
    pub(super) fn stop(mut self) {
        self.0.abort_all();
    }
}

async fn call_again(mut client: Client, tool: &'static str, arguments: Value, every: Duration) {
    loop {
        // Some calls are meant to fail.
        let _ = timeout(TIMEOUT, client.call_tool(tool, arguments.clone())).await;
        sleep(every).await;
    }
}

/// Sends a part of a request, waits for the server to close the connection, and starts again.
async fn again(address: String, part: String) {
    loop {
        if let Ok(mut stream) = TcpStream::connect(&address).await
            && stream.write_all(part.as_bytes()).await.is_ok()
        {
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Requests large results and reads none of them.
async fn never_read(client: Client) {
    let Client::Http(mut http) = client else { return };
    let params = json!({ "name": "fill", "arguments": { "bytes": UNREAD } });
    loop {
        let response = http.send("tools/call", params.clone()).await;
        sleep(Duration::from_secs(if response.is_ok() { 60 } else { 1 })).await;
    }
}
