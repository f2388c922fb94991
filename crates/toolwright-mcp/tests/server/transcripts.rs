//! Transcripts of messages: lines with `->` are sent, lines with `<-` are the expected responses. Each file is played on
//! byte streams and over HTTP, with equal responses. `UPDATE_EXPECT=1` writes the responses on byte streams.

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use toolwright_mcp::HttpOptions;

use crate::lab::lab;
use crate::lines::Connection;
use crate::wire::{ACCEPT, HOST, JSON, send, served};

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Returns the lines of a transcript that are not responses.
fn without_responses(transcript: &str) -> impl Iterator<Item = &str> {
    transcript.lines().filter(|line| !line.starts_with("<- "))
}

/// Replaces the short forms in a line.
fn expanded(line: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut with_token = meta.clone();
    with_token["progressToken"] = json!("p");
    line.replace("\"META\":0", &format!("\"_meta\":{meta}"))
        .replace("\"META\":\"p\"", &format!("\"_meta\":{with_token}"))
}

/// Returns the id that the response must have, or `None` if the message has no id or several.
fn id_of(message: &str) -> Option<Value> {
    if message.matches(r#""id":"#).count() != 1 {
        return None;
    }
    let message: Value = serde_json::from_str(message).ok()?;
    message.get("method")?;
    message.get("id").filter(|id| id.is_string() || id.is_i64()).cloned()
}

#[tokio::test]
async fn responses_on_byte_streams_equal_the_transcripts() {
    for file in transcripts() {
        let transcript = fs::read_to_string(&file).unwrap();
        let mut connection = Connection::open(lab());
        let mut played = String::new();
        for line in without_responses(&transcript) {
            played.push_str(line);
            played.push('\n');
            let Some(sent) = line.strip_prefix("-> ") else { continue };
            let sent = expanded(sent);
            connection.send(&sent).await;
            for answer in connection.answers(id_of(&sent)).await {
                played.push_str("<- ");
                played.push_str(&answer);
                played.push('\n');
            }
        }
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&file, &played).unwrap();
        }
        assert_eq!(played, fs::read_to_string(&file).unwrap(), "{}", file.display());
    }
}

/// Over HTTP a notification gets no response, and a malformed message gets 400.
#[tokio::test]
async fn responses_over_http_equal_the_transcripts() {
    for file in transcripts() {
        let transcript = fs::read_to_string(&file).unwrap();
        if transcript.contains("only on lines") {
            continue;
        }
        let mut client = HttpClient { address: served(HttpOptions::new()).await, session: None };
        let mut played = String::new();
        for line in without_responses(&transcript) {
            played.push_str(line);
            played.push('\n');
            let Some(sent) = line.strip_prefix("-> ") else { continue };
            for answer in client.send(&expanded(sent)).await {
                played.push_str("<- ");
                played.push_str(&answer);
                played.push('\n');
            }
        }
        assert_eq!(played, transcript, "{}", file.display());
    }
}

/// A minimal client of the HTTP transport.
struct HttpClient {
    address: SocketAddr,
    session: Option<String>,
}

impl HttpClient {
    async fn send(&mut self, message: &str) -> Vec<String> {
        let mut headers = vec![HOST, JSON, ACCEPT];
        let parsed: Value = serde_json::from_str(message).unwrap_or_default();
        let text = |pointer: &str| parsed.pointer(pointer).and_then(Value::as_str);
        let version = text("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        headers.extend(version.map(|version| ("MCP-Protocol-Version", version)));
        if version.is_some() {
            headers.extend(text("/method").map(|method| ("Mcp-Method", method)));
            headers.extend(text("/params/name").map(|name| ("Mcp-Name", name)));
        } else if let Some(session) = &self.session {
            headers.push(("Mcp-Session-Id", session));
        }
        let sending = send(self.address, "POST", &headers, message);
        let response = tokio::time::timeout(Duration::from_secs(5), sending).await.unwrap();
        if let Some(session) = response.header("mcp-session-id") {
            self.session = Some(session.to_owned());
        }
        answers(&response.body)
    }
}

/// Returns the messages in a body, which is one message or a stream of events.
fn answers(body: &str) -> Vec<String> {
    if body.starts_with('{') {
        return vec![body.to_owned()];
    }
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    events.filter(|data| data.starts_with('{')).map(str::to_owned).collect()
}
