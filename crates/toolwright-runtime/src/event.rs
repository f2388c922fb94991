//! What happens, as it is told to those who watch. Never decides anything, and never delivers: see
//! `sink`.

use std::time::Duration;

use toolwright::spec::Implementation;
use toolwright::{Outcome, Payload, ToolCall, ToolFailure, ToolSpec};

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Event {
    /// Grows with every event of a runtime, so that a run's events can be put in order.
    pub sequence: u64,
    /// The run it happened in.
    pub origin: Origin,
    /// What happened.
    pub kind: EventKind,
}

/// The run an event belongs to. For a call's events it is the caller's run, never the child run
/// that may answer the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The run's id.
    pub run_id: String,
    /// The agent that runs; none for a call outside any agent's run.
    pub agent: Option<&'static str>,
    /// The call on whose behalf the run runs.
    pub parent_call_id: Option<String>,
    /// The session.
    pub session_id: Option<String>,
    /// The turn.
    pub turn_id: Option<String>,
}

/// What happened. Every `RunStarted` is followed by one `RunFinished` and every `ToolCallScheduled`
/// by one `ToolResultReceived`, whatever fails, is refused or given up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EventKind {
    /// A run begins.
    RunStarted {
        /// What it was started with.
        input: Payload,
        /// The tool whose call it answers.
        answers: Option<&'static ToolSpec>,
    },
    /// A run is over.
    RunFinished {
        /// What came of it.
        result: Result<Payload, ToolFailure>,
        /// How long it took.
        duration: Duration,
    },
    /// A call is about to be handed to what runs it.
    ToolCallScheduled {
        /// The call.
        call: ToolCall,
        /// The tool it asks for.
        tool: ToolInfo,
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

/// The tool of a call. A name nobody answers to has no spec.
#[derive(Clone, Debug)]
pub struct ToolInfo {
    name: String,
    spec: Option<&'static ToolSpec>,
}

impl ToolInfo {
    pub(crate) fn new(name: &str, spec: Option<&'static ToolSpec>) -> Self {
        Self { name: name.to_owned(), spec }
    }

    /// The tool's name: its own where it is known, otherwise the one it was called by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All that is known about it.
    pub fn spec(&self) -> Option<&'static ToolSpec> {
        self.spec
    }

    /// The toolset it belongs to.
    pub fn toolset(&self) -> Option<&'static str> {
        self.spec.map(ToolSpec::toolset)
    }

    /// The service that owns it.
    pub fn service(&self) -> Option<&'static str> {
        self.spec.map(ToolSpec::service)
    }

    /// What runs it.
    pub fn implementation(&self) -> Option<Implementation> {
        self.spec.map(ToolSpec::implementation)
    }
}

impl EventKind {
    /// The kind's name in logs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run_started",
            Self::RunFinished { .. } => "run_finished",
            Self::ToolCallScheduled { .. } => "tool_call_scheduled",
            Self::ToolResultReceived { .. } => "tool_result_received",
        }
    }
}
