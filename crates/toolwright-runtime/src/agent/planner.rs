//! What decides an agent's next step, and what it is shown to decide on. Never runs a call.

use toolwright::{BoxError, BoxFuture, Payload, Scope, ToolCall, ToolResult, ToolSpec};

use super::Agent;
use crate::tools::ToolEntry;

/// Decides what an agent does next: a model's client, or a rule.
pub trait Planner: Send + Sync {
    /// The next step of a run. The future is dropped when the run's time is over.
    ///
    /// # Errors
    ///
    /// Whatever keeps the planner from going on; it ends the run. A
    /// [`ToolFailure`](toolwright::ToolFailure) is kept as it is, any other error becomes an
    /// internal failure whose text only operators see.
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>>;
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Make these calls, then ask again. They run concurrently; results come in call order.
    Call(Vec<ToolCall>),
    /// End the run with this payload.
    Finish(Payload),
}

/// What a planner is shown.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) input: &'a Payload,
    pub(crate) implements: Option<&'a ToolSpec>,
    pub(crate) scope: &'a Scope,
    pub(crate) run_id: &'a str,
    pub(crate) history: &'a [Vec<Exchange>],
    pub(crate) tools: &'a [ToolEntry],
    pub(crate) instructions: &'a str,
}

/// One call and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The call, as it was run.
    pub call: ToolCall,
    /// What came of it.
    pub result: ToolResult,
}

impl<'a> Turn<'a> {
    /// The agent that runs.
    pub fn agent(&self) -> &'a Agent {
        self.agent
    }

    /// What the run was started with: the goal, or the arguments of the call it implements.
    pub fn input(&self) -> &'a Payload {
        self.input
    }

    /// The tool a call of which this run implements; its result schema is what the final payload must keep.
    pub fn implements(&self) -> Option<&'a ToolSpec> {
        self.implements
    }

    /// Where the run comes from.
    pub fn scope(&self) -> &'a Scope {
        self.scope
    }

    /// The run's id.
    pub fn run_id(&self) -> &'a str {
        self.run_id
    }

    /// The tools to choose from: all the agent may call now, less what is no longer advertised.
    pub fn tools(&self) -> impl Iterator<Item = &'a ToolEntry> {
        self.tools.iter().filter(|tool| tool.spec().is_advertised())
    }

    /// What the agent and its toolsets say beside the goal, in this order; empty where nobody says anything.
    pub fn instructions(&self) -> &'a str {
        self.instructions
    }

    /// The steps done so far: the calls of each and what came of them, in call order.
    pub fn history(&self) -> &'a [Vec<Exchange>] {
        self.history
    }

    /// How many steps are done: 0 at the first question.
    pub fn step(&self) -> usize {
        self.history.len()
    }

    /// The results of the step just done, in call order; none at the first question.
    pub fn last_results(&self) -> impl Iterator<Item = &'a ToolResult> {
        self.history.last().into_iter().flatten().map(|done| &done.result)
    }
}
