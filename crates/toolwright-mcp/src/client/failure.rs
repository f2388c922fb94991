//! What a model is told when a server could not be reached, asked or understood. The server's words are for operators.

use toolwright::spec::ToolSpec;
use toolwright::{FailureKind, Recovery, ToolCall, ToolFailure};

use super::error::ClientError;

/// JSON-RPC's code for parameters that are not valid, and MCP's for a tool that is not there.
const INVALID_PARAMS: i32 = -32_602;
const METHOD_NOT_FOUND: i32 = -32_601;

/// The failure of a call.
pub(super) fn failure(error: &ClientError, spec: &ToolSpec, call: &ToolCall) -> ToolFailure {
    let tool = call.tool();
    let failure = match error {
        ClientError::Connect { .. }
        | ClientError::Waiting { .. }
        | ClientError::Http { status: None | Some(404 | 503), .. } => unavailable(tool),
        ClientError::Http { status: Some(429), .. } => ToolFailure::new(
            FailureKind::RateLimited,
            format!("`{tool}` is called too often"),
            Recovery::Retry,
        ),
        ClientError::Http { status: Some(401 | 403 | 407), .. } => ToolFailure::new(
            FailureKind::Unavailable,
            format!("the server of `{tool}` does not let this program in"),
            Recovery::Finish,
        ),
        ClientError::Http { status: Some(300..=399), .. } => ToolFailure::new(
            FailureKind::Unavailable,
            format!("the server of `{tool}` is somewhere else now"),
            Recovery::Finish,
        ),
        ClientError::Lost | ClientError::Http { .. } => interrupted(spec, tool),
        ClientError::Timeout(_) => timed_out(spec, tool),
        ClientError::Refused { code, message } => refused(*code, message, spec, call),
        ClientError::Unusable(_) => ToolFailure::new(
            FailureKind::MalformedResult,
            format!("`{tool}` answered with something that cannot be used"),
            Recovery::Replan,
        ),
    };
    failure.with_detail(error.to_string())
}

fn unavailable(tool: &str) -> ToolFailure {
    let message = format!("the server of `{tool}` cannot be reached now");
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Retry)
}

/// Whether it does no harm to call a tool again that may have run.
fn may_run_again(spec: &ToolSpec) -> bool {
    let annotations = spec.annotations();
    annotations.read_only == Some(true) || annotations.idempotent == Some(true)
}

/// A call of which nobody knows what became: only a tool that says it may run twice is called unavailable, which has it
/// tried again.
fn interrupted(spec: &ToolSpec, tool: &str) -> ToolFailure {
    if may_run_again(spec) {
        return unavailable(tool);
    }
    let message = format!(
        "the server of `{tool}` failed during the call, which may have taken effect; find out before calling again"
    );
    ToolFailure::new(FailureKind::Internal, message, Recovery::Replan)
}

fn timed_out(spec: &ToolSpec, tool: &str) -> ToolFailure {
    let (advice, recovery) = if may_run_again(spec) {
        ("", Recovery::Retry)
    } else {
        ("; it may have taken effect, so find out before calling again", Recovery::Replan)
    };
    let message = format!("`{tool}` took too long and was given up{advice}");
    ToolFailure::new(FailureKind::Timeout, message, recovery)
}

/// An error of JSON-RPC. Its words may hold anything, and are not the model's.
fn refused(code: i32, message: &str, spec: &ToolSpec, call: &ToolCall) -> ToolFailure {
    let tool = call.tool();
    if code == METHOD_NOT_FOUND || (code == INVALID_PARAMS && is_unknown_tool(message)) {
        let message = format!("the server has no tool `{tool}`");
        return ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan);
    }
    if code == INVALID_PARAMS {
        let message = format!("the server refuses the arguments of `{tool}`");
        let mut recovery = Recovery::correct(call);
        if let Recovery::CorrectCall(correction) = &mut recovery {
            correction.example = spec.args_sample().map(toolwright::Payload::new);
        }
        return ToolFailure::new(FailureKind::InvalidCall, message, recovery);
    }
    ToolFailure::new(FailureKind::Internal, "the tool failed internally", Recovery::Replan)
}

/// MCP gives parameters that are wrong and tools that are not there one code; servers word the second alike.
fn is_unknown_tool(message: &str) -> bool {
    let message = message.to_lowercase();
    message.contains("unknown tool")
        || (message.contains("tool") && message.contains("not found"))
        || (message.contains("no") && message.contains("such tool"))
}
