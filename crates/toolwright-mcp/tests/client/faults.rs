//! Servers that crash, hang or send too much. Each call fails in time, and the next call works.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_mcp::client::{Client, McpToolset, Stderr};
use toolwright_prerequisites::{Prerequisite, has};
use toolwright_runtime::Toolset as _;

use crate::calls::call;
use crate::peer::{can_run, client, command, short_timeouts};

/// Calls until the server answers again.
async fn recovers(client: &Client) {
    let start = Instant::now();
    while let Err(failure) = call(client, "echo", r#"{"text":"again"}"#).await {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not come back: {failure:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Makes a call fail, and checks that it fails in time and that later calls work.
async fn breaks(client: &Client, tool: &str, text: &str) -> ToolFailure {
    call(client, "echo", r#"{"text":"before"}"#).await.expect("it works before");
    let start = Instant::now();
    let failure = call(client, tool, &format!(r#"{{"text":"{text}"}}"#)).await.expect_err(tool);
    assert!(start.elapsed() < Duration::from_secs(8), "{tool}: {:?}", start.elapsed());
    recovers(client).await;
    failure
}

#[tokio::test]
async fn a_server_that_crashes_fails_its_call_and_is_restarted() {
    if !can_run() {
        return;
    }
    let client = client(&[]);
    let failure = breaks(&client, "die", "").await;
    assert_eq!(failure.kind, FailureKind::Internal, "it may have run: {failure:?}");
    assert!(failure.message.contains("may have taken effect"), "{}", failure.message);
    let failure = breaks(&client, "die_reading", "").await;
    assert_eq!(failure.kind, FailureKind::Unavailable, "it may run twice: {failure:?}");
    assert_eq!(failure.recovery, Recovery::Retry);
    let failure = breaks(&client, "half", "die").await;
    assert_eq!(failure.kind, FailureKind::Internal, "{failure:?}");
}

/// A call during an outage fails at once, and is not sent when the server is back.
#[tokio::test]
async fn a_call_while_the_server_is_gone_is_unavailable_at_once() {
    if !can_run() {
        return;
    }
    let options = short_timeouts().with_backoff(Duration::from_secs(30), Duration::from_secs(30));
    let client = Client::with_options(command(&[]), options);
    for _ in 0..2 {
        call(&client, "die", r#"{"text":""}"#).await.expect_err("it dies");
    }
    for _ in 0..2 {
        let start = Instant::now();
        let failure = call(&client, "echo", r#"{"text":""}"#).await.expect_err("it is gone");
        assert_eq!((failure.kind, failure.recovery), (FailureKind::Unavailable, Recovery::Retry));
        assert!(start.elapsed() < Duration::from_millis(500));
    }
}

#[tokio::test]
async fn a_call_without_a_response_fails_at_the_timeout_of_its_tool() {
    if !can_run() {
        return;
    }
    let client = client(&["chatty"]);
    for (tool, text) in [("wrong_id", ""), ("half", "stay")] {
        let failure = breaks(&client, tool, text).await;
        assert_eq!(failure.kind, FailureKind::Timeout, "{tool}: {failure:?}");
    }
}

#[tokio::test]
async fn a_call_that_times_out_or_is_dropped_is_cancelled_on_the_server() {
    if !can_run() {
        return;
    }
    let log = scratch("cancelled");
    let client = Client::with_options(command(&[]).env("log", &log), short_timeouts());
    let failure = breaks(&client, "slow", &log.display().to_string()).await;
    assert_eq!(failure.kind, FailureKind::Timeout);
    let args = format!(r#"{{"text":"{}"}}"#, log.display());
    let dropped = call(&client, "slow", &args);
    assert!(tokio::time::timeout(Duration::from_millis(100), dropped).await.is_err());
    recovers(&client).await;
    let start = Instant::now();
    loop {
        let logged = std::fs::read_to_string(&log).expect("the peer keeps a log");
        let of = |word: &str| logged.lines().filter(|line| line.starts_with(word)).count();
        if (of("started"), of("cancelled")) == (2, 2) {
            break;
        }
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "the server gets no cancellation: {logged}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The server does not answer the list that the client requests before it sends a call.
#[tokio::test]
async fn a_call_whose_tool_is_not_listed_in_time_has_no_effect() {
    if !can_run() {
        return;
    }
    let limit = Duration::from_secs(4);
    let options = short_timeouts().with_connect_timeout(limit).with_call_timeout(5 * limit);
    let client = Client::with_options(command(&["listless"]), options);
    let args = r#"{"text":""}"#;
    let generated = call(&client, "die", args).await.expect_err("it is not listed");
    let toolset = McpToolset::new("peer", client.clone());
    let listed = toolset.call(&ToolCall::new("die", Payload::new(args))).await.outcome;
    for failure in [generated, listed.as_ref().expect_err("it is not listed").clone()] {
        let found = (failure.kind, failure.recovery);
        assert_eq!(found, (FailureKind::Timeout, Recovery::Retry), "{}", failure.message);
    }
    client.close().await;
}

/// The client does not keep the hundred megabytes.
#[tokio::test]
async fn a_result_that_is_too_large_is_refused_and_the_next_is_read() {
    if !can_run() {
        return;
    }
    let options = short_timeouts().with_call_timeout(Duration::from_mins(1));
    let client = Client::with_options(command(&[]), options);
    let failure = call(&client, "big", r#"{"text":"100"}"#).await.expect_err("it is too large");
    assert_eq!(failure.kind, FailureKind::MalformedResult, "{failure:?}");
    let detail = failure.detail.unwrap_or_default();
    assert!(detail.contains("more than 16777216 bytes"), "{detail}");
    let payload = call(&client, "big", r#"{"text":"1"}"#).await.expect("a megabyte is not");
    assert_eq!(payload.as_str().len(), 1024 * 1024 + 2);
}

/// The server and its child process end when the client is closed or dropped.
#[tokio::test]
async fn a_server_and_its_children_end_with_the_client() {
    if !can_run() || !has(&[Prerequisite::Proc]) {
        return;
    }
    for closes in [true, false] {
        let pids = Arc::new(Mutex::new(Vec::<u32>::new()));
        let sink = pids.clone();
        let stderr = Stderr::Sink(Arc::new(move |line: &str| {
            sink.lock().expect("nobody panics").extend(line.split(' ').flat_map(str::parse::<u32>));
        }));
        let client =
            Client::with_options(command(&["family", "stubborn"]).stderr(stderr), short_timeouts());
        call(&client, "echo", r#"{"text":""}"#).await.expect("it works");
        let pids = pids.lock().expect("nobody panics").clone();
        assert_eq!(pids.len(), 2, "the peer and its child");
        assert!(pids.iter().all(|pid| is_there(*pid)));
        if closes {
            client.close().await;
        } else {
            drop(client);
            tokio::time::sleep(Duration::from_secs(6)).await;
        }
        assert!(!pids.iter().any(|pid| is_there(*pid)), "closed: {closes}");
    }
}

/// Returns whether a process runs, or is a zombie of this process.
fn is_there(pid: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ours = format!("PPid:\t{}\n", std::process::id());
    !state.is_empty() && (!state.contains("State:\tZ") || state.contains(&ours))
}

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_file(&path).expect("it is ours");
    }
    path
}

/// The server prints text that is not a message.
#[tokio::test]
async fn lines_that_are_not_messages_are_ignored() {
    if !can_run() {
        return;
    }
    let lines = Arc::new(Mutex::new(Vec::<String>::new()));
    let sink = lines.clone();
    let stderr = Stderr::Sink(Arc::new(move |line: &str| {
        sink.lock().expect("nobody panics").push(line.to_owned());
    }));
    let client = Client::with_options(command(&["chatty"]).stderr(stderr), short_timeouts());
    let payload = call(&client, "shout", r#"{"text":""}"#).await.expect("it works");
    assert_eq!(payload, Payload::new(r#""plain words""#));
    assert_eq!(*lines.lock().expect("nobody panics"), ["it says things"]);
}

#[tokio::test]
async fn the_client_stops_reading_a_server_that_does_not_read_replies() {
    if !can_run() {
        return;
    }
    let log = std::env::temp_dir().join(format!("toolwright-nosy-{}", std::process::id()));
    let client = client(&["nosy"]);
    client.connect().await.expect("it is polite at first");
    let args = serde_json::json!({ "text": log }).to_string();
    let failure = call(&client, "slow", &args).await.expect_err("it only asks");
    assert_eq!(failure.kind, FailureKind::Timeout, "{failure:?}");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let asked = std::fs::read_to_string(&log).expect("it has asked");
    std::fs::remove_file(&log).expect("it is there");
    let asked: u32 = asked.parse().expect("it is a number");
    assert!((1..100).contains(&asked), "{asked} requests of 10 kB were taken");
    client.close().await;
}
