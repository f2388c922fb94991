//! The state of a call within a step of a run. `dispatch` runs the calls.

use std::sync::Arc;

use toolwright::{FailureKind, Outcome, Recovery, ToolCall, ToolFailure, ToolResult};

use super::state::{RunState, SavedCall};
use crate::agent::CallRecord;
use crate::approval::ApprovalRequest;
use crate::tools::ToolEntry;

/// A call of a step, and its state.
pub(crate) struct PendingCall {
    pub(crate) call: ToolCall,
    /// The tool that is called, if it exists.
    pub(crate) tool: Option<ToolEntry>,
    pub(crate) state: CallState,
}

/// The state of a call.
pub(crate) enum CallState {
    /// It is to run after a call before it, which waits.
    Postponed,
    /// It may run. If it needs an approval, it has its clearance.
    Ready,
    /// It needs an approval or a result, and the question was not asked yet.
    NeedsAnswer,
    /// The question was asked, and the call waits for the answer.
    Asked(Arc<ApprovalRequest>),
    /// An agent runs the call, and the agent's run is suspended.
    Suspended(Box<RunState>),
    /// It has an outcome without being run, and its events are not published yet.
    Settled(Outcome),
    /// It has its outcome, and its events are published.
    Done(Outcome),
}

impl PendingCall {
    pub(crate) fn new(call: ToolCall, tool: Option<ToolEntry>, state: CallState) -> Self {
        Self { call, tool, state }
    }

    pub(crate) fn done(call: ToolCall, outcome: Outcome) -> Self {
        Self::new(call, None, CallState::Done(outcome))
    }

    pub(crate) fn refused(call: ToolCall, tool: Option<ToolEntry>, failure: ToolFailure) -> Self {
        Self::new(call, tool, CallState::Settled(Err(failure)))
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self.state, CallState::Done(_))
    }

    /// Returns whether the call has no outcome yet.
    fn is_unfinished(&self) -> bool {
        !matches!(self.state, CallState::Settled(_) | CallState::Done(_))
    }

    /// Returns whether the call may change something that another attempt would change again.
    pub(crate) fn may_have_effect(&self) -> bool {
        let tool = self.tool.as_ref().filter(|_| self.is_unfinished());
        tool.is_some_and(|tool| !tool.spec().annotations().may_run_again())
    }

    /// Returns whether no other call of the step may run at the same time.
    pub(crate) fn is_barrier(&self) -> bool {
        let sequential = self.tool.as_ref().is_some_and(|tool| tool.spec().limits().sequential);
        sequential && self.is_unfinished()
    }

    /// Returns the call with its outcome. A call without one was cancelled.
    pub(crate) fn into_record(self) -> CallRecord {
        let outcome = match self.state {
            CallState::Done(outcome) => outcome,
            _ => Err(cancelled("the call")),
        };
        CallRecord { result: ToolResult::new(&self.call, outcome), call: self.call }
    }

    /// Converts it to the form that a suspended run stores.
    pub(crate) fn into_saved(self) -> SavedCall {
        if self.is_done() {
            return SavedCall::Done((&self.into_record()).into());
        }
        let call = (&self.call).into();
        match self.state {
            CallState::Asked(request) => {
                SavedCall::Asked { call, request: ApprovalRequest::clone(&request) }
            }
            CallState::Suspended(run) => SavedCall::Suspended { call, run },
            _ => SavedCall::Postponed(call),
        }
    }
}

/// The failure of a run or a call that was cancelled.
pub(crate) fn cancelled(what: &str) -> ToolFailure {
    let message = format!("{what} was cancelled before it ended");
    ToolFailure::new(FailureKind::Cancelled, message, Recovery::Replan)
}
