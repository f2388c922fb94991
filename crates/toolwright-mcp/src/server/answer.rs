//! Converts outcomes of calls into results of `tools/call`, without the details for operators.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::{Value, json};
use toolwright::{Outcome, Payload, Recovery, ToolFailure};

use super::exposed::ExposedTool;
use super::listing::Era;
use super::wrapping::wrapped;
use crate::FAILURE;
use crate::json::value;

/// Converts the outcome of a call into its result.
pub(crate) fn answer(tool: &ExposedTool, era: Era, outcome: &Outcome) -> CallToolResult {
    match outcome {
        Ok(payload) => success(tool, era, payload),
        Err(failure) => error_result(failure),
    }
}

/// The text content is the payload as it was encoded, so numbers keep every digit.
fn success(tool: &ExposedTool, era: Era, payload: &Payload) -> CallToolResult {
    let blocks = match &tool.presentation {
        None => Some(vec![ContentBlock::text(payload.as_str())]),
        Some(presentation) => presentation.blocks(payload),
    };
    let Some(blocks) = blocks else { return error_result(&unpresentable(tool)) };
    let mut result = CallToolResult::success(blocks);
    if let Some(wrap) = tool.listed.structured(era) {
        // Fails if it has a number beyond doubles.
        let Ok(structured) = value(payload.as_str()) else {
            return error_result(&unpresentable(tool));
        };
        result.structured_content = Some(if wrap { wrapped(structured) } else { structured });
    }
    result
}

fn error_result(failure: &ToolFailure) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(message(failure))]);
    result.meta = Some(MetaObject(JsonObject::from_iter([(FAILURE.to_owned(), data(failure))])));
    result
}

/// The failure as data. It is not in `structuredContent`, because clients validate that against the result schema even
/// for failures.
fn data(failure: &ToolFailure) -> Value {
    let data = failure.data.as_ref().and_then(|data| value(data.as_str()).ok());
    let entries = [
        ("kind", Some(json!(failure.kind.as_str()))),
        ("recovery", Some(json!(failure.recovery.as_str()))),
        ("code", failure.code.as_deref().map(Value::from)),
        ("data", data),
    ];
    entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// The failure for a result that cannot be converted. If the host's code panicked, the panic hook has reported it.
fn unpresentable(tool: &ExposedTool) -> ToolFailure {
    let message = format!("`{}` succeeded, but its result cannot be shown", tool.spec.name());
    ToolFailure::new(toolwright::FailureKind::Internal, message, Recovery::Replan)
}

/// The message for the model, with an example of correct arguments if there is one.
fn message(failure: &ToolFailure) -> String {
    let example = match &failure.recovery {
        Recovery::CorrectCall(correction) => correction.example.as_ref(),
        _ => None,
    };
    match example {
        Some(example) => format!("{}\nfor example: {example}", failure.message),
        None => failure.message.clone(),
    }
}
