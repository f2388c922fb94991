//! Peers of remote toolsets that do not read, ask for too much, or send too much.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::time::{sleep, timeout};
use toolwright::spec::CallLimits;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
};
use toolwright_runtime::execute::blocking;
use toolwright_runtime::remote::{
    Message, MessageClient, RemoteError, RemoteOptions, RemoteToolset, bind_unix,
};
use toolwright_runtime::tools::{Combined, IntoSource};
use toolwright_runtime::{FunctionTool, ToolEntry, Toolset};

use crate::peers::{Raw, SOON, connect, stated};
use crate::tools::{N, call};
use crate::toys::{spec, tool};

/// A toolset that takes a while to list its tools.
struct ListedSlowly(FunctionTool);

impl Toolset for ListedSlowly {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            sleep(SOON / 2).await;
            self.0.tools(scope).await
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.call(call)
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_of_a_request_does_not_include_its_wait_for_others() {
    let tool = FunctionTool::new(spec("a"), async |args: N| args);
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(theirs);
    let serving =
        ListedSlowly(tool).into_source().serve_stream(input, output, RemoteOptions::new());
    let serving = tokio::spawn(serving);
    let (input, output) = tokio::io::split(ours);
    let options = RemoteOptions::new().with_answer_timeout(SOON);
    let scope = Scope::default();
    let remote = RemoteToolset::connect_stream(input, output, &scope, options).await.unwrap();
    for listed in join_all((0..10).map(|_| remote.tools(&scope))).await {
        assert_eq!(listed.unwrap().len(), 1);
    }
    serving.abort();
}

/// A toolset that counts its listings.
struct Listed(Arc<AtomicUsize>, FunctionTool);

impl Toolset for Listed {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        self.1.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.1.call(call)
    }
}

#[tokio::test]
async fn the_server_stops_reading_from_a_peer_that_does_not_read() {
    let listed = Arc::new(AtomicUsize::new(0));
    let toolset = Listed(Arc::clone(&listed), tool("plus", |n| n + 1)).into_source();
    let mut raw = Raw::open(toolset, RemoteOptions::new(), json!({})).await;
    let mut sent = 0;
    let flooding = async {
        while sent < 200_000 {
            raw.say(json!({"list": {"id": sent}})).await;
            sent += 1;
        }
    };
    assert!(timeout(SOON * 2, flooding).await.is_err(), "it has to wait");
    // Replies in the stream and in the queue, and requests in the stream.
    let listed = listed.load(Ordering::SeqCst);
    assert!(listed < 500, "{listed} lists were created although no one read them");
    assert!(sent < 10_000, "{sent} requests were accepted");
}

/// Runs calls with results of a megabyte for a peer that reads as the function says, and returns how many ran.
async fn calls_with_large_results(reads: bool) -> (usize, Result<(), RemoteError>) {
    let run = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&run);
    let large = FunctionTool::new(spec("large"), move |_: N| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { "x".repeat(1_000_000) }
    });
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(theirs);
    let serving =
        tokio::spawn(large.into_source().serve_stream(input, output, RemoteOptions::new()));
    let (input, mut output) = tokio::io::split(ours);
    let asking = tokio::spawn(async move {
        let open = json!({"open": {"version": 5, "scope": {}}});
        let list = json!({"list": {"id": 1000}});
        output.write_all(format!("{open}\n{list}\n").as_bytes()).await.unwrap();
        for id in 0..200 {
            let call = json!({"call": {"id": id, "call": stated("large"), "approval": null}});
            let written = output.write_all(format!("{call}\n").as_bytes()).await;
            if written.is_err() {
                break;
            }
        }
        // The server has ended if it does not read.
        let _ = output.shutdown().await;
    });
    if reads {
        let mut lines = BufReader::new(input).lines();
        while lines.next_line().await.unwrap().is_some() {}
        asking.await.unwrap();
    }
    let ended = serving.await.unwrap();
    (run.load(Ordering::SeqCst), ended)
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_results_runs_few_calls_and_is_disconnected() {
    let (run, ended) = calls_with_large_results(false).await;
    assert!(run < 50, "{run} calls ran although no one read their results");
    let Err(RemoteError::Io(error)) = ended else { panic!("{ended:?}") };
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    let (run, ended) = calls_with_large_results(true).await;
    assert_eq!(run, 200);
    ended.unwrap();
}

