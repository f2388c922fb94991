//! Chat Completions. The dialect of the tools is that of the server, such as `openai-chat-strict`, or `ollama` for one that copies
//! the API.

use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestToolMessage,
    ChatCompletionRequestToolMessageContent, ChatCompletionTool, ChatCompletionTools,
    FunctionObject,
};
use toolwright::{Payload, ToolCall, ToolResult};
use toolwright_dialect::{Finding, Request};

/// Returns the tools for a request.
///
/// # Errors
///
/// The finding for which the tools cannot be sent together, such as two names that are equal on the wire.
pub fn tools(request: &Request<'_>) -> Result<Vec<ChatCompletionTools>, Finding> {
    crate::converted(request, |tool, parameters| {
        ChatCompletionTools::Function(ChatCompletionTool {
            function: FunctionObject {
                name: tool.projection.wire_name.clone(),
                description: Some(tool.projection.description.clone()),
                parameters,
                strict: tool.is_strict.then_some(true),
            },
        })
    })
}

/// Reads a call of the model, to be run by a runtime.
///
/// # Errors
///
/// The result of a call of a tool that is not in the request, or whose arguments cannot be decoded. It is the [`answer`] to the call.
pub fn call(
    request: &Request<'_>,
    theirs: &ChatCompletionMessageToolCalls,
) -> Result<ToolCall, Box<ToolResult>> {
    let (id, name, args) = match theirs {
        ChatCompletionMessageToolCalls::Function(call) => {
            (&call.id, &call.function.name, &call.function.arguments)
        }
        ChatCompletionMessageToolCalls::Custom(call) => {
            (&call.id, &call.custom_tool.name, &call.custom_tool.input)
        }
    };
    request.decode_call(ToolCall::new(name, Payload::new(args.as_str())).with_id(id))
}

/// Returns the message with a result, for the next request.
pub fn answer(result: &ToolResult) -> ChatCompletionRequestToolMessage {
    ChatCompletionRequestToolMessage {
        content: ChatCompletionRequestToolMessageContent::Text(crate::text(result)),
        tool_call_id: result.call_id.clone(),
    }
}
