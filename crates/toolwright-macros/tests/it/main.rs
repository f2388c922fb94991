//! Functions and impl blocks as tools: what the attributes publish, what is enforced, and which mistakes are refused.

mod functions;
mod mistakes;

mod toolsets;

use toolwright::{Payload, ToolCall};
use toolwright_runtime::{Registry, Runtime};

/// What a call comes to, in words.
async fn said(registry: &Registry, tool: &str, args: &str) -> String {
    let call = ToolCall::new(tool, Payload::new(args));
    match Runtime::new(registry.clone()).call(call).await.outcome {
        Ok(payload) => payload.to_string(),
        Err(failure) => failure.to_string(),
    }
}