/// It ends only when the work returns.
#[tokio::test]
async fn the_blocking_work_of_a_cancelled_call_counts_for_the_calls_of_its_peer() {
    let (held, until) = mpsc::channel::<()>();
    let until = Arc::new(Mutex::new(until));
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&begun);
    let stuck = FunctionTool::new(spec("stuck"), move |_: N| {
        let (until, begun) = (Arc::clone(&until), Arc::clone(&counted));
        blocking(move || {
            begun.fetch_add(1, Ordering::SeqCst);
            until.lock().unwrap().recv().is_ok()
        })
    });
    let options = RemoteOptions::new().with_max_calls(2);
    let mut raw = Raw::open(stuck.into_source(), options, json!({})).await;
    for id in 1..=5 {
        raw.call(id, stated("stuck"), Value::Null).await;
        tokio::time::sleep(SOON / 5).await;
        raw.say(json!({"cancel": {"id": id}})).await;
    }
    raw.call(6, stated("stuck"), Value::Null).await;
    assert!(timeout(SOON, raw.hear()).await.is_err());
    assert_eq!(begun.load(Ordering::SeqCst), 2, "others still have threads");
    for _ in 0..3 {
        held.send(()).unwrap();
    }
    assert_eq!(timeout(SOON * 10, raw.hear()).await.unwrap()["id"], 6);
    assert_eq!(begun.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_peer_has_the_time_limit_of_its_tool() {
    let limits = CallLimits { timeout: Some(SOON), ..CallLimits::UNLIMITED };
    let slow = FunctionTool::new(spec("slow").with_limits(limits), async |n: N| {
        tokio::time::sleep(SOON * 1_000).await;
        n
    });
    let mut raw = Raw::open(slow.into_source(), RemoteOptions::new(), json!({})).await;
    raw.list().await;
    raw.call(1, stated("slow"), Value::Null).await;
    let reply = timeout(SOON * 2, raw.hear()).await.unwrap();
    assert_eq!(reply["outcome"]["failure"]["kind"], "timeout", "{reply}");
}

#[tokio::test]
async fn an_outcome_that_no_line_can_hold_is_a_failure_and_the_connection_stays() {
    let huge = FunctionTool::new(spec("huge"), async |_: N| "x".repeat(32 << 20));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let failing = FunctionTool::new(spec("failing"), async |_: N| {
        let message = "\n".repeat(40 << 20);
        Err::<i64, _>(ToolFailure::new(FailureKind::Internal, message, Recovery::Replan))
    });
    let toolset = Combined::new()
        .with("huge", huge)
        .with("failing", failing)
        .with("plus", tool("plus", |n| n + 1));
    let listener = bind_unix(&path).unwrap();
    let serving = tokio::spawn(toolset.into_source().serve_unix(listener, RemoteOptions::new()));
    let remote = connect(&path, None).await;
    remote.tools(&Scope::default()).await.unwrap();
    let failure = remote.call(&call("huge", "a", 0)).await.outcome.unwrap_err();
    assert!(failure.message.contains("and at most 32505856 are allowed"), "{failure:?}");
    let failure = remote.call(&call("failing", "b", 0)).await.outcome.unwrap_err();
    assert!(failure.message.contains("expected at most 67108864"), "{}", failure.message.len());
    remote.call(&call("plus", "c", 0)).await.outcome.unwrap();
    serving.abort();
}

/// Their server may not be trusted.
#[tokio::test]
async fn open_handles_of_a_server_are_short_visible_lines() {
    let (ours, mut theirs) = tokio::io::duplex(1 << 20);
    let long = "x".repeat(300_000);
    let names: Vec<_> = ["txn\u{202e}\n\u{1b}[2J", &long].into_iter().chain(["a"; 400]).collect();
    let opened = json!({"opened": {"calls": 1, "nonce": "n"}});
    let handles = json!({"open_handles": {"names": names}});
    let tools = json!({"tools": {"id": 0, "tools": {"Ok": []}}});
    let lines = format!("{opened}\n{handles}\n{tools}\n");
    theirs.write_all(lines.as_bytes()).await.unwrap();
    let (input, output) = tokio::io::split(ours);
    let scope = Scope::default();
    let remote =
        RemoteToolset::connect_stream(input, output, &scope, RemoteOptions::new()).await.unwrap();
    remote.tools(&scope).await.unwrap();
    let shown = remote.open_handles();
    assert_eq!((shown[0].as_str(), shown.len()), ("txn\u{fffd} \u{fffd}[2J", 256));
    assert!(shown[1].len() < 300, "{}", shown[1].len());
}

/// A server that is asked too much closes the connection.
#[tokio::test]
async fn a_call_that_no_line_can_hold_fails_and_the_connection_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = bind_unix(&path).unwrap();
    let toolset = tool("plus", |n| n + 1).into_source();
    let serving = tokio::spawn(toolset.serve_unix(listener, RemoteOptions::new()));
    let remote = connect(&path, None).await;
    remote.tools(&Scope::default()).await.unwrap();
    // Six bytes each in a line of JSON.
    let huge = Payload::new("\u{1}".repeat(11 << 20));
    let failure = remote.call(&ToolCall::new("plus", huge.clone())).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidCall);
    assert!(failure.message.ends_with("expected at most 67108864"), "{}", failure.message);
    let error = remote.restore(&Scope::default(), &huge).await.unwrap_err();
    assert!(error.to_string().ends_with("expected at most 67108864"), "{error}");
    remote.call(&call("plus", "a", 0)).await.outcome.unwrap();
    serving.abort();
}

