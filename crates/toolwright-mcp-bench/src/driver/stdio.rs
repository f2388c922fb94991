//! Standard streams: one message a line. Never has two requests on the way.

use std::io;
use std::process::Stdio as Streams;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A server as a child process.
pub(crate) struct Stdio {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last: u64,
}

impl Stdio {
    /// Starts a server and shakes hands with it.
    pub(crate) async fn start(command: std::process::Command) -> io::Result<Self> {
        let mut command = Command::from(command);
        command.stdin(Streams::piped()).stdout(Streams::piped()).stderr(Streams::null());
        let mut process = command.kill_on_drop(true).spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("the server has no standard streams"));
        };
        let mut server = Self { process, input, output: BufReader::new(output).lines(), last: 0 };
        server.ask("initialize", super::handshake()).await?;
        server.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(server)
    }

    /// The process's id.
    pub(crate) fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> io::Result<Value> {
        self.last += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.say(&request).await?;
        loop {
            let line = self.output.next_line().await?;
            let line = line.ok_or_else(|| io::Error::other("the server ended"))?;
            let answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == self.last {
                return Ok(answer);
            }
        }
    }

    async fn say(&mut self, message: &Value) -> io::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes()).await
    }
}
