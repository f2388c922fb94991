//! What is said to a server and what it answers, as files: `->` is sent, `<-` is what comes of it. Each is played on
//! lines and over HTTP, and the answers are the same. `UPDATE_EXPECT=1` writes what was answered on lines.

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

/// What a transcript says to the server, with the words between.
fn said(transcript: &str) -> impl Iterator<Item = &str> {
    transcript.lines().filter(|line| !line.starts_with("<- "))
}

/// A line, or what a short form of it stands for.
fn expanded(line: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut asking = meta.clone();
    asking["progressToken"] = json!("p");
    line.replace("\"META\":0", &format!("\"_meta\":{meta}"))
        .replace("\"META\":\"p\"", &format!("\"_meta\":{asking}"))
}

/// The id that an answer has to have; a message that gives several has none.
fn id_of(message: &str) -> Option<Value> {
    if message.matches(r#""id":"#).count() != 1 {
        return None;
    }
    let message: Value = serde_json::from_str(message).ok()?;
    message.get("method")?;
    message.get("id").filter(|id| id.is_string() || id.is_i64()).cloned()
}

#[tokio::test]
async fn transcripts_on_lines_are_as_written() {
    for file in transcripts() {
        let transcript = fs::read_to_string(&file).unwrap();
        let mut connection = Connection::open(lab());
        let mut played = String::new();
        for line in said(&transcript) {
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

/// The same over HTTP, where what wants no answer gets none, and what is no message a 400.
#[tokio::test]
async fn transcripts_over_http_are_the_same() {
    for file in transcripts() {
        let transcript = fs::read_to_string(&file).unwrap();
        if transcript.contains("only on lines") {
            continue;
        }
        let mut client = HttpClient { address: served(HttpOptions::new()).await, session: None };
        let mut played = String::new();
        for line in said(&transcript) {
            played.push_str(line);
            played.push('\n');
            let Some(sent) = line.strip_prefix("-> ") else { continue };
            for answer in client.ask(&expanded(sent)).await {
                played.push_str("<- ");
                played.push_str(&answer);
                played.push('\n');
            }
        }
        assert_eq!(played, transcript, "{}", file.display());
    }
}

/// A client that does what the transport's rules ask for, and no more.
struct HttpClient {
    address: SocketAddr,
    session: Option<String>,
}

impl HttpClient {
    async fn ask(&mut self, message: &str) -> Vec<String> {
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

/// The messages in a body: all of it, or the events of a stream.
fn answers(body: &str) -> Vec<String> {
    if body.starts_with('{') {
        return vec![body.to_owned()];
    }
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    events.filter(|data| data.starts_with('{')).map(str::to_owned).collect()
}
