//! Responses. The dialect of the tools is `openai-responses-strict` or `openai-responses`.

use async_openai::types::responses::{
    FunctionCallOutput, FunctionCallOutputItemParam, FunctionTool, FunctionToolCall, Tool,
};
use toolwright::{Payload, ToolCall, ToolResult};
use toolwright_dialect::{Finding, Request};

/// Returns the tools for a request.
///
/// # Errors
///
/// The finding for which the tools cannot be sent together, such as two names that are equal on the wire.
pub fn tools(request: &Request<'_>) -> Result<Vec<Tool>, Finding> {
    crate::converted(request, |tool, parameters| {
        Tool::Function(FunctionTool {
            name: tool.projection.wire_name.clone(),
            description: Some(tool.projection.description.clone()),
            parameters,
            // Without the key, OpenAI may decide to enforce the schema.
            strict: Some(tool.is_strict),
            ..FunctionTool::default()
        })
    })
}

/// Reads a call of the model, to be run by a runtime.
///
/// # Errors
///
/// The result of a call of a tool that is not in the request, or whose arguments cannot be decoded. It is the [`answer`] to the call.
pub fn call(request: &Request<'_>, theirs: &FunctionToolCall) -> Result<ToolCall, Box<ToolResult>> {
    let call = ToolCall::new(&theirs.name, Payload::new(theirs.arguments.as_str()));
    request.decode_call(call.with_id(&theirs.call_id))
}

/// Returns the item with a result, for the next request.
pub fn answer(result: &ToolResult) -> FunctionCallOutputItemParam {
    FunctionCallOutputItemParam {
        call_id: Some(result.call_id.clone()),
        output: FunctionCallOutput::Text(crate::text(result)),
        id: None,
        status: None,
        name: None,
        namespace: None,
        caller: None,
    }
}
