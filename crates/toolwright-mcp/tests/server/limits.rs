//! Limits of HTTP clients: connections, time and memory.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use toolwright_mcp::{Counters, HttpOptions, Limits};
use toolwright_runtime::ExecutionService;
use toolwright_runtime::execute::Timeout;

use crate::lab::{Lab, lab, lab_with};
use crate::wire::{
    ACCEPT, HOST, INITIALIZE, JSON, META, MODERN, Response, initialize, send, serve, until,
};

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(10);

/// A head without its end.
const HALF_HEAD: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";

async fn limited(limits: Limits) -> (SocketAddr, Counters) {
    let server = lab().with_limits(limits);
    let counters = server.counters();
    (serve(server, HttpOptions::new().with_max_body(16 << 20)).await, counters)
}

async fn open(address: SocketAddr, sent: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    stream
}

/// Reads until the server closes the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = timeout(LONG, stream.read_to_end(&mut bytes)).await;
    // It may close with a reset.
    let _ = read.expect("the server closes the connection");
    String::from_utf8(bytes).unwrap()
}

fn echo(text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{"a":"{text}"}},{META}}}}}"#
    )
}

async fn call(address: SocketAddr, text: &str) -> Response {
    let headers = [&MODERN[..], &[("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")]].concat();
    send(address, "POST", &headers, &echo(text)).await
}

/// Returns the head of a call with the given part of its body.
fn partial_call(length: usize, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test]
async fn a_connection_without_a_complete_head_times_out() {
    let (address, counters) = limited(Limits { header_timeout: SHORT, ..Limits::default() }).await;
    let half = open(address, HALF_HEAD).await;
    assert_eq!(rest(half).await, "");
    until(&counters, |counts| counts.open_connections == 0).await;
    assert_eq!(counters.read().connections_timed_out, 1);
}

/// Connections with incomplete heads keep others waiting only until they time out.
#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let limits = Limits { connections: 2, header_timeout: SHORT, ..Limits::default() };
    let (address, counters) = limited(limits).await;
    let mut slow = Vec::new();
    for _ in 0..2 {
        slow.push(open(address, HALF_HEAD).await);
    }
    until(&counters, |counts| counts.open_connections == 2).await;
    let answer = timeout(LONG, call(address, "x")).await.expect("the connection is accepted");
    assert_eq!(answer.status, 200);
    assert!(counters.read().connections_awaited > 0);
    until(&counters, |counts| counts.connections_timed_out == 2).await;
}

#[tokio::test]
async fn connections_of_one_address_are_limited() {
    let limits = Limits { connections: 4, client_connections: 2, ..Limits::default() };
    let (address, counters) = limited(limits).await;
    let held = [open(address, HALF_HEAD).await, open(address, HALF_HEAD).await];
    until(&counters, |counts| counts.open_connections == 2).await;
    assert_eq!(rest(open(address, "").await).await, "");
    assert_eq!(counters.read().connections_refused, 1);

    let other = TcpSocket::new_v4().unwrap();
    other.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = other.connect(address).await.unwrap();
    let body = echo("x");
    let call_and_close =
        partial_call(body.len(), &body).replace("Mcp-Name", "Connection: close\r\nMcp-Name");
    other.write_all(call_and_close.as_bytes()).await.unwrap();
    let answer = rest(other).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");

    drop(held);
    until(&counters, |counts| counts.open_connections == 0).await;
    assert_eq!(call(address, "x").await.status, 200, "it can connect again");
    assert_eq!(counters.read().connections_refused, 1);
}

