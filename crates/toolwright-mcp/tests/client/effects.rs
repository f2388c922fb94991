//! Calls over HTTP that the client or the runtime could send twice, or to another tool than was meant.

use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_mcp::client::McpToolset;
use toolwright_runtime::Toolset;

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
