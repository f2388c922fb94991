//! The runtime, which starts and resumes runs, makes calls and opens sessions.

use crate::debug::debug;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolwright::call::fresh_id;
use toolwright::{BoxError, BoxFuture, Executor, Payload, ToolCall, ToolFailure, ToolResult};

use super::request::{
    CallRequest, ResumeRequest, RunEnd, RunError, RunOutcome, RunRequest, Target, options_of,
};
use super::session::{Session, SessionRequest};
use crate::agent::{Agent, StepRecord};
use crate::approval::{Approver, ResumeError};
use crate::caught::{Caught, panicked};
use crate::execute::ExecutionService;
use crate::hooks::Hooks;
use crate::registry::{Catalog, Registered, RegisteredAgent, Registry};
use crate::run::{
    Dispatcher, End, Environment, Journal, Options, Resumption, Run, SuspendedRun, other_definition,
};
use crate::suspended::{InMemory, SealKey, StateError, SuspendedRunStore};
use crate::tools::{
    Combined, EnteredToolset, Source, ToolEntry, ToolSpecRef, Toolset, ToolsetError,
};
use crate::watch::EventSink;

/// Runs the agents and tools of a [`Registry`]. Cheap to clone.
///
/// Must be used in a tokio runtime with timers enabled.
#[derive(Clone)]
pub struct Runtime(Arc<Environment>);

/// Builds a [`Runtime`].
pub struct RuntimeBuilder(Environment);

/// The default time in which a question can be answered.
const QUESTION_LIFETIME: Duration = Duration::from_hours(24);

debug!(Runtime, runtime => { registry: runtime.0.registry });
debug!(RuntimeBuilder, builder => { registry: builder.0.registry });

impl RuntimeBuilder {
    /// Sends the events of all runs and calls to a sink.
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.0.events = Some(sink);
        self
    }

    /// Sets the hooks, which run before and after calls. None runs for a call that the host runs, or for one that is refused before
    /// it begins, such as one of an unknown tool or one that was denied.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.0.hooks = hooks;
        self
    }

    /// Sets the service that runs tools, with its layers. The default is [`ExecutionService::default`].
    #[must_use]
    pub fn with_execution_service(mut self, execute: ExecutionService) -> Self {
        self.0.execute = execute;
        self
    }

    /// Sets the service for the tools of one toolset, whose specs have its name.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use toolwright::{FailureKind, Payload, ToolCall, ToolSpec};
    /// use toolwright_runtime::execute::Timeout;
    /// use toolwright_runtime::{ExecutionService, FunctionTool, Registry, Runtime};
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
    ///     .with_execution_service_for("slow", ExecutionService::new(Timeout::new(Duration::from_secs(300))))
    ///     .build();
    ///
    /// let call = |tool| ToolCall::new(tool, Payload::new("{}"));
    /// let failure = runtime.call(call("look")).await.outcome.unwrap_err();
    /// assert_eq!(failure.kind, FailureKind::Timeout, "the default limit is 30 seconds");
    /// assert!(runtime.call(call("search")).await.outcome.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_execution_service_for(
        mut self,
        toolset: impl Into<String>,
        execute: ExecutionService,
    ) -> Self {
        self.0.execution_by_toolset.insert(toolset.into(), execute);
        self
    }

    /// Sets the approver. Without one, runs are suspended until their questions are answered, and calls outside of runs that
    /// need an approval are denied.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.0.approver = Some(approver);
        self
    }

    /// Sets how long a question can be answered. The default is 24 hours.
    #[must_use]
    pub fn with_approvals_lasting(mut self, time: Duration) -> Self {
        self.0.question_lifetime = time;
        self
    }

    /// Sets the keys for exported runs. The first key seals, and each of them can open. Without a key, exported runs are kept in
    /// the store of the runtime. See [`suspended`](crate::suspended).
    ///
    /// To rotate the key, first append the new key in all processes, then move it to the front in all, and remove the old key
    /// once the questions sealed with it have expired.
    #[must_use]
    pub fn with_seal_keys(mut self, keys: impl IntoIterator<Item = SealKey>) -> Self {
        self.0.seal_keys = keys.into_iter().collect();
        self
    }

    /// Sets the store for suspended runs and answered questions. By default they are in the memory of this runtime. Processes
    /// that resume each other's runs need a shared store.
    #[must_use]
    pub fn with_suspended_runs(mut self, store: Arc<dyn SuspendedRunStore>) -> Self {
        self.0.suspended_runs = store;
        self
    }

    /// Sets the clock for the expiry of questions. The default is the system clock.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.0.clock = Arc::new(clock);
        self
    }

    /// Hides tools from planners while they are unavailable.
    #[must_use]
    pub fn skipping_unavailable(mut self) -> Self {
        self.0.skip_unavailable = true;
        self
    }

    /// Records arguments and results in spans. Off by default, as they may be confidential.
    #[must_use]
    pub fn recording_content(mut self) -> Self {
        self.0.record_content = true;
        self
    }

    /// Sets a catalog: agents may only use the toolsets that the catalog allows. Without a catalog they use what they list.
    #[must_use]
    pub fn with_catalog(mut self, catalog: Catalog) -> Self {
        self.0.catalog = Some(catalog);
        self
    }

    /// Sets a journal, with which runs can be repeated.
    #[must_use]
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.0.journal = Some(journal);
        self
    }

    /// Builds the runtime.
    pub fn build(self) -> Runtime {
        Runtime(Arc::new(self.0))
    }
}

