//! The runtime: what a host builds once, and asks for runs, calls and sessions. Never decides what a run does next.

use crate::debug::debug;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use toolwright::call::fresh_id;
use toolwright::{BoxFuture, Executor, Payload, ToolCall, ToolFailure, ToolResult};

use super::request::{
    CallRequest, ResumeRequest, RunEnd, RunError, RunOutcome, RunRequest, Target,
};
use super::session::{Session, SessionRequest};
use crate::agent::Agent;
use crate::approval::{Approver, ResumeError};
use crate::execute::{Execute, panicked};
use crate::hooks::Hooks;
use crate::registry::{Catalog, Registered, RegisteredAgent, Registry};
use crate::run::{Dispatcher, End, Environment, Journal, Options, Resumption, Run, SuspendedRun};
use crate::suspended::{InMemory, SealKey, StateError, SuspendedRuns};
use crate::tools::{Combined, Entered, ToolSpecRef, ToolsetError};
use crate::watch::{EventSink, Publisher};

/// Runs agents and single calls on what a [`Registry`] holds. Cheap to clone.
///
/// Works inside a tokio runtime whose timers are on.
#[derive(Clone)]
pub struct Runtime(Arc<Environment>);

/// A runtime that is being put together.
pub struct RuntimeBuilder(Environment);

/// How long a question can be answered unless the host says something else: a day.
const APPROVALS_LAST: Duration = Duration::from_hours(24);

debug!(Runtime, runtime => { registry: runtime.0.registry });
debug!(RuntimeBuilder, builder => { registry: builder.0.registry });

impl RuntimeBuilder {
    /// Sends every event to a sink, whichever run it happens in.
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.0.events = Some(sink);
        self
    }

    /// Sets what runs before and after calls.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.0.hooks = hooks;
        self
    }

    /// Sets what runs calls; otherwise [`Execute::default`] does.
    #[must_use]
    pub fn with_execute(mut self, execute: Execute) -> Self {
        self.0.execute = execute;
        self
    }

    /// Sets what runs the calls of one toolset: the one of this name in the specs of its tools.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use toolwright::{FailureKind, Payload, ToolCall, ToolSpec};
    /// use toolwright_runtime::execute::Timeout;
    /// use toolwright_runtime::{Execute, FunctionTool, Registry, Runtime};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::new();
    /// for (name, toolset) in [("look", "fast"), ("search", "slow")] {
    ///     let spec = ToolSpec::new(name).with_toolset(toolset);
    ///     let minute = async || tokio::time::sleep(Duration::from_secs(60)).await;
    ///     registry.register_tool(FunctionTool::new(spec, move || async move {
    ///         minute().await;
    ///         true
    ///     }))?;
    /// }
    /// let runtime = Runtime::builder(registry)
    ///     .with_execute_for("slow", Execute::new(Timeout::new(Duration::from_secs(300))))
    ///     .build();
    ///
    /// let call = |tool| ToolCall::new(tool, Payload::new("{}"));
    /// let failure = runtime.call(call("look")).await.outcome.unwrap_err();
    /// assert_eq!(failure.kind, FailureKind::Timeout, "half a minute, as every call");
    /// assert!(runtime.call(call("search")).await.outcome.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_execute_for(mut self, toolset: impl Into<String>, execute: Execute) -> Self {
        self.0.execute_of.insert(toolset.into(), execute);
        self
    }

    /// Sets who approves while runs wait; otherwise runs are suspended, and calls outside runs denied.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.0.approver = Some(approver);
        self
    }

    /// Sets how long a question can be answered; otherwise it is a day.
    #[must_use]
    pub fn with_approvals_lasting(mut self, time: Duration) -> Self {
        self.0.approvals_last = time;
        self
    }

    /// Sets the keys of suspended runs that are exported: the first seals them, and each of them opens them again. Without a
    /// key they stay in the runtime's store. See [`suspended`](crate::suspended).
    ///
    /// To change the key, give all processes the new one behind the old, then before it, and take the old one away once the
    /// questions of that time have expired.
    #[must_use]
    pub fn with_seal_keys(mut self, keys: impl IntoIterator<Item = SealKey>) -> Self {
        self.0.seal_keys = keys.into_iter().collect();
        self
    }

    /// Sets where suspended runs are kept and taken; otherwise it is this runtime's memory. Processes that resume runs of each
    /// other need one that they share.
    #[must_use]
    pub fn with_suspended_runs(mut self, store: Arc<dyn SuspendedRuns>) -> Self {
        self.0.suspended_runs = store;
        self
    }

    /// Sets the clock that questions expire by; otherwise it is the system's.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.0.clock = Arc::new(clock);
        self
    }

    /// Leaves tools that cannot be used now out of what planners are shown.
    #[must_use]
    pub fn skipping_unavailable(mut self) -> Self {
        self.0.skip_unavailable = true;
        self
    }

    /// Puts arguments and results into spans. They may be confidential, so nobody gets them unasked.
    #[must_use]
    pub fn recording_content(mut self) -> Self {
        self.0.record_content = true;
        self
    }

    /// Lets agents use what a catalog allows them and nothing else; otherwise they use what they list.
    #[must_use]
    pub fn with_catalog(mut self, catalog: Catalog) -> Self {
        self.0.catalog = Some(catalog);
        self
    }

    /// Keeps what runs get from outside in a journal, and takes what is kept there.
    #[must_use]
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.0.journal = Some(journal);
        self
    }

    /// The runtime.
    pub fn build(self) -> Runtime {
        Runtime(Arc::new(self.0))
    }
}

