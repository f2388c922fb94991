//! What happens, as it is told to those who watch. Never decides anything, and never delivers: see
//! `sink`.

use std::sync::Arc;
use std::time::Duration;

use toolwright::spec::Implementation;
use toolwright::{Outcome, Payload, Scope, ToolCall, ToolFailure};

use crate::approval::{ApprovalRequest, Verdict};
use crate::tools::{ToolEntry, ToolSpecRef};

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Event {
    /// Grows with every event of a runtime, so that a run's events can be put in order.
    pub sequence: u64,
    /// The agent that runs; none for a call outside any agent's run.
    pub agent: Option<Arc<str>>,
    /// The run it happened in, the call on whose behalf that runs, and its session. For a call's events it is the
    /// caller's run, never the child run that may implement the call.
    pub scope: Arc<Scope>,
    /// What happened.
    pub kind: EventKind,
}

impl Event {
    /// The id of the run it happened in.
    pub fn run_id(&self) -> &str {
        self.scope.run_id.as_deref().unwrap_or_default()
    }
}

/// What happened. Every `RunStarted` is followed by one `RunFinished` and every `ToolCallScheduled`
/// by one `ToolResultReceived`, whatever fails, is refused or given up; a run that is suspended owes
/// them until it is resumed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EventKind {
    /// A run begins.
    RunStarted {
        /// What it was started with.
        input: Payload,
        /// The tool a call of which it implements.
        implements: Option<ToolSpecRef>,
    },
    /// A run waits for answers from outside.
    RunSuspended {
        /// The ids of the calls that wait, those of child runs included.
        waiting: Vec<String>,
    },
    /// A run goes on with the answers it waited for.
    RunResumed,
    /// A run is over.
    RunFinished {
        /// What came of it.
        result: Result<Payload, ToolFailure>,
        /// How long it took, since it was resumed the last time.
        duration: Duration,
    },
    /// A call needs an approval before it may run.
    ApprovalRequested {
        /// What is asked.
        request: Arc<ApprovalRequest>,
    },
    /// An approval was answered.
    ApprovalAnswered {
        /// What was asked.
        request: Arc<ApprovalRequest>,
        /// The answer.
        verdict: Verdict,
    },
    /// A call is about to be handed to what runs it.
    ToolCallScheduled {
        /// The call.
        call: ToolCall,
        /// The tool it asks for.
        tool: ToolInfo,
    },
    /// An attempt at a call failed, and another one follows.
    ToolCallRetried {
        /// The call's id.
        call_id: String,
        /// The tool it asked for.
        tool: ToolInfo,
        /// How many attempts have failed.
        attempt: u32,
        /// Why the last one failed.
        failure: ToolFailure,
        /// How long the next one waits.
        delay: Duration,
    },
    /// A call has its result.
    ToolResultReceived {
        /// The call's id.
        call_id: String,
        /// The call on whose behalf it was made.
        parent_call_id: Option<String>,
        /// The tool it asked for.
        tool: ToolInfo,
        /// What came of it.
        outcome: Outcome,
        /// How long it took.
        duration: Duration,
    },
}

/// The tool a call asks for, whether or not there is one of that name.
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

    /// The name it was called by, which for a known tool is the one it is published under.
    pub fn name(&self) -> &str {
        match &self.0 {
            Known::Entry(entry) => entry.name(),
            Known::Name(name) => name,
        }
    }

    /// The tool, if there is one.
    pub fn entry(&self) -> Option<&ToolEntry> {
        match &self.0 {
            Known::Entry(entry) => Some(entry),
            Known::Name(_) => None,
        }
    }

    /// The toolset it belongs to.
    pub fn toolset(&self) -> Option<&str> {
        self.entry().map(|entry| entry.spec().toolset())
    }

    /// The service that owns it.
    pub fn service(&self) -> Option<&str> {
        self.entry().map(|entry| entry.spec().service())
    }

    /// What runs it.
    pub fn implementation(&self) -> Option<&Implementation> {
        self.entry().map(|entry| entry.spec().implementation())
    }
}

impl EventKind {
    /// The kind's name in logs.
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
        }
    }
}
