//! Results in the words of `tools/call`. Never tells a client what is meant for operators.

use rmcp::model::{CallToolResult, ContentBlock};
use toolwright::{Outcome, Payload, Recovery, ToolFailure};

/// What a client is told of a call's outcome.
pub(crate) fn answer(outcome: &Outcome, structured: bool) -> CallToolResult {
    match outcome {
        Outcome::Payload(payload) => success(payload, structured),
        Outcome::Failure(failure) => {
            CallToolResult::error(vec![ContentBlock::text(words(failure))])
        }
    }
}

/// The text is the payload as it was encoded: a number in it keeps every digit.
fn success(payload: &Payload, structured: bool) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(payload.as_str())]);
    if structured {
        result.structured_content = serde_json::from_str(payload.as_str()).ok();
    }
    result
}

/// The message for the model, and what would do instead where that is known.
fn words(failure: &ToolFailure) -> String {
    let example = match &failure.recovery {
        Recovery::CorrectCall(correction) => correction.example.as_ref(),
        _ => None,
    };
    match example {
        Some(example) => format!("{}\nfor example: {example}", failure.message),
        None => failure.message.clone(),
    }
}