impl Runtime {
    /// A runtime of what is registered.
    pub fn new(registry: Registry) -> Self {
        Self::builder(registry).build()
    }

    /// A runtime of what is registered, to be put together.
    pub fn builder(registry: Registry) -> RuntimeBuilder {
        RuntimeBuilder(Environment {
            registry,
            catalog: None,
            events: None,
            hooks: Hooks::new(),
            execute: Execute::default(),
            execute_of: BTreeMap::new(),
            approver: None,
            approvals_last: APPROVALS_LAST,
            clock: Arc::new(SystemTime::now),
            skip_unavailable: false,
            record_content: false,
            journal: None,
            sequence: Arc::default(),
            suspended_runs: Arc::new(InMemory::default()),
            seal_keys: Vec::new(),
        })
    }

    /// Every tool that is known before any run, in the order of registration.
    pub fn specs(&self) -> Vec<ToolSpecRef> {
        self.0.registry.specs()
    }

    /// Every agent, by name.
    pub fn agents(&self) -> Vec<Arc<Agent>> {
        self.0.registry.agents()
    }

    /// Runs an agent to its end, or to where it waits for answers. A run that fails has an outcome that says so.
    ///
    /// # Errors
    ///
    /// There is no such agent, the input is not valid for the tool that the run is to implement, or the approval list names
    /// what is no tool. Nothing has run then.
    pub async fn run(&self, request: RunRequest) -> Result<RunOutcome, RunError> {
        let (agent, implements) = self.target(&request)?;
        request.hosting.check_approval_list(&agent.agent, &self.0)?;
        let RunRequest { input, run_id, scope, hosting, .. } = request;
        let id = run_id.unwrap_or_else(|| fresh_id("run"));
        let run = Run::new(&self.0, agent, (id, input), scope, hosting.events.clone());
        let options = Options { one_at_a_time: request.one_at_a_time, ..Options::default() };
        let run = hosting.apply(run.implementing(implements), options, &self.0);
        let (end, steps) = run.drive(None).await;
        Ok(outcome(run.id(), end, steps))
    }

    /// Goes on with a suspended run, once everything it asks is answered.
    ///
    /// # Errors
    ///
    /// Answers that do not fit: unknown, repeated, missing, late, given before, or about other arguments than those
    /// that wait. Nothing has run then.
    pub async fn resume(&self, request: ResumeRequest) -> Result<RunOutcome, ResumeError> {
        let ResumeRequest { run: SuspendedRun(state), answers, hosting } = request;
        let agent = state.agent.clone();
        let Some(registered) = self.0.registry.agent(&agent) else {
            return Err(ResumeError::UnknownAgent { agent });
        };
        let implements =
            state.implements.as_deref().map(|tool| self.still_implements(&agent, tool));
        let named = (state.run_id.clone(), Payload::new(state.input.as_str()));
        let scope = state.scope.clone().into();
        let run = Run::new(&self.0, registered, named, scope, hosting.events.clone());
        let options = Options {
            one_at_a_time: state.one_at_a_time,
            approval_list: state.approval_list.as_slice().into(),
            ..Options::default()
        };
        let run = hosting.apply(run.implementing(implements.transpose()?), options, &self.0);
        let verdicts = Arc::new(self.0.take_answers(&state.step, answers).await?);
        let (end, steps) = run.drive(Some(Resumption { state, verdicts })).await;
        Ok(outcome(run.id(), end, steps))
    }

    /// A suspended run as a text, which can be kept anywhere: see [`suspended`](crate::suspended).
    ///
    /// # Errors
    ///
    /// The runtime's store or its source of random numbers fails.
    pub async fn export(&self, run: &SuspendedRun) -> Result<String, StateError> {
        self.0.export(&run.0).await
    }

    /// The run that was exported as a text, by this runtime or another with the same key or store. It can be shown and resumed.
    ///
    /// # Errors
    ///
    /// A text that is no such run, is of another version, was changed, or is sealed by a key or kept in a store that this
    /// runtime does not have.
    pub async fn restore(&self, exported: &str) -> Result<SuspendedRun, StateError> {
        self.0.restore(exported).await.map(SuspendedRun)
    }

