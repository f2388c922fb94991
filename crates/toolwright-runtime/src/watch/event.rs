//! The events of runs and calls.

use std::sync::Arc;
use std::time::Duration;

use toolwright::spec::Implementation;
use toolwright::{Outcome, Payload, Scope, ToolCall, ToolFailure};

use crate::agent::ModelEvent;
use crate::approval::{ApprovalRequest, Verdict};
use crate::tools::{ToolEntry, ToolSpecRef};

/// An event of a run or a call.
#[derive(Clone, Debug)]
pub struct Event {
    /// The sequence number, which grows with every event of a runtime.
    pub sequence: u64,
    /// The agent of the run or session; none for a call outside of both.
    pub agent: Option<Arc<str>>,
    /// The scope of the run. For the event of a call, the run is the one that made the call, and not a child run for the call.
    pub scope: Arc<Scope>,
    /// The kind of the event, with its data.
    pub kind: EventKind,
}

impl Event {
    /// Returns the id of its run.
    pub fn run_id(&self) -> &str {
        self.scope.run_id.as_deref().unwrap_or_default()
    }
}

/// The kind of an event. Each `RunStarted` is followed by exactly one `RunFinished`, and each `ToolCallScheduled` by exactly
/// one `ToolResultReceived`, also after failures and cancellation. For a suspended run they follow after it is resumed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EventKind {
    /// A run started.
    RunStarted {
        /// The input of the run.
        input: Payload,
        /// The tool whose call the run implements, if it does.
        implements: Option<ToolSpecRef>,
    },
    /// A run was suspended, and waits for answers.
    RunSuspended {
        /// The ids of the calls that wait, those of child runs included.
        waiting: Vec<String>,
    },
    /// A suspended run was resumed.
    RunResumed,
    /// A run ended.
    RunFinished {
        /// The final payload, or the failure.
        result: Result<Payload, ToolFailure>,
        /// How long it took since it started or was last resumed.
        duration: Duration,
    },
    /// A call needs an approval before it may run.
    ApprovalRequested {
        /// The question.
        request: Arc<ApprovalRequest>,
    },
    /// An approval was answered.
    ApprovalAnswered {
        /// The question.
        request: Arc<ApprovalRequest>,
        /// The answer.
        verdict: Verdict,
    },
    /// A call is about to run.
    ToolCallScheduled {
        /// The call.
        call: ToolCall,
        /// The tool that is called.
        tool: ToolInfo,
    },
    /// An attempt at a call failed, and another attempt follows.
    ToolCallRetried {
        /// The id of the call.
        call_id: String,
        /// The tool that is called.
        tool: ToolInfo,
        /// The number of failed attempts.
        attempt: u32,
        /// The failure of the last attempt.
        failure: ToolFailure,
        /// The wait before the next attempt.
        delay: Duration,
    },
    /// A call has its result.
    ToolResultReceived {
        /// The id of the call.
        call_id: String,
        /// The id of its parent call, if it has one.
        parent_call_id: Option<String>,
        /// The tool that was called.
        tool: ToolInfo,
        /// The outcome of the call.
        outcome: Outcome,
        /// How long it took.
        duration: Duration,
    },
    /// The planner asks a model, or gets an answer.
    Model(ModelEvent),
}

/// The tool of a call: its entry, or only its name if there is no such tool.
#[derive(Clone, Debug)]
pub struct ToolInfo(Known);

#[derive(Clone, Debug)]
enum Known {
    Entry(ToolEntry),
    Name(Arc<str>),
}

impl ToolInfo {
    pub(crate) fn new(name: &str, entry: Option<&ToolEntry>) -> Self {
        Self(entry.cloned().map_or_else(|| Known::Name(name.into()), Known::Entry))
    }

    /// Returns the published name of the tool or, if there is no such tool, the name in the call.
    pub fn name(&self) -> &str {
        match &self.0 {
            Known::Entry(entry) => entry.name(),
            Known::Name(name) => name,
        }
    }

    /// Returns the tool, if it exists.
    pub fn entry(&self) -> Option<&ToolEntry> {
        match &self.0 {
            Known::Entry(entry) => Some(entry),
            Known::Name(_) => None,
        }
    }

    /// Returns the toolset of the tool, if it exists.
    pub fn toolset(&self) -> Option<&str> {
        self.entry().map(|entry| entry.spec().toolset())
    }

    /// Returns the service of the tool, if it exists.
    pub fn service(&self) -> Option<&str> {
        self.entry().map(|entry| entry.spec().service())
    }

    /// Returns the implementation of the tool, if it exists.
    pub fn implementation(&self) -> Option<&Implementation> {
        self.entry().map(|entry| entry.spec().implementation())
    }
}

impl EventKind {
    /// Returns the name of the kind, for logs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run_started",
            Self::RunSuspended { .. } => "run_suspended",
            Self::RunResumed => "run_resumed",
            Self::RunFinished { .. } => "run_finished",
            Self::ApprovalRequested { .. } => "approval_requested",
            Self::ApprovalAnswered { .. } => "approval_answered",
            Self::ToolCallScheduled { .. } => "tool_call_scheduled",
            Self::ToolCallRetried { .. } => "tool_call_retried",
            Self::ToolResultReceived { .. } => "tool_result_received",
            Self::Model(event) => event.as_str(),
        }
    }
}
