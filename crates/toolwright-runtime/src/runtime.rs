//! The way in: what a host asks for, and the runtime that does it. Never decides what a run does
//! next: see `run`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use toolwright::call::fresh_id;
use toolwright::{
    BoxFuture, Executor, Payload, Scope, ToolCall, ToolFailure, ToolResult, ToolSpec,
};

use crate::agent::AgentSpec;
use crate::dispatch::{Ticket, dispatch};
use crate::event::Origin;
use crate::planner::{Exchange, StepRecord};
use crate::registry::{RegisteredAgent, Registry};
use crate::run::Run;
use crate::sink::{EventSink, Publisher};

/// Runs agents and single calls on what a [`Registry`] holds. Cheap to clone; nothing in it changes.
///
/// Works inside a tokio runtime whose timers are on.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) registry: Registry,
    sink: Option<Arc<dyn EventSink>>,
    sequence: Arc<AtomicU64>,
}

/// A run of an agent that a host asks for.
#[derive(Clone)]
pub struct RunRequest {
    agent: String,
    input: Payload,
    run_id: Option<String>,
    scope: Scope,
    events: Option<Arc<dyn EventSink>>,
    one_at_a_time: bool,
}

/// A call that a host makes outside any agent's run.
#[derive(Clone)]
pub struct CallRequest {
    call: ToolCall,
    events: Option<Arc<dyn EventSink>>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// The run's id.
    pub run_id: String,
    /// The planner's final payload, or why there is none.
    pub result: Result<Payload, ToolFailure>,
    /// The steps that were done, in order; not the one in which the run's time ran out.
    pub steps: Vec<StepRecord>,
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

impl Runtime {
    /// A runtime of what is registered.
    pub fn new(registry: Registry) -> Self {
        Self::build(registry, None)
    }

    /// A runtime whose every event goes to a sink, whichever run it happens in.
    pub fn observed(registry: Registry, sink: Arc<dyn EventSink>) -> Self {
        Self::build(registry, Some(sink))
    }

    fn build(registry: Registry, sink: Option<Arc<dyn EventSink>>) -> Self {
        let inner = Arc::new(Inner { registry, sink, sequence: Arc::default() });
        inner.registry.link().tie(&inner);
        Self(inner)
    }

    /// Every tool, in the order of registration.
    pub fn specs(&self) -> impl Iterator<Item = &'static ToolSpec> {
        self.0.registry.specs()
    }

    /// Every agent, by name.
    pub fn agents(&self) -> impl Iterator<Item = &'static AgentSpec> {
        self.0.registry.agents()
    }

    /// Runs an agent to its end. A run that fails has an outcome that says so.
    ///
    /// # Errors
    ///
    /// There is no such agent.
    pub async fn run(&self, request: RunRequest) -> Result<RunOutcome, RunError> {
        let run = self.0.run(request)?;
        let (result, steps) = run.drive().await;
        Ok(RunOutcome { run_id: run.id, result, steps })
    }

    /// Makes one call outside any agent's run, on the path every call takes: checked, announced, run.
    /// A call that belongs to no run gets a run id of its own.
    pub async fn call(&self, request: impl Into<CallRequest>) -> ToolResult {
        let CallRequest { call, events } = request.into();
        let mut scope = call.scope().clone();
        let run_id = scope.run_id.get_or_insert_with(|| fresh_id("run")).clone();
        let publisher = self.0.publisher(&run_id, None, &scope, events);
        let ticket = self.0.ticket(call.with_scope(scope));
        dispatch(&publisher, ticket).await.result
    }
}

/// A runtime runs calls like any executor: what is registered in it can be offered elsewhere, for
/// instance by an MCP server that exposes what agents implement.
impl Executor for Runtime {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.call(call.clone()))
    }
}

impl Inner {
    fn run(self: &Arc<Self>, request: RunRequest) -> Result<Run, RunError> {
        let Some(agent) = self.registry.agent(&request.agent) else {
            return Err(self.unknown_agent(request.agent));
        };
        let run_id = request.run_id.unwrap_or_else(|| fresh_id("run"));
        let run = self.prepare(agent, request.input, run_id, request.scope, request.events);
        Ok(Run { one_at_a_time: request.one_at_a_time, ..run })
    }

    /// The run of an agent that answers a call: its input is the call's arguments, its parent the
    /// call; it inherits session, turn and labels, and none of the caller's sinks.
    pub(crate) fn child_run(self: &Arc<Self>, agent: &str, call: &ToolCall) -> Option<Run> {
        let agent = self.registry.agent(agent)?;
        let answers = self.registry.spec(call.tool())?;
        let scope = Scope { parent_call_id: Some(call.id().to_owned()), ..call.scope().clone() };
        let run = self.prepare(agent, call.args().clone(), fresh_id("run"), scope, None);
        Some(Run { answers: Some(answers), ..run })
    }

    fn prepare(
        self: &Arc<Self>,
        agent: &RegisteredAgent,
        input: Payload,
        run_id: String,
        scope: Scope,
        events: Option<Arc<dyn EventSink>>,
    ) -> Run {
        let publisher = self.publisher(&run_id, Some(agent.spec.name), &scope, events);
        Run {
            runtime: Arc::clone(self),
            agent: agent.clone(),
            input,
            answers: None,
            scope: Scope { run_id: Some(run_id.clone()), ..scope },
            id: run_id,
            publisher,
            one_at_a_time: false,
        }
    }

    fn publisher(
        &self,
        run_id: &str,
        agent: Option<&'static str>,
        scope: &Scope,
        events: Option<Arc<dyn EventSink>>,
    ) -> Publisher {
        let origin = Origin {
            run_id: run_id.to_owned(),
            agent,
            parent_call_id: scope.parent_call_id.clone(),
            session_id: scope.session_id.clone(),
            turn_id: scope.turn_id.clone(),
        };
        let sequence = Arc::clone(&self.sequence);
        Publisher { origin: Arc::new(origin), sequence, sinks: [self.sink.clone(), events] }
    }

    fn ticket(&self, call: ToolCall) -> Ticket {
        if let Some(tool) = self.registry.tool(call.tool()) {
            return Ticket::admitted(&call, tool);
        }
        let known = self.registry.specs().filter(|spec| spec.is_advertised()).map(ToolSpec::name);
        let failure = ToolFailure::not_found(call.tool(), known);
        Ticket::refused(call, None, failure)
    }

    fn unknown_agent(&self, agent: String) -> RunError {
        let available = self.registry.agents().map(|agent| agent.name.to_owned()).collect();
        RunError::UnknownAgent { agent, available }
    }
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
