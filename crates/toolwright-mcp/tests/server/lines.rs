//! A client on byte streams, and tests that send malformed lines.

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
        next.expect("the server answers").unwrap()
    }

    pub(crate) async fn next_message(&mut self) -> Value {
        let line = self.next().await.expect("the server goes on");
        serde_json::from_str(&line).expect("a message a line")
    }

    /// Returns all messages until everything that was sent is handled, including the response to `id` if there is one.
    pub(crate) async fn answers(&mut self, mut id: Option<Value>) -> Vec<String> {
        self.asked += 1;
        let mut last = Some(Value::from(format!("last-{}", self.asked)));
        let request = serde_json::json!({"jsonrpc": "2.0", "id": last, "method": "nothing"});
        self.send(&request.to_string()).await;
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

/// Returns a random line: a valid message that is cut, changed or mixed with others.
fn garbled(random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    const SEEDS: [&str; 8] = [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{"a":[1,2]}}}"#,
        r#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"cursor":"from-1"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{"content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","id":6,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        "[[[[[[[[{{{{{{{{\"\\u0000",
    ];
    let mut line = SEEDS[random(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..random(4) {
        let (at, other) = (random(line.len()), SEEDS[random(SEEDS.len())].as_bytes());
        match random(4) {
            0 => line.truncate(at.max(1)),
            1 => line[at] = u8::try_from(random(256)).unwrap_or(0),
            2 => drop(line.splice(at..at, other[..random(other.len())].iter().copied())),
            _ => drop(line.remove(at.min(line.len() - 1))),
        }
        if line.is_empty() {
            break;
        }
    }
    line.retain(|byte| *byte != b'\n');
    line
}

/// Each valid request gets one response, whatever was sent before it.
#[tokio::test]
async fn malformed_lines_do_not_affect_other_requests() {
    for seed in 1..=12_u64 {
        let mut state = seed;
        // Xorshift: the same lines each time.
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below.max(1) as u64).unwrap()
        };
        let mut connection = Connection::open(crate::lab::lab());
        for turn in 0..100 {
            let line = garbled(&mut random);
            connection.input.write_all(&line).await.unwrap();
            connection.input.write_all(b"\n").await.unwrap();
            let id = format!("{seed}-{turn}");
            let call = format!(
                r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"count",{}}}}}"#,
                crate::wire::META
            );
            connection.send(&call).await;
            let answers = connection.answers(Some(id.clone().into())).await;
            let own = answers.iter().filter(|answer| answer.contains(&format!(r#""id":"{id}""#)));
            let own: Vec<_> = own.collect();
            assert_eq!(own.len(), 1, "{seed} {turn}: {}", String::from_utf8_lossy(&line));
            assert!(own[0].contains(r#""structuredContent":0"#), "{}", own[0]);
        }
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_is_read() {
    let mut connection = Connection::open(crate::lab::lab());
    let part = vec![b'x'; 1 << 20];
    for _ in 0..17 {
        connection.input.write_all(&part).await.unwrap();
    }
    connection.send("").await;
    let refused = connection.next_message().await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    connection.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    assert_eq!(connection.next_message().await["result"], serde_json::json!({}));
}

#[tokio::test]
async fn a_last_line_needs_no_line_break() {
    let mut connection = Connection::open(crate::lab::lab());
    connection.input.write_all(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await.unwrap();
    connection.input.shutdown().await.unwrap();
    assert_eq!(connection.next_message().await["id"], 1);
    assert_eq!(connection.next().await, None, "it ends with its input");
}
