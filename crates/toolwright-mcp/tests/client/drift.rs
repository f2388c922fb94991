//! Drift between a server's tools and a generated toolset.

use toolwright::{FailureKind, Origin, Payload, ToolCall, ToolFailure};
use toolwright_mcp::client::{Client, DriftPolicy};

use crate::peer::{can_run, client, command, short_timeouts};
use crate::specs::{LISTED, UNLISTED};

async fn call(
    client: &Client,
    origin: &'static Origin,
    tool: &str,
) -> Result<Payload, ToolFailure> {
    let call = ToolCall::new(tool, Payload::new(r#"{"text":"x"}"#));
    call.run_remote(origin, client).await.outcome.as_ref().cloned().map_err(Clone::clone)
}

#[tokio::test]
async fn an_unchanged_server_has_no_drift() {
    if !can_run() {
        return;
    }
    for faults in [&[][..], &["modern", "paged"], &["bad_tool"]] {
        for origin in [&LISTED, &UNLISTED] {
            let drift = client(faults).drift(origin).await.expect("it lists");
            assert_eq!(drift.to_string(), "no drift", "{faults:?}");
        }
    }
}

#[tokio::test]
async fn missing_changed_and_new_tools_are_named() {
    if !can_run() {
        return;
    }
    let client = client(&["changed"]);
    let drift = client.drift(&LISTED).await.expect("it lists");
    let expected =
        "missing: `fail`; changed: `echo` (it has no argument `text` any more); new: `brand_new`";
    assert_eq!(drift.to_string(), expected);
    let drift = client.drift(&UNLISTED).await.expect("it lists");
    assert_eq!(drift.to_string(), expected.split("; new").next().unwrap_or_default());
}

/// Every part of a listed tool counts, also those that no client shows.
#[tokio::test]
async fn changes_beside_schemas_are_noticed_and_words_are_told_apart() {
    if !can_run() {
        return;
    }
    let drift = client(&["mutated"]).drift(&LISTED).await.expect("it lists");
    let expected = "changed: `mixed` (its schemas or other parts differ), `numbers` (its schemas or other parts differ), \
                    `shout` (its annotations differ), `structured` (it has the new argument `secret`); reworded: `echo`";
    assert_eq!(drift.to_string(), expected);
}

#[tokio::test]
async fn the_policy_decides_which_calls_fail() {
    if !can_run() {
        return;
    }
    let (denied, missing) = (Some(FailureKind::Denied), Some(FailureKind::NotFound));
    let cases = [
        (DriftPolicy::AcceptText, denied, None, missing),
        (DriftPolicy::Block, denied, denied, missing),
        (DriftPolicy::Warn, None, None, missing),
        (DriftPolicy::Ignore, None, None, missing),
    ];
    for (policy, changed, reworded, missing) in cases {
        let connect = |faults: &[&str]| {
            Client::with_options(command(faults), short_timeouts().with_drift(policy))
        };
        let kind = async |client: &Client, tool| {
            call(client, &LISTED, tool).await.err().map(|failure| failure.kind)
        };
        let client = connect(&["changed", "gone"]);
        assert_eq!(kind(&client, "echo").await, changed, "{policy:?}");
        assert_eq!(kind(&client, "fail").await, missing, "{policy:?}");
        assert_eq!(
            kind(&client, "shout").await,
            None,
            "{policy:?}: an unchanged tool can be called"
        );
        let client = connect(&["mutated"]);
        assert_eq!(kind(&client, "echo").await, reworded, "{policy:?}");
        for tool in ["shout", "numbers", "structured", "mixed"] {
            assert_eq!(kind(&client, tool).await, changed, "{policy:?} {tool}");
        }
        assert_eq!(kind(&client, "code").await.filter(|kind| *kind == FailureKind::Denied), None);
    }
}

/// The list changes during a call. That call succeeds; the next call requests the list again.
#[tokio::test]
async fn a_list_that_changes_during_a_call_is_requested_again() {
    if !can_run() {
        return;
    }
    for faults in [&["changing"][..], &["changing", "modern"]] {
        let client = client(faults);
        call(&client, &LISTED, "echo").await.expect("it has not changed yet");
        let failure = call(&client, &LISTED, "echo").await.expect_err("it has changed");
        assert_eq!(failure.kind, FailureKind::Denied);
        assert!(failure.message.contains("`echo` has changed on its server"), "{failure}");
        assert!(failure.detail.is_some_and(|detail| detail.contains("new: `brand_new`")));
        call(&client, &LISTED, "shout").await.expect("another tool can be called");
    }
}
