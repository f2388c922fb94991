//! Tests of the built-in toolsets.

mod fetch;
#[cfg(unix)]
mod files;
mod notes;
#[cfg(unix)]
mod registered;
#[cfg(unix)]
mod shell;

use serde_json::Value;
use toolwright::{Payload, ToolCall, ToolFailure};
use toolwright_runtime::Toolset;

/// Makes a call of a toolset.
async fn call(toolset: &impl Toolset, tool: &str, args: Value) -> Result<Value, ToolFailure> {
    let call = ToolCall::new(tool, Payload::new(args.to_string()));
    let payload = toolset.call(&call).await.outcome?;
    Ok(serde_json::from_str(payload.as_str()).unwrap())
}
