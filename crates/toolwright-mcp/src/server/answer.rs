//! Results in the words of `tools/call`. Never tells a client what is meant for operators.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::{Value, json};
use toolwright::{Outcome, Payload, Recovery, ToolFailure};

use super::exposure::Exposed;
use super::listing::Era;
use super::wrapping::wrapped;
use crate::FAILURE;

/// What a client is told of a call's outcome.
pub(crate) fn answer(tool: &Exposed, era: Era, outcome: &Outcome) -> CallToolResult {
    match outcome {
        Ok(payload) => success(tool, era, payload),
        Err(failure) => failed(failure),
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
        // What is nested more deeply than serde_json reads cannot be given as its schema promises.
        let Ok(value) = serde_json::from_str(payload.as_str()) else {
            return failed(&unshown(tool));
        };
        result.structured_content = Some(if wrap { wrapped(value) } else { value });
    }
    result
}

fn failed(failure: &ToolFailure) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(words(failure))]);
    result.meta = Some(MetaObject(JsonObject::from_iter([(FAILURE.to_owned(), facts(failure))])));
    result
}

/// What a program can read of a failure. It does not stand in `structuredContent`: clients hold that against the schema of
/// the result, of failures too.
fn facts(failure: &ToolFailure) -> Value {
    let data = failure.data.as_ref().and_then(|data| serde_json::from_str(data.as_str()).ok());
    let facts = [
        ("kind", Some(json!(failure.kind.as_str()))),
        ("recovery", Some(json!(failure.recovery.as_str()))),
        ("code", failure.code.as_deref().map(Value::from)),
        ("data", data),
    ];
    facts.into_iter().filter_map(|(key, fact)| Some((key.to_owned(), fact?))).collect()
}

/// A result that cannot be shown. A panic's own message has gone where panics go.
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
