//! Tests of the attributes: published specs, enforced schemas, and errors of the compiler.

mod functions;
mod mistakes;

mod toolsets;

use toolwright::{Payload, ToolCall};
use toolwright_runtime::{Registry, Runtime};

/// Returns the result or failure of a call as text.
async fn outcome_text(registry: &Registry, tool: &str, args: &str) -> String {
    let call = ToolCall::new(tool, Payload::new(args));
    match Runtime::new(registry.clone()).call(call).await.outcome {
        Ok(payload) => payload.to_string(),
        Err(failure) => failure.to_string(),
    }
}
