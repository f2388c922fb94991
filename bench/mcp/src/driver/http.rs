//! A client for streamable HTTP on one connection. It reads responses in JSON and event streams.

use std::io;
use std::time::Duration;

use reqwest::{RequestBuilder, Response, header};
use serde_json::{Value, json};

const SESSION: &str = "mcp-session-id";
/// The maximal time until a new server listens.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A client of a server at a URL.
pub(crate) struct Http {
    client: reqwest::Client,
    url: String,
    /// `None` for stateless requests.
    session: Option<String>,
    /// Set for stateless requests, of the revision 2026-07-28.
    is_stateless: bool,
    last: u64,
}

impl Http {
    /// Connects to a server with stateless requests.
    pub(crate) async fn stateless(url: &str) -> io::Result<Self> {
        let mut server = Self::new(url, true)?;
        server.until_it_listens("server/discover", json!({})).await?;
        Ok(server)
    }

    /// Connects to a server and opens a session.
    pub(crate) async fn session(url: &str) -> io::Result<Self> {
        let mut server = Self::new(url, false)?;
        server.until_it_listens("initialize", super::handshake()).await?;
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        server.post(&initialized).send().await.map_err(io::Error::other)?;
        Ok(server)
    }

    fn new(url: &str, is_stateless: bool) -> io::Result<Self> {
        let client =
            reqwest::Client::builder().tcp_nodelay(true).build().map_err(io::Error::other)?;
        Ok(Self { client, url: url.to_owned(), session: None, is_stateless, last: 0 })
    }

    async fn until_it_listens(&mut self, method: &str, params: Value) -> io::Result<()> {
        let start = std::time::Instant::now();
        loop {
            match self.request(method, params.clone()).await {
                Ok(answer) if answer["result"].is_object() => return Ok(()),
                Ok(answer) => return Err(io::Error::other(format!("{method} gave {answer}"))),
                Err(error) if start.elapsed() > START_TIMEOUT => return Err(error),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Sends a request and waits for the response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> io::Result<Value> {
        let response = self.send(method, params).await?;
        let text = response.text().await.map_err(io::Error::other)?;
        // In an event stream, the response is the last message.
        let answer = text.lines().rfind(|line| line.contains("\"id\"")).unwrap_or_default();
        Ok(serde_json::from_str(answer.strip_prefix("data:").unwrap_or(answer))?)
    }

    /// Sends a request and waits for the headers of the response. The caller may read the body.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> io::Result<Response> {
        self.last += 1;
        if self.is_stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1.0.0" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let body = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        let response = self.post(&body).send().await.map_err(io::Error::other)?;
        if let Some(session) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
            self.session = Some(session.to_owned());
        }
        Ok(response)
    }

    fn post(&self, body: &Value) -> RequestBuilder {
        let accept = "application/json, text/event-stream";
        let mut request = self
            .client
            .post(&self.url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, accept)
            .body(body.to_string());
        if let Some(session) = &self.session {
            request = request.header(SESSION, session).header("mcp-protocol-version", "2025-11-25");
        }
        if self.is_stateless {
            let method = body["method"].as_str().unwrap_or_default();
            request =
                request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
            if let Some(name) = body["params"]["name"].as_str() {
                request = request.header("mcp-name", name);
            }
        }
        request
    }
}