impl Runtime {
    /// Creates a runtime with the default settings.
    pub fn new(registry: Registry) -> Self {
        Self::builder(registry).build()
    }

    /// Returns a builder for a runtime.
    pub fn builder(registry: Registry) -> RuntimeBuilder {
        RuntimeBuilder(Environment {
            registry,
            catalog: None,
            events: None,
            hooks: Hooks::new(),
            execute: ExecutionService::default(),
            execution_by_toolset: BTreeMap::new(),
            approver: None,
            question_lifetime: QUESTION_LIFETIME,
            clock: Arc::new(SystemTime::now),
            skip_unavailable: false,
            record_content: false,
            journal: None,
            sequence: Arc::default(),
            suspended_runs: Arc::new(InMemory::default()),
            seal_keys: Vec::new(),
        })
    }

    /// Returns the registry.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// Returns the hooks.
    pub fn hooks(&self) -> &Hooks {
        &self.0.hooks
    }

    /// Returns the specs of all tools that are known before any run, in the order of registration. Tools of a toolset that was
    /// registered with [`register_toolset`](Registry::register_toolset) are not included.
    pub fn specs(&self) -> Vec<ToolSpecRef> {
        self.0.registry.specs()
    }

    /// Returns all agents, sorted by name.
    pub fn agents(&self) -> Vec<Arc<Agent>> {
        self.0.registry.agents()
    }

    /// Runs an agent until it ends or waits for answers. A run that fails is not an error: the outcome holds the failure.
    ///
    /// # Errors
    ///
    /// There is no such agent, the input is not valid for the tool that the run implements, or the approval list has a name
    /// that no tool has. Then nothing has run.
    pub async fn run(&self, request: RunRequest) -> Result<RunOutcome, RunError> {
        let (agent, implements) = self.target(&request)?;
        let unknown = |tools, available| RunError::UnknownApproval { tools, available };
        request.host.check_approval_list(&agent.agent, &self.0, unknown)?;
        let RunRequest { input, run_id, mut scope, past, host, .. } = request;
        scope.session_id = scope.session_id.or_else(|| host.session_id().cloned());
        let id = run_id.unwrap_or_else(|| fresh_id("run"));
        let run = Run::new(&self.0, agent, (id, input), scope, host.events.clone());
        let run = run.after(past);
        let options = Options { one_at_a_time: request.one_at_a_time, ..Options::default() };
        let run = host.apply(run.implementing(implements), options, &self.0);
        let ended = run.drive(None).await;
        Ok(outcome(&run, ended))
    }

    /// Resumes a suspended run, with answers to all its questions. If the approval prompt of a tool has changed since the
    /// question was asked, its call is denied, and the run goes on: the outcome's [`calls`](RunOutcome::calls) show it.
    ///
    /// # Errors
    ///
    /// An answer is missing, repeated, late, or to an unknown or changed question, or a question was answered before; or the
    /// agent no longer exists, or the approval list of the request has a name that no tool has. Then nothing has run.
    pub async fn resume(&self, request: ResumeRequest) -> Result<RunOutcome, ResumeError> {
        let ResumeRequest { run: SuspendedRun(state), answers, host } = request;
        let agent = state.agent.clone();
        let Some(registered) = self.0.registry.agent(&agent) else {
            return Err(ResumeError::UnknownAgent { agent });
        };
        if host.is_session_stopped() {
            return Err(ResumeError::SessionStopped);
        }
        let unknown = |tools, available| ResumeError::UnknownApproval { tools, available };
        host.check_approval_list(&registered.agent, &self.0, unknown)?;
        let implements =
            state.implements.as_deref().map(|tool| self.still_implements(&agent, tool));
        let id_and_input = (state.run_id.clone(), Payload::new(state.input.as_str()));
        let scope = state.scope.clone().into();
        let run = Run::new(&self.0, registered, id_and_input, scope, host.events.clone());
        let run = run.after(state.past());
        let options = Options {
            one_at_a_time: state.one_at_a_time,
            approval_list: state.approval_list.as_slice().into(),
            ..Options::default()
        };
        let run = host.apply(run.implementing(implements.transpose()?), options, &self.0);
        let verdicts = Arc::new(self.0.accept_answers(&state.step, answers).await?);
        let ended = run.drive(Some(Resumption { state, verdicts })).await;
        Ok(outcome(&run, ended))
    }

