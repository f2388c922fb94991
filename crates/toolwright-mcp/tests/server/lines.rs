//! A connection of lines, as a client has it, and what happens on it whatever is sent.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use toolwright_mcp::McpServer;

pub(crate) struct Connection {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    asked: usize,
}

impl Connection {
    pub(crate) fn open(server: McpServer) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(server.serve_streams(input, output));
        let (output, input) = tokio::io::split(ours);
        Self { input, output: BufReader::new(output).lines(), asked: 0 }
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Option<String> {
        let next = tokio::time::timeout(Duration::from_secs(5), self.output.next_line()).await;
        next.expect("something is said").unwrap()
    }

    /// What comes before everything sent so far is dealt with: the answer to one id at least, if there is one.
    pub(crate) async fn answers(&mut self, mut id: Option<Value>) -> Vec<String> {
        self.asked += 1;
        let mut last = Some(Value::from(format!("last-{}", self.asked)));
        let question = serde_json::json!({"jsonrpc": "2.0", "id": last, "method": "nothing"});
        self.send(&question.to_string()).await;
        let mut answers = Vec::new();
        while id.is_some() || last.is_some() {
            let answer = self.next().await.expect("the server goes on");
            let parsed: Value = serde_json::from_str(&answer).expect("a message a line");
            let answered = parsed.get("id").filter(|_| parsed.get("method").is_none());
            if answered.is_some() && answered == last.as_ref() {
                last = None;
                continue;
            }
            id = id.filter(|id| answered != Some(id));
            answers.push(answer);
        }
        answers
    }
}
