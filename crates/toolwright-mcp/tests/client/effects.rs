//! Calls over HTTP that the client or the runtime could send twice, or to another tool than was meant.

use std::time::Duration;

use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_mcp::client::McpToolset;
use toolwright_runtime::execute::Retry;
use toolwright_runtime::{ExecutionService, Registry, Runtime, Toolset};
use tower::retry::RetryLayer;

use crate::http::{Peer, call};
use crate::peer::can_run;

const LOST: &str = r#"{"text":"lost"}"#;

async fn direct(toolset: &McpToolset, tool: &str, args: &str) -> Result<Payload, ToolFailure> {
    let call = ToolCall::new(tool, Payload::new(args));
    toolset.call(&call).await.outcome.as_ref().cloned().map_err(Clone::clone)
}

/// The server ends the session as if it had restarted, and has another `break` then. The call that gets 404 did not run.
#[tokio::test]
async fn a_changed_tool_is_not_called_in_a_new_session() {
    if !can_run() {
        return;
    }
    for is_generated in [true, false] {
        let peer = Peer::start();
        let client = peer.client("json");
        let toolset = McpToolset::new("peer", client.clone());
        let called = async |tool, args| {
            if is_generated {
                call(&client, tool, args).await
            } else {
                direct(&toolset, tool, args).await
            }
        };
        called("echo", LOST).await.expect("it is there");
        let failure = called("break", LOST).await.expect_err("the session is lost");
        let found = (failure.kind, failure.recovery);
        assert_eq!(found, (FailureKind::Unavailable, Recovery::Retry), "{}", failure.message);
        let failure = called("break", LOST).await.expect_err("the tool is another");
        assert_eq!(failure.kind, FailureKind::Denied, "{failure:?}");
        assert!(failure.message.starts_with("`break` has changed on its server"), "{failure}");
        called("echo", LOST).await.expect("it is the same in the new session");
        assert_eq!(peer.count("ran"), 0);
    }
}

/// The server acts before each response. Only statuses that say that it did not are retried, unless a redirect was followed.
#[tokio::test]
async fn a_call_that_may_have_taken_effect_is_not_repeated() {
    if !can_run() {
        return;
    }
    let (internal, unavailable) = (FailureKind::Internal, FailureKind::Unavailable);
    let cases = [
        ("json", "503", unavailable, 2),
        ("json", "425", unavailable, 2),
        ("json", "429", FailureKind::RateLimited, 2),
        ("json", "401", unavailable, 2),
        ("json", "500", internal, 1),
        ("json", "300", internal, 1),
        ("json", "away:303:1", internal, 1),
        ("json", "away:307:1", internal, 1),
        // Without a session.
        ("modern", "404", internal, 1),
        ("json", "then:503", internal, 1),
        ("json", "then:429", internal, 1),
        ("json", "then:401", internal, 1),
        ("json", "then:404", internal, 1),
    ];
    for (fault, how, kind, attempts) in cases {
        let peer = Peer::start();
        let registry = Registry::new();
        let catalog = registry.catalog();
        let client = peer.client(fault);
        let toolset = McpToolset::connect("peer", &client);
        catalog.connect("peer", "p", toolset).await.expect("it is there");
        catalog.allow("helper", "peer").expect("it is published");
        let wait = Duration::from_millis(1);
        let retry = Retry::new().with_attempts(2).with_backoff(wait, wait);
        let execute = ExecutionService::new(RetryLayer::new(retry));
        let runtime =
            Runtime::builder(registry).with_catalog(catalog).with_execution_service(execute);
        let session = runtime.build().open_session("helper").await.expect("it opens");
        let args = Payload::new(format!(r#"{{"text":"{how}"}}"#));
        let result = session.call(ToolCall::new("p.break", args)).await;
        let failure = result.outcome.as_ref().expect_err(how);
        assert_eq!((failure.kind, peer.count("ran")), (kind, attempts), "{how}: {failure:?}");
        let may_have_run = failure.message.contains("may have taken effect");
        assert_eq!(may_have_run, kind == internal, "{how}: {failure}");
        session.stop().await;
        client.close().await;
    }
}

/// The server redirects, and listens no more.
#[tokio::test]
async fn a_call_whose_redirect_leads_nowhere_may_have_taken_effect() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    let client = peer.client("fresh");
    let failure = call(&client, "break", r#"{"text":"then:gone"}"#).await.expect_err("it is gone");
    assert_eq!(failure.kind, FailureKind::Internal, "{failure:?}");
    assert!(failure.message.contains("may have taken effect"), "{failure:?}");
}
