//! Failures of calls that do not run.

use toolwright::spec::ToolAnnotations;
use toolwright::{FailureKind, Recovery, ToolCall, ToolFailure};

use crate::approval::ApprovalRequest;
use crate::tools::ToolEntry;

/// The failure of a call that was interrupted, of a tool that could not run again when it began.
pub(super) fn interrupted(tool: &ToolEntry) -> ToolFailure {
    let message = format!("`{}` was interrupted", tool.name());
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan)
        .with_detail("the run was interrupted during the call")
        .with_possible_effect(ToolAnnotations::UNKNOWN)
}

pub(super) fn denied(request: &ApprovalRequest, reason: Option<String>) -> ToolFailure {
    let message = reason
        .or_else(|| request.denied.clone())
        .unwrap_or_else(|| format!("the call of `{}` was not approved", request.tool));
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

pub(super) fn not_run_by_host(request: &ApprovalRequest) -> ToolFailure {
    let message = format!("the call of `{}` was not approved", request.tool);
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan).with_detail(
        "the approver gave a result, expected an approval: the host does not run this call",
    )
}

pub(super) fn no_approver(call: &ToolCall) -> ToolFailure {
    let message = format!("`{}` needs an approval, and there is no approver", call.tool());
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

pub(super) fn question_changed(tool: &ToolEntry) -> ToolFailure {
    let message =
        format!("the approval request of `{}` has changed since it was shown", tool.name());
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
        .with_detail("the question that was answered is not the current one of the call; ask again")
}

/// The failure of a call that was made by another definition of its tool.
pub(crate) fn other_definition(tool: &ToolEntry) -> ToolFailure {
    let message = format!("the definition of `{}` has changed", tool.name());
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan)
        .with_detail("its toolset lists another one now than when it was registered or served")
}

/// The failure of a suspended call whose agent is not registered or does not implement the tool now.
pub(super) fn agent_gone(tool: &ToolEntry) -> ToolFailure {
    let name = tool.name();
    let message = format!("the agent that was running `{name}` no longer implements it");
    ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan)
}

/// The failure of a suspended call whose tool is not listed now.
pub(super) fn tool_gone() -> ToolFailure {
    ToolFailure::new(FailureKind::NotFound, "the tool no longer exists", Recovery::Replan)
}