    /// Exports a suspended run as text, which can be stored anywhere: see [`suspended`](crate::suspended).
    ///
    /// # Errors
    ///
    /// The store of the runtime or the source of random numbers fails.
    pub async fn export(&self, run: &SuspendedRun) -> Result<String, StateError> {
        self.0.export(&run.0).await
    }

    /// Restores a run that was exported by this runtime, or by another with the same key or store.
    ///
    /// # Errors
    ///
    /// The text is not an exported run, has another version or was changed, or this runtime has another key or store.
    pub async fn restore(&self, exported: &str) -> Result<SuspendedRun, StateError> {
        self.0.restore(exported).await.map(SuspendedRun)
    }

    /// Makes one call outside of runs, with the same hooks, checks and events as any call. The toolset is entered before the
    /// call and exited after it. The call cannot be suspended: without an approver, a call that needs an approval is denied.
    ///
    /// A call without a run id in its scope gets a generated one; a [`Journal`] then cannot recognize the call when it is repeated.
    ///
    /// A call that a run or session has passed to a tool, and the child runs of this call, also have the approver of that run or
    /// session, unless the request sets another one, and are stopped with it. Its approval list was applied to the call
    /// and applies to the child runs. A tool that makes a call of its own sets [`CallRequest::on_behalf_of`].
    pub async fn call(&self, request: impl Into<CallRequest>) -> ToolResult {
        let (call, dispatcher) = self.prepare(request.into());
        let Some(tool) = self.0.registry.registered(call.tool()) else {
            return self.refuse_unknown(call, &dispatcher).await;
        };
        // The dispatcher catches panics of the tool. This catches panics of the toolset's `enter` and `exit`.
        let calling = Caught::new(self.call_once(call.clone(), &tool, dispatcher));
        let called = calling.await;
        called.unwrap_or_else(|panic| ToolResult::new(&call, Err(panicked("the toolset", &panic))))
    }

    /// Does the same as [`call`](Self::call) for a tool of one toolset, which need not be registered, and keeps the state of the
    /// toolset: after `enter` it restores `saved`, and before `exit` it calls [`save`](Toolset::save), whose state it returns beside
    /// the result. The call is refused if `definition` is set and the tool is listed with another
    /// [digest](ToolEntry::definition_digest).
    ///
    /// # Errors
    ///
    /// The toolset could not be created, entered, listed, restored or saved. If only saving failed, the call has run.
    pub async fn call_in(
        &self,
        (name, source): (&str, &Source),
        definition: Option<&str>,
        saved: Option<&Payload>,
        request: impl Into<CallRequest>,
    ) -> Result<(ToolResult, Option<Payload>), BoxError> {
        let (call, dispatcher) = self.prepare(request.into());
        let scope = Arc::clone(&dispatcher.publisher.scope);
        let Some(toolset) = source.resolve(name, &scope).await? else {
            return Ok((self.refuse_unknown(call, &dispatcher).await, None));
        };
        let entered = EnteredToolset::enter(Arc::clone(&toolset), Arc::clone(&scope)).await?;
        let calling = async {
            if let Some(saved) = saved {
                toolset.restore(&scope, saved).await?;
            }
            let tools = toolset.tools(&scope).await?;
            let dispatcher = dispatcher.with_toolset(Arc::clone(&toolset));
            let Some(tool) = ToolEntry::find(&tools, call.tool()) else {
                let known = tools.iter().map(ToolEntry::name);
                let failure = ToolFailure::not_found(call.tool(), known);
                let failure = dispatcher.not_run(&call, failure).await;
                return Ok((ToolResult::new(&call, Err(failure)), None));
            };
            if definition.is_some_and(|digest| digest != tool.definition_digest()) {
                let failure = dispatcher.not_run(&call, other_definition(tool)).await;
                return Ok((ToolResult::new(&call, Err(failure)), None));
            }
            let result = dispatcher.call(call.with_tool(tool.name()), tool).await;
            Ok((result, toolset.save(&scope).await?))
        };
        let called = calling.await;
        entered.close().await;
        called
    }

    /// Opens a session for an agent. It holds the toolsets that the catalog of the runtime allows the agent now, with a new
    /// instance from each factory. Calls in the session have the same hooks, approvals, limits and events as any call.
    ///
    /// # Errors
    ///
    /// A factory failed, a toolset could not be entered or listed, or the approval list has a name that no tool has. Toolsets
    /// that were entered are exited.
    pub async fn open_session(
        &self,
        request: impl Into<SessionRequest>,
    ) -> Result<Session, ToolsetError> {
        Session::open(&self.0, request.into()).await
    }