    /// Makes one call outside any agent's run, on the path every call takes. What provides the tool is entered before
    /// and exited after it. A call whose scope has no run id gets one, by which no [`Journal`] knows it again. Nothing can
    /// be suspended here: a call that needs an approval is denied unless there is an approver.
    pub async fn call(&self, request: impl Into<CallRequest>) -> ToolResult {
        let CallRequest { call, events } = request.into();
        let mut scope = call.scope().clone();
        scope.run_id.get_or_insert_with(|| fresh_id("run"));
        let call = call.with_scope(scope.clone());
        let publisher = self.0.publisher(None, Arc::new(scope), events);
        let Some(tool) = self.0.registry.registered(call.tool()) else {
            return self.refuse_unknown(call, publisher);
        };
        // The path of the call catches what the tool panics with, and not what its toolset does before and after.
        let calling = AssertUnwindSafe(self.call_once(call.clone(), &tool, publisher));
        let called = calling.catch_unwind().await;
        called.unwrap_or_else(|panic| ToolResult::new(&call, Err(panicked("the toolset", &*panic))))
    }

    /// Opens a session for an agent: binds what the agent's allowlist in the runtime's catalog names now, with a fresh
    /// instance of every factory. Its calls take the path of every call: hooks, approvals, limits, events.
    ///
    /// # Errors
    ///
    /// A factory that failed, or a toolset that did not enter; what was entered is exited.
    pub async fn open_session(
        &self,
        request: impl Into<SessionRequest>,
    ) -> Result<Session, ToolsetError> {
        Session::open(&self.0, request.into()).await
    }

    /// The agent that a request is about, and the tool that its input has been checked for.
    fn target(
        &self,
        request: &RunRequest,
    ) -> Result<(RegisteredAgent, Option<ToolSpecRef>), RunError> {
        let registry = &self.0.registry;
        match &request.target {
            Target::Agent(name) => {
                let unknown = || {
                    let names = registry.agents().into_iter().map(|agent| agent.name.clone());
                    RunError::UnknownAgent { agent: name.clone(), available: names.collect() }
                };
                Ok((registry.agent(name).ok_or_else(unknown)?, None))
            }
            Target::Tool(asked) => {
                let found = registry.implementer(asked.name());
                let same = found.filter(|(_, tool)| tool.toolset() == asked.toolset());
                let Some((agent, tool)) = same else {
                    let (tool, available) = (asked.name().to_owned(), registry.implemented());
                    return Err(RunError::UnknownTool { tool, available });
                };
                tool.check_args(request.input.as_bytes()).map_err(|issues| {
                    RunError::InvalidInput { tool: tool.name().to_owned(), issues }
                })?;
                Ok((agent, Some(tool)))
            }
        }
    }

    /// The tool that judges the final payload of a run that was suspended.
    fn still_implements(&self, agent: &str, tool: &str) -> Result<ToolSpecRef, ResumeError> {
        let found = self.0.registry.implementer(tool);
        let found = found.filter(|(found, _)| found.agent.name == agent);
        found.map(|(_, tool)| tool).ok_or_else(|| ResumeError::UnknownTool {
            agent: agent.to_owned(),
            tool: tool.to_owned(),
        })
    }

    async fn call_once(
        &self,
        call: ToolCall,
        tool: &Registered,
        publisher: Publisher,
    ) -> ToolResult {
        let scope = Arc::clone(&publisher.scope);
        let provider = &tool.provider;
        let failed = |call: &ToolCall, error: &dyn std::error::Error| {
            ToolResult::new(call, Err(ToolFailure::internal(error)))
        };
        let toolset = match provider.source.resolve(&provider.name, &scope).await {
            Ok(Some(toolset)) => toolset,
            Ok(None) => return self.refuse_unknown(call, publisher),
            Err(error) => return failed(&call, &error),
        };
        let entered = match Entered::enter(Arc::clone(&toolset), scope).await {
            Ok(entered) => entered,
            Err(error) => return failed(&call, &*error),
        };
        let dispatcher = Dispatcher::outside_runs(&self.0, toolset, publisher);
        let result = dispatcher.call(call, &tool.entry).await;
        entered.close().await;
        result
    }

    fn refuse_unknown(&self, call: ToolCall, publisher: Publisher) -> ToolResult {
        let specs = self.0.registry.specs();
        let known = specs.iter().filter(|spec| spec.is_advertised()).map(|spec| spec.name());
        let failure = ToolFailure::not_found(call.tool(), known);
        let nothing = Arc::new(Combined::new());
        let dispatcher = Dispatcher::outside_runs(&self.0, nothing, publisher);
        dispatcher.settle(call, None, Err(failure)).into_exchange().result
    }
}

/// A runtime runs calls like any executor: what is registered in it can be offered elsewhere, for
/// instance by an MCP server that exposes what agents implement.
impl Executor for Runtime {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.call(call.clone()))
    }
}

fn outcome(run_id: &str, end: End, steps: Vec<Vec<crate::agent::Exchange>>) -> RunOutcome {
    let end = match end {
        End::Finished(payload) => RunEnd::Finished(payload),
        End::Failed(failure) => RunEnd::Failed(failure),
        End::Suspended(state) => RunEnd::Suspended(SuspendedRun(state)),
    };
    RunOutcome { run_id: run_id.to_owned(), end, steps }
}
