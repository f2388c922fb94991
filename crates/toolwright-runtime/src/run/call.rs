//! A call on its way through a step of a run, and how far it has come. Never runs one: see `dispatch`.

use std::sync::Arc;

use toolwright::{FailureKind, Outcome, Recovery, ToolCall, ToolFailure, ToolResult};

use super::state::{RunState, SavedCall};
use crate::agent::Exchange;
use crate::approval::ApprovalRequest;
use crate::tools::ToolEntry;

/// A call of a step that is under way.
pub(crate) struct PendingCall {
    pub(crate) call: ToolCall,
    /// The tool it asks for, where there is one.
    pub(crate) tool: Option<ToolEntry>,
    pub(crate) state: CallState,
}

/// How far a call has come.
pub(crate) enum CallState {
    /// It waits for a barrier before it.
    Postponed,
    /// It may run. Where it had to be approved, it has its clearance.
    Ready,
    /// It needs an answer, and nobody was asked yet.
    Unasked,
    /// Its question was asked and waits for the answer.
    Asked(Arc<ApprovalRequest>),
    /// The run of its agent waits.
    Suspended(Box<RunState>),
    /// It has an outcome without being run; its events are not published yet.
    Settled(Outcome),
    /// It has its outcome.
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

    /// Whether it will be run: now, once it is approved, or by going on with a run.
    fn is_to_run(&self) -> bool {
        !matches!(self.state, CallState::Settled(_) | CallState::Done(_))
    }

    /// Whether no other call of its step may run beside it.
    pub(crate) fn is_barrier(&self) -> bool {
        let sequential = self.tool.as_ref().is_some_and(|tool| tool.spec().limits().sequential);
        sequential && self.is_to_run()
    }

    /// The call and its outcome; a call that never got that far was cancelled.
    pub(crate) fn into_exchange(self) -> Exchange {
        let outcome = match self.state {
            CallState::Done(outcome) => outcome,
            _ => Err(cancelled("the call")),
        };
        Exchange { result: ToolResult::new(&self.call, outcome), call: self.call }
    }

    /// The call as it is kept in a suspended run.
    pub(crate) fn into_saved(self) -> SavedCall {
        if self.is_done() {
            return SavedCall::Done((&self.into_exchange()).into());
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

/// Something given up before it ended.
pub(crate) fn cancelled(what: &str) -> ToolFailure {
    let message = format!("{what} was given up before it ended");
    ToolFailure::new(FailureKind::Cancelled, message, Recovery::Replan)
}
