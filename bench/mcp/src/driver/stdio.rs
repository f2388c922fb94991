//! A client for standard streams, with one message per line and concurrent requests.

use std::collections::HashMap;
use std::io;
use std::process::Stdio as Streams;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;

/// The pending requests by id. Dropping a sender tells its caller that the server has ended.
type Pending = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// A server in a child process.
pub(crate) struct Stdio {
    process: Child,
    input: tokio::sync::Mutex<ChildStdin>,
    pending: Pending,
    last: AtomicU64,
}

impl Stdio {
    /// Starts a server and initializes the connection.
    pub(crate) async fn start(command: std::process::Command) -> io::Result<Self> {
        let mut command = Command::from(command);
        command.stdin(Streams::piped()).stdout(Streams::piped()).stderr(Streams::null());
        let mut process = command.kill_on_drop(true).spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("the server has no standard streams"));
        };
        let pending = Pending::default();
        tokio::spawn(deliver(output, Arc::clone(&pending)));
        let input = tokio::sync::Mutex::new(input);
        let server = Self { process, input, pending, last: AtomicU64::new(0) };
        server.request("initialize", super::handshake()).await?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(server)
    }

    /// Returns the id of the process.
    pub(crate) fn id(&self) -> io::Result<u32> {
        self.process.id().ok_or_else(ended)
    }

    /// Sends a request and waits for the response.
    pub(crate) async fn request(&self, method: &str, params: Value) -> io::Result<Value> {
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        lock(&self.pending).insert(id, sender);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request).await?;
        answer.await.map_err(|_| ended())
    }

    async fn send(&self, message: &Value) -> io::Result<()> {
        self.input.lock().await.write_all(format!("{message}\n").as_bytes()).await
    }
}

/// Sends every response to the caller of its request, until the server ends.
async fn deliver(output: ChildStdout, pending: Pending) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let answer: Value = serde_json::from_str(&line).unwrap_or_default();
        let caller = answer["id"].as_u64().and_then(|id| lock(&pending).remove(&id));
        // Sending fails if the caller no longer waits.
        drop(caller.map(|caller| caller.send(answer)));
    }
    lock(&pending).clear();
}

fn lock(pending: &Pending) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<Value>>> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ended() -> io::Error {
    io::Error::other("the server ended")
}
