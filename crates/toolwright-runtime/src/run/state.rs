//! The state of suspended runs and calls, as serializable data.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use toolwright::{Payload, ToolCall, ToolFailure, ToolResult, ToolSpec};

use crate::agent::{CallRecord, PastRun, StepRecord};
use crate::approval::ApprovalRequest;
use crate::wire::{WireCall, WireCallRecord, WireRecord, WireRun, WireScope};

/// A run that waits for answers, or a checkpoint between two steps. Resume it with [`Runtime::resume`](crate::Runtime::resume).
/// To store it or to pass it to another process, [export](crate::Runtime::export) it as text. Only a runtime can create one,
/// so that nobody can change the state in between.
///
/// When the run is resumed, its toolsets are entered again and restore their saved state. Handles without saved state are
/// invalid then.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspendedRun(pub(crate) Box<RunState>);

/// A call of a session that waits for answers. Resume it with [`Session::resume`](crate::Session::resume), in the same session
/// or another one of the same agent. To store it, [export](crate::Session::export) it as text.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspendedCall(pub(crate) SessionCall);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionCall {
    /// The agent of the session.
    pub(crate) agent: String,
    /// The tools whose calls need an approval in the session that made the call.
    pub(crate) approval_list: Vec<String>,
    pub(crate) call: SavedCall,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunState {
    pub(crate) run_id: String,
    pub(crate) agent: String,
    /// The tool that the run implements.
    pub(crate) implements: Option<String>,
    /// The number of the attempt at its call, from 1; 1 if the run implements no call.
    pub(crate) attempt: u32,
    /// The arguments of its call, after the hooks.
    pub(crate) args: Option<String>,
    /// The digest of the tool that the run implements.
    #[serde(rename = "words", default)]
    pub(crate) tool_digest: Option<String>,
    pub(crate) input: String,
    /// The runs before this one in the same conversation.
    pub(crate) past: Vec<WireRun>,
    pub(crate) scope: WireScope,
    pub(crate) history: Vec<WireRecord>,
    /// The calls of the step that waits.
    pub(crate) step: Vec<SavedCall>,
    /// The planner's note for that step.
    #[serde(default)]
    pub(crate) note: Option<String>,
    pub(crate) calls: u32,
    pub(crate) failures_in_a_row: u32,
    pub(crate) denied: bool,
    /// How long the run took so far, in milliseconds.
    pub(crate) elapsed: u64,
    pub(crate) one_at_a_time: bool,
    /// The tools whose calls need an approval in this run.
    pub(crate) approval_list: Vec<String>,
    /// The saved state of the toolsets, as JSON text.
    #[serde(default)]
    pub(crate) toolsets: Option<String>,
}

/// The saved state of a call of the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SavedCall {
    /// It has its result.
    Done(WireCallRecord),
    /// It is to run after a call before it, which waits.
    Postponed(WireCall),
    /// It waits for an answer.
    Asked { call: WireCall, request: ApprovalRequest },
    /// An agent runs the call, and the agent's run is suspended.
    Suspended { call: WireCall, run: Box<RunState> },
}

impl SuspendedRun {
    /// Returns the id of the run.
    pub fn run_id(&self) -> &str {
        &self.0.run_id
    }

    /// Returns the name of the agent.
    pub fn agent(&self) -> &str {
        &self.0.agent
    }

    /// Returns the pending questions in the order of the calls, including those of child runs. All must be answered to resume
    /// the run. A checkpoint between two steps has none.
    pub fn pending(&self) -> Vec<&ApprovalRequest> {
        self.0.questions()
    }
}

impl SuspendedCall {
    /// Returns the name of the agent, whose sessions can resume the call.
    pub fn agent(&self) -> &str {
        &self.0.agent
    }

    /// Returns the pending questions, including those of child runs. All must be answered to resume the call.
    pub fn pending(&self) -> Vec<&ApprovalRequest> {
        self.0.call.questions()
    }
}

impl SavedCall {
    pub(crate) fn call(&self) -> &WireCall {
        match self {
            Self::Done(record) => &record.call,
            Self::Postponed(call) | Self::Asked { call, .. } | Self::Suspended { call, .. } => call,
        }
    }

    /// Returns the call with its result, or with a failure if it has none yet.
    pub(crate) fn record(&self, waiting: impl FnOnce() -> ToolFailure) -> CallRecord {
        if let Self::Done(record) = self {
            return record.clone().into();
        }
        let call = ToolCall::from(self.call().clone());
        CallRecord { result: ToolResult::new(&call, Err(waiting())), call }
    }

    pub(crate) fn questions(&self) -> Vec<&ApprovalRequest> {
        match self {
            Self::Asked { request, .. } => vec![request],
            Self::Suspended { run, .. } => run.questions(),
            Self::Done(_) | Self::Postponed(_) => Vec::new(),
        }
    }
}

impl RunState {
    /// Returns whether the run implements a call of this tool.
    pub(super) fn implements(&self, tool: &ToolSpec) -> bool {
        self.implements.as_ref().is_some_and(|name| tool.is_called(name))
    }

    pub(crate) fn questions(&self) -> Vec<&ApprovalRequest> {
        self.step.iter().flat_map(SavedCall::questions).collect()
    }

    /// Returns the completed steps.
    pub(crate) fn steps(&self) -> Vec<StepRecord> {
        self.history.iter().cloned().map(Into::into).collect()
    }

    /// Returns the step that waits, with a failure of the calls without a result; `None` if no step waits.
    pub(crate) fn waiting_step(&self, waiting: impl Fn() -> ToolFailure) -> Option<StepRecord> {
        let calls: Vec<_> = self.step.iter().map(|saved| saved.record(&waiting)).collect();
        let note = self.note.as_deref().map(Payload::new);
        (!calls.is_empty()).then_some(StepRecord { calls, note })
    }

    /// Returns the runs before this one in the same conversation.
    pub(crate) fn past(&self) -> Vec<PastRun> {
        self.past.iter().cloned().map(Into::into).collect()
    }

    /// Returns the ids of all calls of the run.
    pub(crate) fn call_ids(&self) -> BTreeSet<String> {
        let done = self.history.iter().flat_map(|step| &step.calls).map(|record| &record.call);
        done.chain(self.step.iter().map(SavedCall::call)).map(|call| call.id.clone()).collect()
    }
}