    /// Returns the agent of a request, and the tool that its run implements. Checks the input against the tool's schema.
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
            Target::Tool(spec) => {
                let found = registry.implementer(spec.name());
                let found = found.filter(|(_, tool)| tool.toolset() == spec.toolset());
                let Some((agent, tool)) = found else {
                    let (tool, available) = (spec.name().to_owned(), registry.implemented());
                    return Err(RunError::UnknownTool { tool, available });
                };
                tool.check_args(request.input.as_bytes()).map_err(|issues| {
                    RunError::InvalidInput { tool: tool.name().to_owned(), issues }
                })?;
                Ok((agent, Some(tool)))
            }
        }
    }

    /// Returns the spec of a tool that the agent of a suspended run must still implement.
    fn still_implements(&self, agent: &str, tool: &str) -> Result<ToolSpecRef, ResumeError> {
        let found = self.0.registry.implementer(tool);
        let found = found.filter(|(found, _)| found.agent.name == agent);
        found.map(|(_, tool)| tool).ok_or_else(|| ResumeError::UnknownTool {
            agent: agent.to_owned(),
            tool: tool.to_owned(),
        })
    }

    /// Gives a call a run id, if its scope has none. Returns it with a dispatcher that has no tools yet, and the options of the run
    /// or session that makes the call or the one for which it is made.
    fn prepare(
        &self,
        CallRequest { call, events, approver, parent, outer_calls }: CallRequest,
    ) -> (ToolCall, Dispatcher) {
        let mut scope = call.scope().clone();
        scope.run_id.get_or_insert_with(|| fresh_id("run"));
        let call = call.with_scope(scope.clone());
        let publisher = self.0.publisher(None, Arc::new(scope), events);
        let nothing = Arc::new(Combined::new());
        let mut dispatcher = Dispatcher::outside_runs(&self.0, nothing, publisher);
        dispatcher.outer_calls = outer_calls;
        let is_new = parent.is_some();
        let parent = parent.or_else(|| options_of(&call));
        if let Some(parent) = &parent {
            dispatcher.options.belong_to(parent);
            dispatcher.options.agent_approval_list = Arc::clone(&parent.agent_approval_list);
            dispatcher.is_list_applied = !is_new;
            let passed = call.parent_call_id().filter(|_| is_new).unwrap_or(call.id());
            let passed = std::iter::once(passed.to_owned());
            dispatcher.outer_calls = parent.outer_calls.iter().cloned().chain(passed).collect();
        }
        let approver = approver.or_else(|| parent?.approver);
        dispatcher.options.approver = approver.or(dispatcher.options.approver);
        (call, dispatcher)
    }

    async fn call_once(
        &self,
        call: ToolCall,
        tool: &Registered,
        dispatcher: Dispatcher,
    ) -> ToolResult {
        let scope = Arc::clone(&dispatcher.publisher.scope);
        let provider = &tool.provider;
        let failed = |call: &ToolCall, error: &dyn std::error::Error| {
            ToolResult::new(call, Err(ToolFailure::internal(error)))
        };
        let toolset = match provider.source.resolve(&provider.name, &scope).await {
            Ok(Some(toolset)) => toolset,
            Ok(None) => return self.refuse_unknown(call, &dispatcher).await,
            Err(error) => return failed(&call, &error),
        };
        let entered = match EnteredToolset::enter(Arc::clone(&toolset), scope).await {
            Ok(entered) => entered,
            Err(error) => return failed(&call, &*error),
        };
        let result = dispatcher.with_toolset(toolset).call(call, &tool.entry).await;
        entered.close().await;
        result
    }

    async fn refuse_unknown(&self, call: ToolCall, dispatcher: &Dispatcher) -> ToolResult {
        let specs = self.0.registry.specs();
        let known = specs.iter().filter(|spec| spec.is_advertised()).map(|spec| spec.name());
        let failure = ToolFailure::not_found(call.tool(), known);
        let refused = dispatcher.refuse(call, None, failure).await;
        dispatcher.advance(refused).await.into_record().result
    }
}

/// A runtime is an executor, so that an MCP server, for example, can offer the tools that its agents implement.
impl Executor for Runtime {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.call(call.clone()))
    }
}

fn outcome(run: &Run, (end, steps): (End, Vec<StepRecord>)) -> RunOutcome {
    let end = match end {
        End::Finished(payload) => RunEnd::Finished(payload),
        End::Failed(failure) => RunEnd::Failed(failure),
        End::Suspended(state) => RunEnd::Suspended(SuspendedRun(state)),
    };
    RunOutcome { run_id: run.id().to_owned(), input: run.input().clone(), end, steps }
}
