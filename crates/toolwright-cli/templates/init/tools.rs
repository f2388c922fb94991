//! Tests the tools as a model calls them: by name, with JSON arguments.

use std::sync::Arc;

use toolwright::{Payload, ToolCall, ToolFailure};
use toolwright_runtime::{ApprovalRequest, Registry, Runtime, Verdict};
use tracker::Tracker;
{%- if parts.build_rs %}
use tracker::issues_tools;
{%- endif %}

/// Creates a runtime with the tools of a tracker, and an approver that always returns `verdict`.
fn tools(tracker: Tracker, verdict: Verdict) -> Runtime {
    let mut registry = Registry::new();
    issues_tools::register(&mut registry, tracker).expect("no two tools share a name");
    let approver = move |_: &ApprovalRequest| verdict.clone();
    let runtime = Runtime::builder(registry).with_approver(Arc::new(approver));
    runtime.build()
}

async fn call(tools: &Runtime, tool: &str, args: &str) -> Result<Payload, ToolFailure> {
    let call = ToolCall::new(tool, Payload::new(args));
    tools.call(call).await.outcome
}

#[tokio::test]
async fn a_closed_issue_is_no_longer_open() -> Result<(), ToolFailure> {
    let tools = tools(Tracker::default(), Verdict::Approve);
    call(&tools, "create_issue", r#"{"title": "Oil the door"}"#).await?;
    call(&tools, "close_issue", r#"{"id": 1}"#).await?;
    let open = call(&tools, "find_issues", "{}").await?;
    assert_eq!(open.as_str(), r#"{"issues":[]}"#);
    Ok(())
}

#[tokio::test]
async fn closing_an_unknown_issue_returns_its_id() {
    let tools = tools(Tracker::default(), Verdict::Approve);
    let closed = call(&tools, "close_issue", r#"{"id": 7}"#).await;
    assert_eq!(closed.unwrap_err().message, "there is no issue 7");
}

#[tokio::test]
async fn an_invalid_call_names_the_mistake() {
    let tools = tools(Tracker::default(), Verdict::Approve);
    let created = call(&tools, "create_issue", r#"{"title": ""}"#).await;
    assert!(created.unwrap_err().message.contains("`/title`"));
}

#[tokio::test]
async fn an_issue_stays_open_without_an_approval() -> Result<(), ToolFailure> {
    let tools = tools(Tracker::with_issues(&["Oil the door"]), Verdict::Deny(None));
    let closed = call(&tools, "close_issue", r#"{"id": 1}"#).await;
    assert!(closed.is_err());
    let open = call(&tools, "find_issues", "{}").await?;
    assert!(open.as_str().contains("Oil the door"));
    Ok(())
}
