//! Servers on streamable HTTP: both kinds of response, both eras, redirects and errors.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use toolwright::remote::Provenance;
use toolwright::{FailureKind, Origin, Payload, Tool, ToolCall, ToolFailure, ToolSpec, Value};
use toolwright_mcp::client::{Client, ClientError, McpToolset, ServerCommand, ServerUrl};
use toolwright_runtime::Toolset as _;

use crate::peer::{PYTHON, can_run, short_timeouts};

static ECHO: ToolSpec = spec::<Echo>("echo");
static BREAK: ToolSpec = spec::<Break>("break");
static ORIGIN: Origin =
    Origin { server: "peer", tools: &[&ECHO, &BREAK], listed: &[], from: Provenance::UNKNOWN };

const fn spec<T: Tool>(name: &'static str) -> ToolSpec {
    let args = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
    ToolSpec::of::<T>(name).with_toolset("peer").with_service("peers").with_args_schema(args)
}

#[derive(Clone, Copy)]
struct Echo;

#[derive(Clone, Copy)]
struct Break;

impl Tool for Echo {
    type Args = Value;
    type Result = Value;
    const SPEC: &'static ToolSpec = &ECHO;
}

impl Tool for Break {
    type Args = Value;
    type Result = Value;
    const SPEC: &'static ToolSpec = &BREAK;
}

/// The scripted HTTP server. It ends when its standard input is closed.
pub(crate) struct Peer {
    child: Child,
    port: u16,
}

