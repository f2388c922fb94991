//! Clients on byte streams that send more requests than they read responses.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex};
use tokio::time::timeout;
use toolwright::Payload;
use toolwright_mcp::{Content, Counters, Limits, McpServer};

use crate::lab::{Lab, lab, lab_with, talking};
use crate::wire::{INITIALIZE, META};

const LONG: Duration = Duration::from_secs(10);
const PING: &str = r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#;

/// A connection with small buffers.
struct Client {
    to: DuplexStream,
    from: Lines<BufReader<DuplexStream>>,
}

impl Client {
    fn of_2026_07_28(server: McpServer) -> Self {
        let ((to, input), (output, from)) = (duplex(1024), duplex(1024));
        tokio::spawn(server.serve_streams(input, output));
        Self { to, from: BufReader::new(from).lines() }
    }

    async fn of(server: McpServer) -> Self {
        let mut client = Self::of_2026_07_28(server);
        client.send(INITIALIZE).await;
        assert_eq!(client.next().await["id"], 0);
        client
    }

    async fn send(&mut self, line: &str) {
        let line = format!("{line}\n");
        timeout(LONG, self.to.write_all(line.as_bytes())).await.expect("it is read").unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = timeout(LONG, self.from.next_line()).await.expect("the server answers").unwrap();
        serde_json::from_str(&line.expect("the server goes on")).unwrap()
    }
}

fn call(tool: &str, id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
}

fn cancel(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

fn limited(lab: &Lab, limits: Limits) -> (McpServer, Counters) {
    let server = lab_with(lab.clone()).with_limits(limits);
    let counters = server.counters();
    (server, counters)
}

/// The server stops reading calls and pings while the client does not read responses.
#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_and_loses_no_response() {
    let limits = Limits { session_calls: 8, waiting_bytes: 2_000, ..Limits::default() };
    for what in ["call", "ping"] {
        let (server, _) = limited(&Lab::default(), limits);
        let mut client = Client::of(server).await;
        let mut asked = 0;
        loop {
            let line = match what {
                "call" => call("count", asked + 1),
                _ => format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, asked + 1),
            };
            let line = format!("{line}\n");
            let sent = timeout(Duration::from_millis(500), client.to.write_all(line.as_bytes()));
            if let Ok(sent) = sent.await {
                sent.unwrap();
                asked += 1;
                assert!(asked < 2_000, "the server reads on");
                continue;
            }
            break;
        }
        // The last line was written in part. Its request is not counted.
        let mut answered = BTreeSet::new();
        while answered.len() < asked {
            answered.insert(client.next().await["id"].as_u64().unwrap());
        }
        assert_eq!(answered, (1..=asked as u64).collect(), "{what}");
    }
}

/// With tokio's paused clock the test does not wait for the time limit.
#[tokio::test(start_paused = true)]
async fn a_call_whose_progress_is_not_read_keeps_its_time_limit() {
    let lab = Lab::default();
    let mut client = Client::of(talking(lab.clone())).await;
    client
        .send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"talk","_meta":{"progressToken":1}}}"#)
        .await;
    let minute = Duration::from_mins(1);
    timeout(minute, lab.given_up.notified()).await.expect("the call ends after 30 seconds");
    let mut reports = Vec::new();
    let answer = loop {
        let message = client.next().await;
        match message["params"]["progress"].as_f64() {
            Some(done) => reports.push(done),
            None => break message,
        }
    };
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(reports.is_sorted(), "{reports:?}");
    assert!(reports.len() < 100, "most of the 300 reports are dropped: {reports:?}");
}

#[tokio::test]
async fn pings_and_cancellations_are_handled_while_calls_wait() {
    let lab = Lab::default();
    let (server, counters) = limited(&lab, Limits { session_calls: 1, ..Limits::default() });
    let mut client = Client::of(server).await;
    client.send(&call("wait", 1)).await;
    lab.waiting.notified().await;
    for id in 2..=4 {
        client.send(&call("count", id)).await;
    }
    client.send(PING).await;
    assert_eq!(client.next().await["id"], "ping", "calls wait");
    assert_eq!(counters.read().calls_delayed, 3);
    client.send(&cancel(3)).await;
    client.send(&cancel(1)).await;
    timeout(LONG, lab.given_up.notified()).await.expect("the first call is given up");
    assert_eq!(client.next().await["id"], 2, "the next call starts");
    assert_eq!(client.next().await["id"], 4, "a waiting call that was cancelled is not run");
    client.send(PING).await;
    assert_eq!(client.next().await["id"], "ping", "and gets no response");
}

/// There are more subscriptions than the limit for other requests.
#[tokio::test]
async fn a_request_is_handled_beside_many_subscriptions() {
    let mut server = lab();
    let _list = server.tool_list();
    let server = server.with_limits(Limits { session_calls: 10, ..Limits::default() });
    let mut client = Client::of_2026_07_28(server);
    for id in 1..=100 {
        let params = format!(r#"{{"notifications":{{"toolsListChanged":true}},{META}}}"#);
        client
            .send(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{params}}}"#
            ))
            .await;
        if id <= 10 {
            assert_eq!(client.next().await["method"], "notifications/subscriptions/acknowledged");
        }
    }
    client
        .send(&format!(
            r#"{{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{{{META}}}}}"#
        ))
        .await;
    assert_eq!(client.next().await["id"], "list");
}

