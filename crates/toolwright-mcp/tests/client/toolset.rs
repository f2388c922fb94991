//! Tools that no schema file knows, in the runtime (P6).

use serde_json::Value;
use toolwright::spec::{Implementation, text};
use toolwright::{FailureKind, Payload, ToolCall, ToolResult};
use toolwright_mcp::client::{Client, McpToolset};
use toolwright_runtime::{Registry, Runtime, Session, ToolsetError};

use crate::peer::{can_run, client, hasty};

async fn call(session: &Session, tool: &str, args: &str) -> ToolResult {
    session.call(ToolCall::new(tool, Payload::new(args))).await
}

/// P6: reached, listed, registered, allowed, in this order; P2: the router has no case of its own for it.
#[tokio::test]
async fn p6_a_server_is_registered_at_run_time_and_called_through_the_router() {
    if !can_run() {
        return;
    }
    let registry = Registry::new();
    let catalog = registry.catalog();
    let client = client(&["bad_tool"]);
    let listed = catalog.connect("peer", "p", McpToolset::reach("peer", &client)).await;
    let listed = listed.expect("it can be reached");
    assert_eq!(listed.len(), 15, "the bad tool is left out");
    let implementation = Implementation::Mcp { server: text("peer") };
    assert!(listed.iter().all(|tool| *tool.spec().implementation() == implementation));
    catalog.allow("helper", "peer").expect("it is published");
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let session = runtime.open_session("helper").await.expect("it opens");
    let result = call(&session, "p.echo", r#"{"text":"hello"}"#).await;
    assert_eq!(result.outcome.as_ref().map(Payload::as_str), Ok(r#"{"text":"hello"}"#));
    let failure = call(&session, "p.echo", r#"{"words":1}"#).await;
    let failure = failure.outcome.as_ref().expect_err("its own schema says no");
    assert_eq!(failure.kind, FailureKind::InvalidCall);
    assert!(failure.message.contains("text"), "{failure}");
    let failure = call(&session, "p.die", r#"{"text":""}"#).await;
    assert_eq!(failure.outcome.as_ref().expect_err("it dies").kind, FailureKind::Internal);
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let result = call(&session, "p.shout", r#"{"text":""}"#).await;
    assert!(result.outcome.as_ref().is_ok(), "the session goes on: {result:?}");
    session.stop().await;
    client.close().await;
}

/// P6: a failed beginning registers nothing; the id and the prefix stay free.
#[tokio::test]
async fn p6_a_server_that_cannot_be_reached_registers_nothing() {
    if !can_run() {
        return;
    }
    let catalog = Registry::new().catalog();
    let missing = toolwright_mcp::client::ServerCommand::new("no-such-program-anywhere");
    let missing = Client::with_options(missing, hasty());
    let error = catalog.connect("peer", "p", McpToolset::reach("peer", &missing)).await;
    let error = error.expect_err("it is not there");
    assert!(matches!(error, ToolsetError::Unreachable { .. }), "{error}");
    let found = client(&["modern"]);
    let listed = catalog.connect("peer", "p", McpToolset::reach("peer", &found)).await;
    let listed = listed.expect("nothing is in the way");
    let echo = listed.iter().find(|tool| tool.name() == "echo").expect("it is listed");
    let schema: Value = serde_json::from_str(echo.spec().args_schema()).expect("it is JSON");
    assert_eq!(schema["required"], serde_json::json!(["text"]));
}
