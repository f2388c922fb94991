//! Arguments, results, failures and progress of calls.

use std::sync::{Arc, Mutex};

use toolwright::progress::{Progress, Watcher, watch};
use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_mcp::client::Client;

use crate::peer::{can_run, client};
use crate::specs::LISTED;

/// Calls a tool of the server as a generated executor does.
pub(crate) async fn call(client: &Client, tool: &str, args: &str) -> Result<Payload, ToolFailure> {
    let call = ToolCall::new(tool, Payload::new(args));
    call.run_remote(&LISTED, client).await.outcome.as_ref().cloned().map_err(Clone::clone)
}

/// G23: numbers keep every digit in both directions and both eras.
#[tokio::test]
async fn arguments_and_results_keep_every_digit() {
    const ARGS: &str = r#"{ "text":"a b", "n":123456789012345678901234567890, "m":1.10,
        "e":-0.0, "k":[1E400] }"#;
    if !can_run() {
        return;
    }
    for faults in [&[][..], &["modern"]] {
        let client = client(faults);
        let echoed = call(&client, "echo", ARGS).await.expect("it echoes");
        assert_eq!(echoed.as_str(), ARGS.replace('\n', " "), "{faults:?}");
        let numbers = call(&client, "numbers", r#"{"text":""}"#).await.expect("it counts");
        let exact = r#"{"big":123456789012345678901234567890,"small":1.10}"#;
        assert_eq!(numbers.as_str(), exact, "{faults:?}");
    }
}

#[tokio::test]
async fn each_kind_of_result_is_converted_to_a_payload() {
    if !can_run() {
        return;
    }
    let client = client(&[]);
    let image = r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#;
    let mixed = format!(r#"{{"content":[{image},{{"type":"text","text":"a"}}]}}"#);
    let cases = [
        ("shout", r#""plain words""#),
        ("echo", r#"{"text":"x"}"#),
        ("structured", r#"{"text": "typed"}"#),
        ("mixed", &mixed),
    ];
    for (tool, expected) in cases {
        let payload = call(&client, tool, r#"{"text":"x"}"#).await.expect(tool);
        assert_eq!(payload.as_str(), expected, "{tool}");
    }
}

/// G28: the model sees the error text of a tool; the message of a protocol error is a detail for operators.
#[tokio::test]
async fn each_error_of_a_server_has_its_kind_and_hides_protocol_messages() {
    if !can_run() {
        return;
    }
    let client = client(&[]);
    let cases = [
        ("fail", r"no file \u001b[2J here\u202e", FailureKind::DomainRejection),
        ("liar", "text", FailureKind::MalformedResult),
        ("liar", "object", FailureKind::MalformedResult),
        ("liar", "both", FailureKind::MalformedResult),
        ("code", "-32602", FailureKind::InvalidCall),
        ("code", "-32601", FailureKind::NotFound),
        ("code", "-32603", FailureKind::Internal),
        ("code", "-32000", FailureKind::Internal),
        ("code", "7", FailureKind::Internal),
    ];
    for (tool, text, kind) in cases {
        let args = format!(r#"{{"text":"{text}"}}"#);
        let failure = call(&client, tool, &args).await.expect_err(tool);
        assert_eq!(failure.kind, kind, "{tool} {text}: {failure:?}");
        assert!(!failure.message.contains("SECRET"), "{}", failure.message);
        assert!(!failure.message.contains('\u{1b}'), "{}", failure.message);
        let detail = failure.detail.unwrap_or_default();
        assert_eq!(tool == "code", detail.contains("SECRET"), "{tool} {text}: {detail}");
        if kind == FailureKind::DomainRejection {
            assert_eq!(failure.message, "no file \u{fffd}[2J here\u{fffd}");
            assert_eq!(failure.data.unwrap().as_str(), r#""no file \u001b[2J here\u202e""#);
            assert!(matches!(failure.recovery, Recovery::CorrectCall(_)));
        }
    }
    let no_error = call(&client, "shout", r#"{"text":"null"}"#).await;
    assert!(no_error.is_ok(), "{no_error:?}");
    let mut call = ToolCall::new("nobody", Payload::new("{}")).run_remote(&LISTED, &client).await;
    call.call_id.clear();
    assert_eq!(call.outcome.as_ref().expect_err("there is none").kind, FailureKind::NotFound);
}

/// Collects progress reports.
#[derive(Default)]
struct Reports(Mutex<Vec<Progress>>);

impl Watcher for Reports {
    fn on_progress(&self, progress: Progress) {
        self.0.lock().expect("nobody panics").push(progress);
    }
}

#[tokio::test]
async fn progress_is_reported_to_the_watcher_of_the_call() {
    if !can_run() {
        return;
    }
    let (client, reports) = (client(&[]), Arc::new(Reports::default()));
    let watched = watch(reports.clone(), call(&client, "advance", r#"{"text":""}"#));
    watched.await.expect("it is done");
    let reports = reports.0.lock().expect("nobody panics").clone();
    let step = |done| Progress { done, total: Some(2.0), message: Some("step".to_owned()) };
    assert_eq!(reports, [step(1.0), step(2.0)]);
}