#[tokio::test]
async fn a_connection_is_opened_with_at_most_64_kib() {
    for (bytes, is_served) in [(65_536, true), (65_537, false)] {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let toolset = tool("plus", |n| n + 1).into_source();
        let serving = tokio::spawn(toolset.serve_stream(input, output, RemoteOptions::new()));
        let (reading, mut writing) = tokio::io::split(ours);
        let open = |label: &str| json!({"open": {"version": 5, "scope": {"labels": {"a": label}}}});
        let label = "x".repeat(bytes - open("").to_string().len() - 1);
        writing.write_all(format!("{}\n", open(&label)).as_bytes()).await.unwrap();
        let reply = BufReader::new(reading).lines().next_line().await.unwrap().unwrap();
        assert_eq!(reply.starts_with(r#"{"opened""#), is_served, "{reply}");
        assert_eq!(reply.contains("a line is longer than 65536 bytes"), !is_served, "{reply}");
        drop(writing);
        assert_eq!(serving.await.unwrap().is_ok(), is_served);
    }
}

#[tokio::test]
async fn a_client_sends_no_scope_with_which_no_connection_is_opened() {
    let (ours, _silent) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(ours);
    let labels = [("a".to_owned(), "x".repeat(65_536))].into();
    let scope = Scope { labels, ..Scope::default() };
    let error = RemoteToolset::connect_stream(input, output, &scope, RemoteOptions::new()).await;
    let error = error.err().unwrap().to_string();
    assert!(error.ends_with("expected at most 65536; use fewer or shorter labels"), "{error}");
}

#[test]
fn a_message_that_opens_a_connection_has_at_most_a_kibibyte() {
    let open = String::from_utf8(MessageClient::open()).unwrap();
    for (bytes, is_read) in [(open.len(), true), (1_024, true), (1_025, false)] {
        let message = format!("{open}{}", " ".repeat(bytes - open.len()));
        assert_eq!(Message::read(message.as_bytes()).is_ok(), is_read, "{bytes}");
    }
}

#[tokio::test]
async fn tools_whose_toolset_or_service_has_a_long_name_are_refused() {
    let long: &'static str = "x".repeat(257).leak();
    for spec in [spec("a").with_toolset(long), spec("a").with_service(long)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = bind_unix(&path).unwrap();
        let toolset = FunctionTool::new(spec, async |args: N| args).into_source();
        let serving = tokio::spawn(toolset.serve_unix(listener, RemoteOptions::new()));
        let error = connect(&path, None).await.tools(&Scope::default()).await.unwrap_err();
        let error = error.to_string();
        assert!(error.ends_with("of the tool `a` has a name of more than 256 bytes"), "{error}");
        serving.abort();
    }
}
