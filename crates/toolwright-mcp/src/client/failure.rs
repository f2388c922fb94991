//! Converts errors of a client into failures of calls. Texts from the server become details for operators.

use toolwright::spec::ToolSpec;
use toolwright::{FailureKind, Recovery, ToolCall, ToolFailure};

use super::error::ClientError;

/// JSON-RPC's code for invalid parameters, which MCP also uses for an unknown tool.
const INVALID_PARAMS: i32 = -32_602;
const METHOD_NOT_FOUND: i32 = -32_601;

/// Converts the error of a call into its failure.
pub(super) fn failure(error: &ClientError, spec: &ToolSpec, call: &ToolCall) -> ToolFailure {
    let failure = failure_before_call(error, spec, call);
    if error.may_have_run() { failure.with_possible_effect(spec.annotations()) } else { failure }
}

/// Converts an error that came before the call was sent, so that it had no effect.
pub(super) fn failure_before_call(
    error: &ClientError,
    spec: &ToolSpec,
    call: &ToolCall,
) -> ToolFailure {
    let tool = call.tool();
    let failure = match error {
        ClientError::Http { status: Some(429), .. } => ToolFailure::new(
            FailureKind::RateLimited,
            format!("`{tool}` is called too often"),
            Recovery::Retry,
        ),
        ClientError::Http { status: Some(401 | 403 | 407), .. } => ToolFailure::new(
            FailureKind::Unavailable,
            format!("the server of `{tool}` rejects the credentials of this program"),
            Recovery::Finish,
        ),
        ClientError::Http { status: Some(300..=399), .. } => ToolFailure::new(
            FailureKind::Unavailable,
            format!("the server of `{tool}` has moved to another address"),
            Recovery::Finish,
        ),
        ClientError::Connect { .. }
        | ClientError::Backoff { .. }
        | ClientError::Http { may_have_run: false, .. } => ToolFailure::new(
            FailureKind::Unavailable,
            format!("the server of `{tool}` cannot be reached now"),
            Recovery::Retry,
        ),
        ClientError::ConnectionLost | ClientError::Http { .. } => ToolFailure::new(
            FailureKind::Unavailable,
            format!("the server of `{tool}` failed during the call"),
            Recovery::Retry,
        ),
        ClientError::Timeout(_) => ToolFailure::new(
            FailureKind::Timeout,
            format!("`{tool}` took too long and was cancelled"),
            Recovery::Retry,
        ),
        ClientError::JsonRpc { code, message } => json_rpc_failure(*code, message, spec, call),
        ClientError::InvalidResponse(_) => ToolFailure::new(
            FailureKind::MalformedResult,
            format!("`{tool}` returned an invalid response"),
            Recovery::Replan,
        ),
    };
    failure.with_detail(error.to_string())
}

/// The failure for a JSON-RPC error. The model does not see its message, which may contain anything.
fn json_rpc_failure(code: i32, message: &str, spec: &ToolSpec, call: &ToolCall) -> ToolFailure {
    let tool = call.tool();
    if code == METHOD_NOT_FOUND || (code == INVALID_PARAMS && is_unknown_tool(message)) {
        let message = format!("the server has no tool `{tool}`");
        return ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan);
    }
    if code == INVALID_PARAMS {
        let message = format!("the server rejects the arguments of `{tool}`");
        let mut recovery = Recovery::correct(call);
        if let Recovery::CorrectCall(correction) = &mut recovery {
            correction.example = spec.args_sample().map(toolwright::Payload::new);
        }
        return ToolFailure::new(FailureKind::InvalidCall, message, recovery);
    }
    ToolFailure::new(FailureKind::Internal, "the tool failed internally", Recovery::Replan)
}

/// MCP has one code for invalid parameters and unknown tools, so only the message tells them apart.
fn is_unknown_tool(message: &str) -> bool {
    let message = message.to_lowercase();
    message.contains("unknown tool")
        || (message.contains("tool") && message.contains("not found"))
        || (message.contains("no") && message.contains("such tool"))
}
