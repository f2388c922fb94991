//! The client that all servers are measured with, over either transport. Measures nothing.

mod http;
mod stdio;

pub(crate) use http::Http;
pub(crate) use stdio::Stdio;

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

/// A way to reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Standard streams, after a handshake.
    Stdio,
    /// HTTP with a session.
    Sessions,
    /// HTTP without one: the revision 2026-07-28.
    Stateless,
}

impl Way {
    /// How rows are named.
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
    /// Calls the tool once and looks at the sum.
    pub(crate) async fn call(&mut self, number: u32) -> io::Result<()> {
        let answer = self.call_tool("add", json!({ "a": number, "b": 0.5 })).await?;
        let sum = answer["result"]["structuredContent"]["sum"].as_f64();
        if sum == Some(f64::from(number) + 0.5) {
            return Ok(());
        }
        Err(io::Error::other(format!("found {answer}, expected the sum of {number} and 0.5")))
    }

    /// Calls a tool and returns whatever is answered.
    pub(crate) async fn call_tool(&mut self, name: &str, arguments: Value) -> io::Result<Value> {
        let params = json!({ "name": name, "arguments": arguments });
        match self {
            Self::Stdio(stdio) => stdio.ask("tools/call", params).await,
            Self::Http(http) => http.ask("tools/call", params).await,
        }
    }
}

/// What a client of the older era says first.
fn handshake() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1.0.0" },
    })
}
