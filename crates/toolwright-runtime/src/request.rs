//! What a host asks a runtime for, and what it gets. Never runs anything: see `runtime`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolwright::codec::{self, Decode};
use toolwright::{BoxError, FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure};

use crate::approval::Approver;
use crate::planner::{Exchange, StepRecord};
use crate::sink::EventSink;
use crate::state::SuspendedRun;
use crate::toolset::{IntoSource, Source};

/// A run of an agent that a host asks for.
#[derive(Clone)]
pub struct RunRequest {
    pub(crate) agent: String,
    pub(crate) input: Payload,
    pub(crate) run_id: Option<String>,
    pub(crate) scope: Scope,
    pub(crate) events: Option<Arc<dyn EventSink>>,
    pub(crate) one_at_a_time: bool,
    pub(crate) approval_list: Vec<String>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) extra: Vec<(String, Source)>,
    pub(crate) cancelled: CancellationToken,
}

/// A call that a host makes outside any agent's run.
#[derive(Clone)]
pub struct CallRequest {
    pub(crate) call: ToolCall,
    pub(crate) events: Option<Arc<dyn EventSink>>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// The run's id.
    pub run_id: String,
    /// How it ended, for now or for good.
    pub end: RunEnd,
    /// The steps that were done, in order. In one that was cut off, calls that never ended are cancelled.
    pub steps: Vec<StepRecord>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// With the planner's final payload.
    Finished(Payload),
    /// Without one.
    Failed(ToolFailure),
    /// Not yet: it waits for answers.
    Suspended(SuspendedRun),
}

/// Why a run could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// There is no such agent.
    UnknownAgent {
        /// The name asked for.
        agent: String,
        /// The names there are.
        available: Vec<String>,
    },
}

impl RunRequest {
    /// A run of an agent with an input, in no session.
    pub fn new(agent: impl Into<String>, input: Payload) -> Self {
        Self {
            agent: agent.into(),
            input,
            run_id: None,
            scope: Scope::default(),
            events: None,
            one_at_a_time: false,
            approval_list: Vec::new(),
            approver: None,
            extra: Vec::new(),
            cancelled: CancellationToken::new(),
        }
    }

    /// Sets the run's id; otherwise it gets a fresh one.
    #[must_use]
    pub fn with_run_id(mut self, id: impl Into<String>) -> Self {
        self.run_id = Some(id.into());
        self
    }

    /// Sets the session, which child runs inherit.
    #[must_use]
    pub fn with_session_id(mut self, id: impl Into<String>) -> Self {
        self.scope.session_id = Some(id.into());
        self
    }

    /// Sets the turn, which child runs inherit.
    #[must_use]
    pub fn with_turn_id(mut self, id: impl Into<String>) -> Self {
        self.scope.turn_id = Some(id.into());
        self
    }

    /// Adds labels, which child runs inherit.
    #[must_use]
    pub fn with_labels(mut self, labels: BTreeMap<String, String>) -> Self {
        self.scope.labels.extend(labels);
        self
    }

    /// Sets where the events of this run go; those of its child runs do not go there.
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.events = Some(sink);
        self
    }

    /// Requires an approval of these tools' calls, whatever the tools say themselves.
    #[must_use]
    pub fn requiring_approval_of<N: Into<String>>(
        mut self,
        tools: impl IntoIterator<Item = N>,
    ) -> Self {
        self.approval_list.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Sets who approves while the run waits, child runs included; otherwise the runtime's approver does.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Adds a toolset for this run alone, beside those of the agent.
    #[must_use]
    pub fn with_toolset<K>(mut self, name: impl Into<String>, toolset: impl IntoSource<K>) -> Self {
        self.extra.push((name.into(), toolset.into_source()));
        self
    }

    /// Sets what cancels the run: calls that have ended keep their results, the others are given up, and what was
    /// entered is exited.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancelled = token;
        self
    }

    /// Makes every tool a barrier: no two calls of this run at once.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.one_at_a_time = true;
        self
    }
}

impl CallRequest {
    /// A call as it is, scope included.
    pub fn new(call: ToolCall) -> Self {
        Self { call, events: None }
    }

    /// Sets where the two events of this call go.
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.events = Some(sink);
        self
    }
}

impl From<ToolCall> for CallRequest {
    fn from(call: ToolCall) -> Self {
        Self::new(call)
    }
}

impl RunOutcome {
    /// The final payload.
    ///
    /// # Errors
    ///
    /// Why there is none. A run that waits for answers has none yet.
    pub fn result(&self) -> Result<Payload, ToolFailure> {
        match &self.end {
            RunEnd::Finished(payload) => Ok(payload.clone()),
            RunEnd::Failed(failure) => Err(failure.clone()),
            RunEnd::Suspended(_) => Err(ToolFailure::new(
                FailureKind::Denied,
                "the run waits for answers; resume it",
                Recovery::Finish,
            )),
        }
    }

    /// The final payload as a value of its type.
    ///
    /// # Errors
    ///
    /// Why there is none, or why it is no such value.
    pub fn decode<T: Decode>(&self) -> Result<T, BoxError> {
        Ok(codec::from_json(self.result()?.as_bytes())?)
    }

    /// The run, if it waits for answers.
    pub fn suspended(&self) -> Option<&SuspendedRun> {
        match &self.end {
            RunEnd::Suspended(run) => Some(run),
            _ => None,
        }
    }

    /// Every call that was made and what came of it, in order.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.steps.iter().flat_map(|step| &step.exchanges)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAgent { agent, available } if available.is_empty() => {
                write!(f, "there is no agent `{agent}`, nor any other; register one first")
            }
            Self::UnknownAgent { agent, available } => {
                write!(f, "there is no agent `{agent}`, there is `{}`", available.join("`, `"))
            }
        }
    }
}

impl Error for RunError {}
