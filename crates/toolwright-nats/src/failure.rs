//! Failures of calls that the transport causes. Those of calls that may have run advise a retry only if the tool can run twice.

use std::time::Duration;

use toolwright::spec::ToolAnnotations;
use toolwright::{FailureKind, Recovery, ToolCall, ToolFailure, ToolSpec};

/// The code of failures of payloads that the NATS server does not carry.
pub(crate) const TOO_LARGE: &str = "payload_too_large";

/// The failure of a call that no worker has run.
pub(crate) fn unavailable(tool: &str, detail: impl Into<String>) -> ToolFailure {
    let message = format!("`{tool}` cannot be reached now");
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Retry).with_detail(detail)
}

/// The failure of a call that its worker refuses to run at all, as its client must be changed.
pub(crate) fn refused(tool: &str, detail: impl Into<String>) -> ToolFailure {
    let message = format!("`{tool}` cannot be used");
    ToolFailure::new(FailureKind::Internal, message, Recovery::Replan).with_detail(detail)
}

/// The failure of a call whose deadline passed before it ran.
pub(crate) fn too_late(tool: &str) -> ToolFailure {
    let message = format!("the time limit of `{tool}` passed before it ran");
    ToolFailure::new(FailureKind::Timeout, message, Recovery::Retry)
}

/// The failure of a call whose deadline passed after it was sent.
pub(crate) fn timed_out(tool: &str, spec: Option<&ToolSpec>, limit: Duration) -> ToolFailure {
    let message = format!("`{tool}` took longer than {limit:?} and was cancelled");
    ToolFailure::new(FailureKind::Timeout, message, Recovery::Retry)
        .with_possible_effect(annotations(spec))
}

/// The failure of a call that may have run, for another reason. It is `unavailable`, which allows a retry, only if the tool can
/// run twice.
pub(crate) fn interrupted(
    tool: &str,
    spec: Option<&ToolSpec>,
    detail: impl Into<String>,
) -> ToolFailure {
    let message = format!("`{tool}` was interrupted");
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Retry)
        .with_detail(detail)
        .with_possible_effect(annotations(spec))
}

fn annotations(spec: Option<&ToolSpec>) -> ToolAnnotations {
    spec.map_or(ToolAnnotations::UNKNOWN, ToolSpec::annotations)
}

/// The failure of a call with arguments that cannot be sent.
pub(crate) fn args_too_large(call: &ToolCall, bytes: usize, limit: usize) -> ToolFailure {
    let message = format!(
        "the call of `{}` has {bytes} bytes, and at most {limit} can be sent; make the arguments shorter",
        call.tool()
    );
    let failure = ToolFailure::new(FailureKind::InvalidCall, message, Recovery::correct(call));
    ToolFailure { code: Some(TOO_LARGE.into()), ..failure }
}

/// The failure of a call with a result that cannot be sent.
pub(crate) fn result_too_large(tool: &str, bytes: usize, limit: usize) -> ToolFailure {
    let failure = ToolFailure::result_too_large(tool, bytes, limit);
    ToolFailure { code: Some(TOO_LARGE.into()), ..failure }
}