impl Peer {
    pub(crate) fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/http_peer.py");
        let mut command = Command::new(PYTHON);
        let command = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("there is Python");
        let mut line = String::new();
        let output = child.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it says its port");
        Self { child, port: line.trim().parse().expect("it is a number") }
    }

    pub(crate) fn url(&self, fault: &str) -> ServerUrl {
        ServerUrl::new(format!("http://127.0.0.1:{}/{fault}", self.port))
    }

    pub(crate) fn client(&self, fault: &str) -> Client {
        Client::with_options(self.url(fault), short_timeouts())
    }

    /// Returns how often the server has done something.
    pub(crate) fn count(&self, what: &str) -> u32 {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let request = format!("GET /{what} HTTP/1.1\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let count = answer.lines().last().and_then(|count| count.parse().ok());
        count.expect("it is a number")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) async fn call(client: &Client, tool: &str, args: &str) -> Result<Payload, ToolFailure> {
    let call = ToolCall::new(tool, Payload::new(args));
    call.run_remote(&ORIGIN, client).await.outcome.as_ref().cloned().map_err(Clone::clone)
}

#[tokio::test]
async fn numbers_are_exact_in_each_kind_of_response_and_both_eras() {
    const ARGS: &str = r#"{"text":"ä","n":123456789012345678901234567890,"m":1.10}"#;
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    for (fault, protocol) in [
        ("json", "2025-11-25"),
        ("sse", "2025-11-25"),
        ("modern", "2026-07-28"),
        ("plain", "2025-11-25"),
        // Media types have no case, and may have parameters.
        ("shouting-json", "2025-11-25"),
        ("shouting-sse", "2025-11-25"),
    ] {
        let client = peer.client(fault);
        let server = client.connect().await.unwrap_or_else(|error| panic!("{fault}: {error}"));
        assert_eq!(server.protocol.as_deref(), Some(protocol), "{fault}");
        let listing = client.list_tools_raw().await.expect(fault);
        assert!(listing.json.contains(r#""name": "break""#), "{}", listing.json);
        let echoed =
            call(&client, "echo", ARGS).await.unwrap_or_else(|error| panic!("{fault}: {error:?}"));
        assert_eq!(echoed.as_str(), ARGS, "{fault}");
        client.close().await;
    }
}

#[tokio::test]
async fn an_argument_that_is_marked_is_repeated_in_a_header() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    let client = peer.client("marked");
    let toolset = McpToolset::connect("peer", &client).await.expect("it answers");
    let result = toolset.call(&ToolCall::new("echo", Payload::new(r#"{"text":"north"}"#))).await;
    assert_eq!(result.outcome.expect("it is called").as_str(), r#"{"header": "north"}"#);
    client.close().await;
}

/// The server's streams end or break at once, with `retry: 0`. The client requests them about once per second.
#[tokio::test]
async fn a_stream_that_ends_is_requested_again_after_a_pause() {
    if !can_run() {
        return;
    }
    for fault in ["ending", "breaking"] {
        let peer = Peer::start();
        let client = peer.client(fault);
        client.connect().await.expect(fault);
        tokio::time::sleep(Duration::from_millis(3_500)).await;
        let result = call(&client, "echo", r#"{"text":""}"#).await.expect(fault);
        let streams: u32 = result.as_str()[r#"{"streams":"#.len()..result.as_str().len() - 1]
            .trim()
            .parse()
            .unwrap_or_else(|_| panic!("{result}"));
        assert!((2..=5).contains(&streams), "{fault}: {streams} streams in 3.5 seconds");
        client.close().await;
    }
}

/// The streams of both eras end at once, and the server has another tool after the second.
#[tokio::test]
async fn a_change_while_no_stream_was_open_is_seen() {
    if !can_run() {
        return;
    }
    for fault in ["forgetful", "ending"] {
        let peer = Peer::start();
        let client = peer.client(fault);
        let toolset = McpToolset::connect("peer", &client).await.expect(fault);
        let mut tries = 0..50;
        while toolset.pending_changes().await.expect(fault).is_empty() {
            assert!(tries.next().is_some(), "{fault}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        client.close().await;
    }
}

/// The subscriptions of one server end at once, the first streams of another fail, and the third has no session and so no stream.
#[tokio::test]
async fn tools_are_listed_for_each_call_while_the_server_cannot_announce_changes() {
    if !can_run() {
        return;
    }
    for fault in ["forgetful", "busy", "sessionless"] {
        let peer = Peer::start();
        let client = peer.client(fault);
        let toolset = McpToolset::connect("peer", &client).await.expect(fault);
        let list = async || toolset.pending_changes().await.expect(fault);
        tokio::time::sleep(Duration::from_millis(300)).await;
        let before = peer.count("lists");
        for _ in 0..3 {
            list().await;
        }
        assert_eq!(peer.count("lists"), before + 3, "{fault}");
        if fault == "busy" {
            let start = Instant::now();
            while peer.count("streams") < 3 {
                assert!(start.elapsed() < Duration::from_secs(20), "it is not requested again");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
            list().await;
            let before = peer.count("lists");
            list().await;
            assert_eq!(peer.count("lists"), before, "the stream is open");
        }
        client.close().await;
    }
}

/// The server sends notifications faster than they are read.
#[tokio::test]
async fn a_connection_with_a_full_queue_is_closed_in_time() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    let client = peer.client("flooding");
    client.connect().await.expect("it answers");
    client.list_tools_raw().await.expect("it answers");
    client.list_tools_raw().await.expect("it answers");
    let closing = tokio::time::timeout(Duration::from_secs(30), client.close());
    closing.await.expect("it is closed in time");
}

#[tokio::test]
async fn a_token_is_sent_and_not_shown_by_debug() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    let error = peer.client("guarded").connect().await.expect_err("it is guarded");
    assert!(matches!(error, ClientError::Connect { .. }), "{error}");
    let url = peer.url("guarded").with_bearer("open sesame").with_header("x-key", "hush");
    assert!(!format!("{url:?}").contains("sesame") && !format!("{url:?}").contains("hush"));
    Client::with_options(url, short_timeouts()).connect().await.expect("the token is right");
}

/// Each failure comes in time and without the server's text.
#[tokio::test]
async fn each_failure_of_http_has_its_kind_and_the_next_call_works() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    let cases = [
        ("500", FailureKind::Internal),
        ("503", FailureKind::Unavailable),
        ("404", FailureKind::Unavailable),
        ("429", FailureKind::RateLimited),
        ("403", FailureKind::Unavailable),
        ("slow", FailureKind::Timeout),
        ("garbage", FailureKind::MalformedResult),
        ("html", FailureKind::MalformedResult),
        ("big", FailureKind::MalformedResult),
        ("hang", FailureKind::Internal),
    ];
    let client = peer.client("json");
    for (how, kind) in cases {
        let start = Instant::now();
        let failure = call(&client, "break", &format!(r#"{{"text":"{how}"}}"#)).await;
        let failure = failure.expect_err(how);
        assert!(start.elapsed() < Duration::from_secs(9), "{how}: {:?}", start.elapsed());
        assert_eq!(failure.kind, kind, "{how}: {failure:?}");
        assert!(!failure.message.contains("SECRET"), "{how}: {failure}");
        call(&client, "echo", r#"{"text":""}"#)
            .await
            .unwrap_or_else(|next| panic!("{how}: {next:?}"));
    }
}

/// The client does not even connect to the other server.
#[tokio::test]
async fn a_redirect_to_another_server_is_not_followed() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    let other = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    other.set_nonblocking(true).expect("it can wait for nobody");
    let port = other.local_addr().expect("it listens").port();
    for status in [301, 302, 303, 307, 308] {
        let url = peer.url(&format!("redirect/{status}/{port}"));
        let url = url.with_bearer("open sesame").with_header("X-Api-Key", "hush");
        let error = Client::with_options(url, short_timeouts())
            .connect()
            .await
            .expect_err("it is sent away");
        let error = error.to_string();
        let expected =
            format!("redirects to `http://127.0.0.1:{port}/steal?token=…`, another server");
        assert!(error.contains(&expected), "{status}: {error}");
        assert!(!error.contains("sesame") && !error.contains("hush"), "{status}: {error}");
        assert!(other.accept().is_err(), "{status}");
    }
    let client = peer.client("json");
    let failure = call(&client, "break", &format!(r#"{{"text":"away:307:{port}"}}"#)).await;
    let failure = failure.expect_err("it is sent away");
    let expected =
        "the server of `break` has moved to another address; the call may have taken effect";
    assert!(failure.message.starts_with(expected), "{failure}");
    assert!(other.accept().is_err());
}

#[tokio::test]
async fn a_redirect_to_the_same_server_is_followed_if_it_keeps_the_method() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    let client = peer.client("redirect/307/here");
    call(&client, "echo", r#"{"text":""}"#).await.expect("it is the same server");
    for (fault, expected) in [
        ("redirect/302/here", "which would change the method to GET; expected status 307 or 308"),
        ("redirect/303/here", "which would change the method to GET; expected status 307 or 308"),
        ("redirect/308/round", "after too many redirects"),
        ("redirect/308/guarded", "it needs a bearer token"),
    ] {
        let error = peer.client(fault).connect().await.expect_err(fault).to_string();
        assert!(error.contains(expected), "{fault}: {error}");
    }
}

#[tokio::test]
async fn secrets_of_a_url_are_in_no_error_and_no_debug() {
    let url = "http://ann:HUSH@127.0.0.1:1/mcp?token=HUSH#HUSH";
    let client = Client::with_options(ServerUrl::new(url), short_timeouts());
    let error = client.connect().await.expect_err("nobody is there");
    let backoff = client.connect().await.expect_err("it is too early");
    let command = ServerCommand::new("server").env("KEY", "HUSH");
    for text in [
        error.to_string(),
        format!("{error:?}"),
        backoff.to_string(),
        format!("{client:?}"),
        format!("{:?}", ServerUrl::new(url)),
        format!("{command:?}"),
    ] {
        assert!(!text.contains("HUSH"), "{text}");
    }
    assert!(error.to_string().contains("`http://…@127.0.0.1:1/mcp?token=…#…`"), "{error}");
}

#[tokio::test]
async fn a_server_with_an_unknown_revision_is_refused() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    for client in [peer.client("future"), crate::peer::client(&["future"])] {
        let error = client.list_tools_raw().await.expect_err("it is not known").to_string();
        let expected =
            "it uses the unknown revision `9999-01-01` of MCP, expected one of 2024-11-05, ";
        assert!(error.contains(expected) && error.contains("2026-07-28"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_gone_is_unavailable() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    let client = peer.client("json");
    call(&client, "echo", r#"{"text":""}"#).await.expect("it is there");
    drop(peer);
    // The first call may have reached the server.
    call(&client, "echo", r#"{"text":""}"#).await.expect_err("it is gone");
    let failure = call(&client, "echo", r#"{"text":""}"#).await.expect_err("it is gone");
    assert_eq!(failure.kind, FailureKind::Unavailable, "{failure:?}");
}

/// The server does not answer the POST requests of replies.
#[tokio::test]
async fn the_client_stops_reading_a_server_that_does_not_accept_replies() {
    if !can_run() {
        return;
    }
    for fault in ["nosy", "nosy-with-one-id"] {
        let peer = Peer::start();
        let client = peer.client(fault);
        let failure = call(&client, "echo", r#"{"text":""}"#).await.expect_err("it only asks");
        assert_eq!(failure.kind, FailureKind::Timeout, "{fault}: {failure:?}");
        let asked = peer.count("asked");
        // Sockets hold some megabytes.
        assert!((5..1500).contains(&asked), "{fault}: {asked} requests of 10 kB were taken");
    }
}

/// The server answers each reply to its 50 pings, and the cancellation of a call, with a stream that does not end.
#[tokio::test]
async fn a_stream_that_answers_no_request_is_closed_at_once() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    let client = peer.client("clingy");
    client.list_tools_raw().await.expect("it answers");
    let call = call(&client, "echo", r#"{"text":""}"#);
    tokio::time::timeout(Duration::from_secs(1), call).await.expect_err("it only asks");
    let mut tries = 0..100;
    while peer.count("answered") < 51 || peer.count("kept") > 0 {
        let (answered, kept) = (peer.count("answered"), peer.count("kept"));
        assert!(tries.next().is_some(), "{kept} of {answered} streams are open");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    client.close().await;
}
