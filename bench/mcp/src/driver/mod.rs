//! The MCP client for all servers, over stdio and HTTP.

mod http;
mod stdio;

pub(crate) use http::Http;
pub(crate) use stdio::Stdio;

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

/// A transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Standard streams.
    Stdio,
    /// HTTP with a session, of the revision 2025-11-25.
    Sessions,
    /// HTTP with stateless requests, of the revision 2026-07-28.
    Stateless,
}

impl Transport {
    /// Returns its name for tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Sessions => "HTTP, 2025-11-25",
            Self::Stateless => "HTTP, 2026-07-28",
        }
    }
}

/// A connected client.
pub(crate) enum Client {
    Stdio(Arc<Stdio>),
    Http(Http),
}

impl Client {
    /// Calls the tool once and checks the sum.
    pub(crate) async fn call(&mut self, number: u32) -> io::Result<()> {
        let answer = self.call_tool("add", json!({ "a": number, "b": 0.5 })).await?;
        let sum = answer["result"]["structuredContent"]["sum"].as_f64();
        if sum == Some(f64::from(number) + 0.5) {
            return Ok(());
        }
        Err(io::Error::other(format!("found {answer}, expected the sum of {number} and 0.5")))
    }

    /// Calls a tool and returns the response.
    pub(crate) async fn call_tool(&mut self, name: &str, arguments: Value) -> io::Result<Value> {
        let params = json!({ "name": name, "arguments": arguments });
        match self {
            Self::Stdio(stdio) => stdio.request("tools/call", params).await,
            Self::Http(http) => http.request("tools/call", params).await,
        }
    }
}

/// Returns the parameters of `initialize`.
fn handshake() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1.0.0" },
    })
}
