//! The planner, which decides an agent's next step, and the turn it is given.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;
use toolwright::{
    BoxError, BoxFuture, Payload, Scope, ToolCall, ToolFailure, ToolResult, ToolSpec,
};

use super::{Agent, ModelEvent};
use crate::tools::ToolEntry;

/// Decides what an agent does next: usually the client of a model.
pub trait Planner: Send + Sync {
    /// Returns the next step of a run. The future is dropped when the time budget of the run is used up.
    ///
    /// # Errors
    ///
    /// Any error ends the run. A [`ToolFailure`](toolwright::ToolFailure) becomes the run's failure; any other error becomes
    /// an internal failure, with the text of the error in its detail for operators.
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>>;
}

/// The next step of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Makes these calls and then asks the planner again. The calls run concurrently; their results are in call order.
    Call {
        /// The calls.
        calls: Vec<PlannedCall>,
        /// A note of the planner to itself, kept with the step: [`StepRecord::note`].
        note: Option<Payload>,
    },
    /// Ends the run with this payload.
    Finish(Payload),
}

impl Step {
    /// Creates a step that makes calls, without a note.
    pub fn call(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::Call { calls: calls.into_iter().map(Into::into).collect(), note: None }
    }
}

/// A call of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCall {
    /// The call.
    pub call: ToolCall,
    /// The failure that the call gets without being run, such as for arguments that the planner could not read.
    pub refusal: Option<ToolFailure>,
}

impl From<ToolCall> for PlannedCall {
    fn from(call: ToolCall) -> Self {
        Self { call, refusal: None }
    }
}

/// The state of a run, as a planner sees it.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) input: &'a Payload,
    pub(crate) implements: Option<&'a ToolSpec>,
    pub(crate) scope: &'a Scope,
    pub(crate) run_id: &'a str,
    pub(crate) history: &'a [StepRecord],
    pub(crate) past: &'a [PastRun],
    pub(crate) tools: &'a [ToolEntry],
    pub(crate) instructions: &'a str,
    pub(crate) deadline: Option<Instant>,
    pub(crate) publish: &'a (dyn Fn(ModelEvent) + Send + Sync),
}

/// A completed step of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepRecord {
    /// The calls with their results, in call order.
    pub calls: Vec<CallRecord>,
    /// The note that the planner gave with the step.
    pub note: Option<Payload>,
}

/// A run that came before another in the same conversation. [`RunOutcome`](crate::RunOutcome)s convert to it.
#[derive(Clone, Debug, PartialEq)]
pub struct PastRun {
    /// The id of the run.
    pub run_id: String,
    /// Its input.
    pub input: Payload,
    /// Its steps.
    pub steps: Vec<StepRecord>,
    /// Its final payload, or the failure. In a conversation, a run that waits for answers counts as failed.
    pub result: Result<Payload, ToolFailure>,
}

/// A call and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    /// The call, as it was run.
    pub call: ToolCall,
    /// Its result.
    pub result: ToolResult,
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Turn");
        shown.field("run_id", &self.run_id).field("step", &self.step()).finish_non_exhaustive()
    }
}

impl<'a> Turn<'a> {
    /// Returns the agent.
    pub fn agent(&self) -> &'a Agent {
        self.agent
    }

    /// Returns the input of the run: the goal, or the arguments of the call that the run implements.
    pub fn input(&self) -> &'a Payload {
        self.input
    }

    /// Returns the tool whose call this run implements, if it does. The final payload must match the tool's result schema.
    pub fn implements(&self) -> Option<&'a ToolSpec> {
        self.implements
    }

    /// Returns the tool whose result schema the final payload must match, if there is one: that whose call this run
    /// implements, or else that of [`Agent::result_spec`](super::Agent::result_spec).
    pub fn result_spec(&self) -> Option<&'a ToolSpec> {
        self.implements.or(self.agent.result_spec.as_deref())
    }

    /// Returns the scope of the run: session, turn, labels and parent call.
    pub fn scope(&self) -> &'a Scope {
        self.scope
    }

    /// Returns the id of the run.
    pub fn run_id(&self) -> &'a str {
        self.run_id
    }

    /// Returns the tools to offer to the model: those that the agent may call now and that are advertised.
    pub fn tools(&self) -> impl Iterator<Item = &'a ToolEntry> {
        self.tools.iter().filter(|tool| tool.spec().is_advertised())
    }

    /// Returns the instructions of the agent, followed by those of its toolsets; empty if there are none.
    pub fn instructions(&self) -> &'a str {
        self.instructions
    }

    /// Returns the completed steps.
    pub fn history(&self) -> &'a [StepRecord] {
        self.history
    }

    /// Returns the runs that came before in the same conversation, the oldest first.
    pub fn past(&self) -> &'a [PastRun] {
        self.past
    }

    /// Returns the number of completed steps, 0 in the first turn.
    pub fn step(&self) -> usize {
        self.history.len()
    }

    /// Returns the results of the last step, in call order; none in the first turn.
    pub fn last_results(&self) -> impl Iterator<Item = &'a ToolResult> {
        self.history.last().into_iter().flat_map(|step| &step.calls).map(|done| &done.result)
    }

    /// Returns what is left of the time budget of the run, if it has one.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Publishes an event about the model that the planner asks.
    pub fn publish(&self, event: ModelEvent) {
        (self.publish)(event);
    }
}