#[tokio::test]
async fn waiting_calls_run_after_the_input_has_ended() {
    let (server, _) = limited(&Lab::default(), Limits { session_calls: 1, ..Limits::default() });
    let mut client = Client::of(server).await;
    let all: String = (1..=100).map(|id| call("count", id) + "\n").collect();
    let Client { mut to, from } = client;
    let asking = tokio::spawn(async move {
        to.write_all(all.as_bytes()).await.unwrap();
    });
    client = Client { to: duplex(1).0, from };
    let mut answered = BTreeSet::new();
    for _ in 1..=100 {
        answered.insert(client.next().await["id"].as_u64().unwrap());
    }
    asking.await.unwrap();
    assert_eq!(answered, (1..=100).collect());
}

/// Subscriptions end only with their connection.
#[tokio::test]
async fn a_server_ends_after_its_input_though_calls_and_subscriptions_wait_behind_subscriptions() {
    let mut server = lab();
    let _list = server.tool_list();
    let server = server.with_limits(Limits { session_calls: 2, ..Limits::default() });
    let ((mut to, input), (output, from)) = (duplex(1 << 16), duplex(1 << 16));
    let serving = tokio::spawn(server.serve_streams(input, output));
    let params = format!(r#"{{"notifications":{{"toolsListChanged":true}},{META}}}"#);
    for id in 1..=3 {
        let listen = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{params}}}"#
        );
        to.write_all(format!("{listen}\n").as_bytes()).await.unwrap();
    }
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{{"name":"count",{META}}}}}"#
    );
    to.write_all(format!("{call}\n").as_bytes()).await.unwrap();
    drop(to);
    let mut lines = BufReader::new(from).lines();
    let mut answers = Vec::new();
    let reading = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            answers.push(line);
        }
    };
    timeout(LONG, reading).await.expect("the output ends");
    timeout(LONG, serving).await.expect("the server ends").unwrap().unwrap();
    let answer = answers.iter().find(|answer| answer.contains(r#""id":"call""#));
    assert!(answer.is_some_and(|answer| answer.contains("result")), "{answers:?}");
}

#[tokio::test]
async fn the_id_of_a_waiting_call_is_in_use() {
    let lab = Lab::default();
    let (server, _) = limited(&lab, Limits { session_calls: 1, ..Limits::default() });
    let mut client = Client::of(server).await;
    client.send(&call("wait", 1)).await;
    lab.waiting.notified().await;
    client.send(&call("count", 2)).await;
    client.send(&call("count", 2)).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
}

#[tokio::test]
async fn a_server_ends_when_its_output_is_closed() {
    let ((mut to, input), (output, from)) = (duplex(1024), duplex(1024));
    let serving = tokio::spawn(lab().serve_streams(input, output));
    drop(from);
    to.write_all(format!("{INITIALIZE}\n").as_bytes()).await.unwrap();
    let ended = timeout(LONG, serving).await;
    ended.expect("it ends though its input goes on").unwrap().unwrap();
    drop(to);
}

#[tokio::test]
async fn the_error_for_a_call_that_is_too_long_has_its_id() {
    let mut client = Client::of(lab()).await;
    let spaces = " ".repeat(17 << 20);
    let long = format!(
        r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"count","arguments":{{"id":9{spaces}}}}},"id":"x"}}"#
    );
    let asking = tokio::spawn(async move {
        client.send(&long).await;
        client.send(PING).await;
        client
    });
    let mut client = timeout(Duration::from_mins(1), asking).await.unwrap().unwrap();
    let refused = client.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&"x".into(), &(-32600).into()));
    assert_eq!(client.next().await["id"], "ping");
}

#[tokio::test]
async fn a_result_is_made_into_a_response_when_earlier_large_ones_are_read() {
    let made = Arc::new(AtomicUsize::new(0));
    let mut server = lab();
    let count = Arc::clone(&made);
    let show = move |payload: &Payload| {
        count.fetch_add(1, Ordering::SeqCst);
        vec![Content::Text(payload.to_string())]
    };
    server.present("echo", show).unwrap();
    let Client { mut to, mut from } = Client::of(server).await;
    let args = format!(r#"{{"a":"{}"}}"#, "x".repeat(2 << 20));
    let asking = tokio::spawn(async move {
        for id in 1..=6 {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{args}}}}}"#
            );
            to.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }
        to
    });
    while made.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(made.load(Ordering::SeqCst), 1, "the first response is unread");
    for _ in 1..=6 {
        let line = timeout(LONG, from.next_line()).await.expect("the server answers").unwrap();
        assert!(line.expect("the server goes on").len() > 2 << 20);
    }
    assert_eq!(made.load(Ordering::SeqCst), 6);
    asking.await.unwrap();
}