#[tokio::test]
async fn limits_may_have_their_largest_values() {
    let (all, ever) = (usize::MAX, Duration::MAX);
    let limits = Limits {
        result_bytes: all,
        calls: all,
        session_calls: all,
        session_streams: all,
        waiting_bytes: all,
        connections: all,
        client_connections: all,
        header_timeout: ever,
        body_timeout: ever,
        write_timeout: ever,
        write_rate: all,
        request_bytes: all,
        sessions: all,
        client_sessions: all,
        evictable_after: ever,
    };
    let options = HttpOptions::new().with_session_idle(Some(ever));
    let address = serve(lab().with_limits(limits), options).await;
    initialize(address, &[]).await.session();
    // Larger than one write of the server, so that all timers are set.
    let text = "x".repeat(1 << 20);
    assert_eq!(call(address, &text).await.status, 200);
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let (address, _) = limited(Limits::default()).await;
    let response = rest(open(address, &(HALF_HEAD.to_owned() + &"x".repeat(70_000))).await).await;
    assert!(response.starts_with("HTTP/1.1 431 "), "{response}");
}

#[tokio::test]
async fn timeouts_of_clients_do_not_limit_calls() {
    let lab = Lab::default();
    let (header_timeout, body_timeout, write_timeout) = (SHORT, SHORT, SHORT);
    let limits = Limits { header_timeout, body_timeout, write_timeout, ..Limits::default() };
    let address = serve(lab_with(lab.clone()).with_limits(limits), HttpOptions::new()).await;
    let body = echo("x").replace("echo", "wait");
    let call = partial_call(body.len(), &body)
        .replace("Mcp-Name: echo", "Connection: close\r\nMcp-Name: wait");
    let answer = tokio::spawn(rest(open(address, &call).await));
    lab.waiting.notified().await;
    tokio::time::sleep(SHORT * 2).await;
    lab.release.notify_one();
    let answer = answer.await.unwrap();
    assert!(answer.contains(r#""text":"1""#), "{answer}");
}

#[tokio::test]
async fn a_request_without_a_complete_body_times_out() {
    let (address, counters) = limited(Limits { body_timeout: SHORT, ..Limits::default() }).await;
    let response = rest(open(address, &partial_call(4_000, "{")).await).await;
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    assert!(response.contains("did not arrive in time"), "{response}");
    assert_eq!(counters.read().bodies_timed_out, 1);
}

#[tokio::test]
async fn the_memory_of_incomplete_bodies_is_limited() {
    let limits = Limits { request_bytes: 300_000, ..Limits::default() };
    let (address, counters) = limited(limits).await;
    let part = "x".repeat(300_000);
    let unfinished = open(address, &partial_call(4_000_000, &part)).await;
    // Once a second request of this size is refused, the first has been read.
    let refused = async {
        loop {
            let response = call(address, &part).await;
            if response.status == 503 {
                return response;
            }
        }
    };
    let refused = timeout(LONG, refused).await.expect("there is a limit");
    assert!(refused.header("retry-after").is_some(), "{}", refused.head);
    assert!(counters.read().requests_refused > 0);
    assert_eq!(call(address, "small").await.status, 200, "small requests are accepted");
    drop(unfinished);
    until(&counters, |counts| counts.open_connections == 0).await;
    assert_eq!(call(address, &part).await.status, 200, "the memory is free again");
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_is_disconnected() {
    let limits = Limits { write_timeout: SHORT, result_bytes: 16 << 20, ..Limits::default() };
    let (address, counters) = limited(limits).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut unread = socket.connect(address).await.unwrap();
    // The answer has the text twice, more than the buffers of the system hold.
    let body = echo(&"x".repeat(4 << 20));
    unread.write_all(partial_call(body.len(), &body).as_bytes()).await.unwrap();
    until(&counters, |counts| counts.connections_timed_out == 1).await;
    until(&counters, |counts| counts.open_connections == 0).await;
}

/// Requests a long answer and reads 64 KiB of it every 25 ms until the connection is closed. Returns the number of bytes.
async fn read_slowly(address: SocketAddr) -> usize {
    const PART: u32 = 64 << 10;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(PART).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let body = echo(&"x".repeat(4 << 20));
    let request =
        partial_call(body.len(), &body).replace("Mcp-Name", "Connection: close\r\nMcp-Name");
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut part, mut all) = (vec![0; PART as usize], 0);
    while let Ok(read @ 1..) = stream.read(&mut part).await {
        all += read;
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    all
}

#[tokio::test]
async fn a_client_that_reads_its_answer_too_slowly_is_disconnected() {
    let write_timeout = Duration::from_secs(1);
    let limits = Limits { write_timeout, write_rate: 64 << 20, ..Limits::default() };
    let limits = Limits { result_bytes: 16 << 20, ..limits };
    let (address, counters) = limited(limits).await;
    timeout(LONG, read_slowly(address)).await.expect("the connection is closed");
    until(&counters, |counts| counts.open_connections == 0).await;
    assert_eq!(counters.read().connections_timed_out, 1);

    // The same speed is above a lower minimum rate.
    let limits = Limits { write_timeout: LONG, write_rate: 1_000, ..limits };
    let (address, counters) = limited(limits).await;
    let read = timeout(LONG * 3, read_slowly(address)).await.expect("the answer is complete");
    assert!(read > 8 << 20, "{read} bytes");
    assert_eq!(counters.read().connections_timed_out, 0);
}

#[tokio::test]
async fn calls_beyond_the_limit_of_the_server_are_unavailable() {
    let lab = Lab::default();
    let server = lab_with(lab.clone()).with_limits(Limits { calls: 1, ..Limits::default() });
    let counters = server.counters();
    let address = serve(server, HttpOptions::new()).await;
    let headers = [&MODERN[..], &[("Mcp-Method", "tools/call"), ("Mcp-Name", "wait")]].concat();
    let wait = echo("x").replace("echo", "wait");
    let waiting = tokio::spawn(async move { send(address, "POST", &headers, &wait).await });
    lab.waiting.notified().await;
    assert_eq!(counters.read().open_calls, 1);
    let busy = timeout(LONG, call(address, "x")).await.expect("it is answered at once");
    assert_eq!(busy.status, 200);
    let text = r#""text":"the server is busy with too many calls; call again later""#;
    for part in [text, r#""isError":true"#, r#""kind":"unavailable""#, r#""recovery":"retry""#] {
        assert!(busy.body.contains(part), "{part}: {}", busy.body);
    }
    assert_eq!(counters.read().calls_unavailable, 1);
    initialize(address, &[]).await.session();

    lab.release.notify_one();
    assert!(waiting.await.unwrap().body.contains(r#""text":"1""#));
    until(&counters, |counts| counts.open_calls == 0).await;
    assert!(!call(address, "x").await.body.contains(r#""isError":true"#), "it can be called again");
    assert_eq!(counters.read().calls_unavailable, 1);
}

#[tokio::test]
async fn the_host_can_set_the_timeout_of_calls() {
    let execute = ExecutionService::new(Timeout::new(SHORT));
    let address = serve(lab().with_execution_service(execute), HttpOptions::new()).await;
    let headers = [&MODERN[..], &[("Mcp-Method", "tools/call"), ("Mcp-Name", "wait")]].concat();
    let answer = send(address, "POST", &headers, &echo("x").replace("echo", "wait")).await;
    assert!(answer.body.contains(r#""kind":"timeout""#), "{}", answer.body);
}

#[tokio::test]
async fn the_streams_of_a_session_are_limited() {
    let (address, counters) = limited(Limits { session_streams: 2, ..Limits::default() }).await;
    let listen = async |session: &str| {
        let head = format!(
            "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
        );
        let mut stream = open(address, &head).await;
        let mut status = [0; "HTTP/1.1 200".len()];
        timeout(LONG, stream.read_exact(&mut status)).await.expect("it answers").unwrap();
        (stream, String::from_utf8(status.to_vec()).unwrap())
    };
    let [session, other] =
        [initialize(address, &[]).await.session(), initialize(address, &[]).await.session()];
    let (first, second) = (listen(&session).await, listen(&session).await);
    assert_eq!([&*first.1, &*second.1], ["HTTP/1.1 200"; 2]);
    assert_eq!(listen(&session).await.1, "HTTP/1.1 429");
    assert_eq!(listen(&other).await.1, "HTTP/1.1 200", "another session has its own limit");
    assert_eq!(counters.read().streams_refused, 1);
    drop(first);
    let again = async { while listen(&session).await.1 != "HTTP/1.1 200" {} };
    timeout(LONG, again).await.expect("it can open a stream again");
}

#[tokio::test]
async fn a_result_that_is_too_large_becomes_a_failure() {
    let (address, counters) = limited(Limits { result_bytes: 1_000, ..Limits::default() }).await;
    let large = call(address, &"x".repeat(2_000)).await;
    assert!(large.body.contains(r#""isError":true"#), "{}", large.body);
    let text =
        "`echo` ran, but its result has 2008 bytes, and at most 1000 are allowed; ask for less";
    assert!(large.body.contains(text), "{}", large.body);
    assert!(!large.body.contains("xxx"));
    assert_eq!(counters.read().results_too_large, 1);
    assert!(!call(address, "small").await.body.contains("isError\":true"));
}

#[tokio::test]
async fn ambiguous_headers_are_a_bad_request() {
    let (address, counters) = limited(Limits::default()).await;
    let origin = ("Origin", "http://localhost");
    let session = ("Mcp-Session-Id", "a");
    let version = ("MCP-Protocol-Version", "2025-11-25");
    for more in [
        &[("Host", "localhost")][..],
        &[("Host", "evil.example")],
        &[origin, ("Origin", "http://evil.example")],
        &[origin, origin],
        &[session, ("Mcp-Session-Id", "b")],
        &[session, session],
        &[version, ("MCP-Protocol-Version", "2025-06-18")],
        &[version, version],
        &[("Authorization", "Bearer a"), ("Authorization", "Bearer b")],
        &[("Origin", "http://localhost:1.evil.example")],
        &[("Origin", "http://x@localhost")],
        &[("Origin", "http://localhost:99999")],
        &[("Origin", "http://localhost:+80")],
        &[("Origin", "localhost")],
        &[JSON],
        &[("Content-Type", "text/plain")],
    ] {
        assert_eq!(initialize(address, more).await.status, 400, "{more:?}");
    }
    let hosts =
        ["evil.example@localhost", "localhost:99999", "localhost:+80", "localhost:80@x", ""];
    for host in hosts {
        let response = send(address, "POST", &[("Host", host), JSON, ACCEPT], INITIALIZE).await;
        assert_eq!(response.status, 400, "{host}");
    }
    assert_eq!(counters.read().requests_ambiguous, 16 + hosts.len() as u64);
    for host in ["localhost:8080", "127.0.0.1", "[::1]", "[::1]:8080"] {
        let response = send(address, "POST", &[("Host", host), JSON, ACCEPT], INITIALIZE).await;
        assert_eq!(response.status, 200, "{host}");
    }
    assert_eq!(initialize(address, &[origin, version]).await.status, 200);
    for origin in ["http://[::1]", "http://[::1]:80", "http://localhost:8080"] {
        assert_eq!(initialize(address, &[("Origin", origin)]).await.status, 200, "{origin}");
    }
}

#[tokio::test]
async fn a_head_of_more_than_64_kib_is_refused() {
    let (address, _) = limited(Limits::default()).await;
    for (length, status) in [(60_000, 200), (66_000, 431), (100_000, 431), (1_000_000, 431)] {
        let response = initialize(address, &[("X-Long", &"a".repeat(length))]).await;
        assert_eq!(response.status, status, "{length}");
    }
    let many: Vec<_> = (0..90).map(|_| ("X-Long", "a".repeat(1000))).collect();
    let many: Vec<_> = many.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(initialize(address, &many).await.status, 431);
}

#[tokio::test]
async fn a_target_of_another_host_is_a_bad_request() {
    let (address, _) = limited(Limits::default()).await;
    for (target, status) in [
        ("http://evil.example/mcp", 400),
        ("http://localhost:1/mcp", 400),
        ("http://evil@localhost/mcp", 400),
        ("http://LOCALHOST/mcp", 200),
        ("/mcp", 200),
    ] {
        let headers = [HOST, JSON, ACCEPT].map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers = headers.concat();
        let request = format!(
            "POST {target} HTTP/1.1\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{INITIALIZE}",
            INITIALIZE.len()
        );
        let response = rest(open(address, &request).await).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{target}: {response}");
    }
}
