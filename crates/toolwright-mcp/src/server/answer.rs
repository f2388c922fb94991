//! Results in the words of `tools/call`. Never tells a client what is meant for operators.

use rmcp::model::{CallToolResult, ContentBlock};
use toolwright::{Outcome, Payload, Recovery, ToolFailure};

use super::exposure::Exposed;
use super::listing::Era;
use super::wrapping::wrapped;

/// What a client is told of a call's outcome.
pub(crate) fn answer(tool: &Exposed, era: Era, outcome: &Outcome) -> CallToolResult {
    match outcome {
        Outcome::Payload(payload) => success(tool, era, payload),
        Outcome::Failure(failure) => failed(failure),
    }
}

/// The text is the payload as it was encoded: a number in it keeps every digit.
fn success(tool: &Exposed, era: Era, payload: &Payload) -> CallToolResult {
    let blocks = match &tool.presentation {
        None => Some(vec![ContentBlock::text(payload.as_str())]),
        Some(presentation) => presentation.blocks(payload),
    };
    let Some(blocks) = blocks else { return failed(&unshown(tool)) };
    let mut result = CallToolResult::success(blocks);
    if let Some(wrap) = tool.listed.structures(era) {
        let value = serde_json::from_str(payload.as_str()).ok();
        result.structured_content = if wrap { value.map(wrapped) } else { value };
    }
    result
}

fn failed(failure: &ToolFailure) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(words(failure))])
}

/// A result that cannot be shown. The panic's own message has gone where panics go.
fn unshown(tool: &Exposed) -> ToolFailure {
    let message = format!("`{}` ended, but its result cannot be shown", tool.spec.name());
    ToolFailure::new(toolwright::FailureKind::Internal, message, Recovery::Replan)
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
