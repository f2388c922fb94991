//! The way in: what a host asks for, and the runtime that does it. Never decides what a run does
//! next: see `run`.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use toolwright::call::fresh_id;
use toolwright::{
    BoxFuture, Executor, Payload, Scope, ToolCall, ToolFailure, ToolResult, ToolSpec,
};

use crate::agent::Agent;
use crate::approval::{Answer, Approver, Clock, Ledger, ResumeError, check, now};
use crate::delegate::child_scope;
use crate::dispatch::{Clearance, Next, Path, Slot, Ticket};
use crate::event::Origin;
use crate::execute::Execute;
use crate::hooks::Hooks;
use crate::lifecycle::Entered;
use crate::registry::{Registered, RegisteredAgent, Registry};
use crate::request::{CallRequest, RunEnd, RunError, RunOutcome, RunRequest, Target};
use crate::run::{End, Options, Resumption, Run};
use crate::sink::{EventSink, Publisher};
use crate::state::{RunState, SuspendedRun};
use crate::toolset::{ToolEntry, ToolSpecRef, Toolset};

/// Runs agents and single calls on what a [`Registry`] holds. Cheap to clone; nothing in it changes.
///
/// Works inside a tokio runtime whose timers are on.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

/// A runtime that is being put together.
pub struct RuntimeBuilder {
    registry: Registry,
    settings: Settings,
}

pub(crate) struct Inner {
    pub(crate) registry: Registry,
    pub(crate) settings: Settings,
    sequence: Arc<AtomicU64>,
    answered: Ledger,
}

/// What a host decides about all runs.
pub(crate) struct Settings {
    events: Option<Arc<dyn EventSink>>,
    pub(crate) hooks: Hooks,
    pub(crate) execute: Execute,
    approver: Option<Arc<dyn Approver>>,
    pub(crate) approvals_last: Duration,
    pub(crate) clock: Clock,
    pub(crate) skip_unavailable: bool,
    pub(crate) record_content: bool,
}

/// How long a question can be answered unless the host says something else: a day.
const APPROVALS_LAST: Duration = Duration::from_hours(24);

impl RuntimeBuilder {
    /// Sends every event to a sink, whichever run it happens in.
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.settings.events = Some(sink);
        self
    }

    /// Sets what runs before and after calls.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.settings.hooks = hooks;
        self
    }

    /// Sets what runs calls; otherwise [`Execute::default`] does.
    #[must_use]
    pub fn with_execute(mut self, execute: Execute) -> Self {
        self.settings.execute = execute;
        self
    }

    /// Sets who approves while runs wait; otherwise runs are suspended, and calls outside runs denied.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.settings.approver = Some(approver);
        self
    }

    /// Sets how long a question can be answered; otherwise it is a day.
    #[must_use]
    pub fn with_approvals_lasting(mut self, time: Duration) -> Self {
        self.settings.approvals_last = time;
        self
    }

    /// Sets the clock that questions expire by; otherwise it is the system's.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.settings.clock = Arc::new(clock);
        self
    }

    /// Leaves tools that cannot be used now out of what planners are shown.
    #[must_use]
    pub fn skipping_unavailable(mut self) -> Self {
        self.settings.skip_unavailable = true;
        self
    }

    /// Puts arguments and results into spans. They may be confidential, so nobody gets them unasked.
    #[must_use]
    pub fn recording_content(mut self) -> Self {
        self.settings.record_content = true;
        self
    }

    /// The runtime.
    pub fn build(self) -> Runtime {
        let Self { registry, settings } = self;
        let (sequence, answered) = (Arc::default(), Ledger::default());
        let inner = Arc::new(Inner { registry, settings, sequence, answered });
        Runtime(inner)
    }
}

impl Runtime {
    /// A runtime of what is registered.
    pub fn new(registry: Registry) -> Self {
        Self::builder(registry).build()
    }

    /// A runtime whose every event goes to a sink, whichever run it happens in.
    pub fn observed(registry: Registry, sink: Arc<dyn EventSink>) -> Self {
        Self::builder(registry).with_events(sink).build()
    }

    /// A runtime of what is registered, to be put together.
    pub fn builder(registry: Registry) -> RuntimeBuilder {
        let settings = Settings {
            events: None,
            hooks: Hooks::new(),
            execute: Execute::default(),
            approver: None,
            approvals_last: APPROVALS_LAST,
            clock: Arc::new(SystemTime::now),
            skip_unavailable: false,
            record_content: false,
        };
        RuntimeBuilder { registry, settings }
    }

    /// Every tool that is known before any run, in the order of registration.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.0.registry.specs()
    }

    /// Every agent, by name.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.0.registry.agents()
    }

    /// Runs an agent to its end, or to where it waits for answers. A run that fails has an outcome that says so.
    ///
    /// # Errors
    ///
    /// There is no such agent, or the input is not valid for the tool that the run is to answer. Nothing has run then.
    pub async fn run(&self, request: RunRequest) -> Result<RunOutcome, RunError> {
        let run = self.0.run(request)?;
        let (end, steps) = run.drive(None).await;
        Ok(outcome(run.id, end, steps))
    }

    /// Goes on with a suspended run, once everything it asks is answered. What it was asked with beyond its own data
    /// (sinks, toolsets, cancellation) comes with the request; agent, input, ids and labels are the run's.
    ///
    /// # Errors
    ///
    /// Answers that do not fit: unknown, repeated, missing, late, given before, or about other arguments than those
    /// that wait. Nothing has run then.
    pub async fn resume(
        &self,
        suspended: &SuspendedRun,
        answers: Vec<Answer>,
        request: impl Into<Option<RunRequest>>,
    ) -> Result<RunOutcome, ResumeError> {
        let state = &suspended.0;
        let run = self.0.resumed(state, request.into())?;
        let answers = Arc::new(self.0.take_answers(state, answers)?);
        let resumption = Resumption { state: state.clone(), answers };
        let (end, steps) = run.drive(Some(resumption)).await;
        Ok(outcome(run.id, end, steps))
    }

    /// Makes one call outside any agent's run, on the path every call takes. What provides the tool is entered before
    /// and exited after it. A call that belongs to no run gets a run id of its own. Nothing can be suspended here: a
    /// call that needs an approval is denied unless there is an approver.
    pub async fn call(&self, request: impl Into<CallRequest>) -> ToolResult {
        let CallRequest { call, events } = request.into();
        let mut scope = call.scope().clone();
        let run_id = scope.run_id.get_or_insert_with(|| fresh_id("run")).clone();
        let publisher = self.0.publisher(&run_id, None, &scope, events);
        let call = call.with_scope(scope);
        match self.0.registry.tool(call.tool()) {
            Some(tool) => self.0.call_once(call, tool, publisher).await,
            None => self.0.refuse_unknown(call, publisher),
        }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.0
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
        let (agent, answers) = self.target(&request)?;
        let run_id = request.run_id.clone().unwrap_or_else(|| fresh_id("run"));
        let mut run = self.prepare(
            agent,
            request.input.clone(),
            run_id,
            request.scope.clone(),
            request.events.clone(),
        );
        run.answers = answers;
        self.apply(&mut run, request);
        Ok(run)
    }

    /// The agent that a request is about, and the tool that its input has been checked for.
    fn target(
        &self,
        request: &RunRequest,
    ) -> Result<(&RegisteredAgent, Option<ToolSpecRef>), RunError> {
        match &request.target {
            Target::Agent(name) => match self.registry.agent(name) {
                Some(agent) => Ok((agent, None)),
                None => Err(self.unknown_agent(name.clone())),
            },
            Target::Tool(asked) => {
                let found = self.registry.implementer(asked.name());
                let same = found.filter(|(_, tool)| tool.toolset() == asked.toolset());
                let Some((agent, tool)) = same else {
                    let available = self.registry.implemented().map(|tool| tool.name().to_owned());
                    let (tool, available) = (asked.name().to_owned(), available.collect());
                    return Err(RunError::UnknownTool { tool, available });
                };
                tool.check_args(request.input.as_bytes()).map_err(|issues| {
                    RunError::InvalidInput { tool: tool.name().to_owned(), issues }
                })?;
                Ok((agent, Some(tool.clone())))
            }
        }
    }

    /// Takes over what a host decides about one run.
    fn apply(&self, run: &mut Run, request: RunRequest) {
        run.options = Options {
            one_at_a_time: request.one_at_a_time,
            approval_list: request.approval_list.into(),
            approver: request.approver.or_else(|| self.settings.approver.clone()),
            can_suspend: true,
        };
        run.extra = request.extra;
        run.cancelled = request.cancelled;
    }

    /// The run of a suspended state, with what its host decides now.
    fn resumed(
        self: &Arc<Self>,
        state: &RunState,
        request: Option<RunRequest>,
    ) -> Result<Run, ResumeError> {
        let agent = state.agent.clone();
        let Some(registered) = self.registry.agent(&agent) else {
            return Err(ResumeError::UnknownAgent { agent });
        };
        let answers = state.answers.as_deref().map(|tool| self.still_implements(&agent, tool));
        let answers = answers.transpose()?;
        let input = Payload::new(state.input.as_str());
        let mut request =
            request.unwrap_or_else(|| RunRequest::new(state.agent.as_str(), input.clone()));
        request.one_at_a_time = state.one_at_a_time;
        request.approval_list.clone_from(&state.approval_list);
        let (scope, run_id) = (state.scope.clone().into(), state.run_id.clone());
        let mut run = self.prepare(registered, input, run_id, scope, request.events.clone());
        run.answers = answers;
        self.apply(&mut run, request);
        Ok(run)
    }

    /// The tool that judges the final payload of a run that was suspended.
    fn still_implements(&self, agent: &str, tool: &str) -> Result<ToolSpecRef, ResumeError> {
        let found = self.registry.implementer(tool).filter(|(found, _)| found.agent.name == agent);
        found.map(|(_, tool)| tool.clone()).ok_or_else(|| ResumeError::UnknownTool {
            agent: agent.to_owned(),
            tool: tool.to_owned(),
        })
    }

    /// Checks answers and counts their questions as answered, all or none.
    fn take_answers(
        &self,
        state: &RunState,
        answers: Vec<Answer>,
    ) -> Result<crate::approval::Answers, ResumeError> {
        if let Some(id) = state.first_forged() {
            return Err(ResumeError::OtherArguments { id: id.to_owned() });
        }
        let (questions, now) = (state.questions(), now(&self.settings.clock));
        let checked = check(&questions, answers, now)?;
        self.check_edits(&questions, &checked)?;
        let taken: Vec<_> =
            questions.iter().map(|asked| (asked.id.as_str(), asked.expires_at)).collect();
        self.answered.take(&taken, now).map_err(|id| ResumeError::AnsweredBefore { id })?;
        Ok(checked)
    }

    /// Arguments of an approver's own must be right; those of tools that are only met in a run are checked there.
    fn check_edits(
        &self,
        questions: &[&crate::approval::ApprovalRequest],
        answers: &crate::approval::Answers,
    ) -> Result<(), ResumeError> {
        for asked in questions {
            let Some(crate::approval::Verdict::ApproveWith(args)) = answers.get(&asked.id) else {
                continue;
            };
            let Some(spec) = self.registry.spec(&asked.tool) else { continue };
            spec.check_args(args.as_bytes())
                .map_err(|issues| ResumeError::InvalidArguments { id: asked.id.clone(), issues })?;
        }
        Ok(())
    }

    /// The run of an agent that answers a call of one of its tools: its input is the call's arguments; it inherits
    /// options and scope, and none of the caller's sinks.
    pub(crate) fn child_run(
        self: &Arc<Self>,
        agent: &str,
        tool: ToolSpecRef,
        call: &ToolCall,
        options: &Options,
    ) -> Option<Run> {
        let agent = self.registry.agent(agent)?;
        let (input, scope) = (call.args().clone(), child_scope(call));
        let run = self.prepare(agent, input, fresh_id("run"), scope, None);
        Some(Run { answers: Some(tool), options: options.clone(), ..run })
    }

    fn prepare(
        self: &Arc<Self>,
        agent: &RegisteredAgent,
        input: Payload,
        run_id: String,
        scope: Scope,
        events: Option<Arc<dyn EventSink>>,
    ) -> Run {
        let name: Arc<str> = agent.agent.name.as_str().into();
        let publisher = self.publisher(&run_id, Some(name), &scope, events);
        Run {
            runtime: Arc::clone(self),
            agent: agent.clone(),
            input,
            answers: None,
            scope: Arc::new(Scope { run_id: Some(run_id.clone()), ..scope }),
            id: run_id,
            publisher,
            options: Options::default(),
            extra: Vec::new(),
            cancelled: tokio_util::sync::CancellationToken::new(),
        }
    }

    pub(crate) fn publisher(
        &self,
        run_id: &str,
        agent: Option<Arc<str>>,
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
        Publisher {
            origin: Arc::new(origin),
            sequence,
            sinks: [self.settings.events.clone(), events],
        }
    }

    /// The options of calls outside any run.
    pub(crate) fn call_options(&self) -> Options {
        Options { approver: self.settings.approver.clone(), ..Options::default() }
    }

    async fn call_once(
        self: &Arc<Self>,
        call: ToolCall,
        tool: &Registered,
        publisher: Publisher,
    ) -> ToolResult {
        let scope = Arc::new(call.scope().clone());
        let provider = &tool.provider;
        let failed = |error: &dyn std::error::Error| Err(ToolFailure::internal(error));
        let toolset = match provider.source.resolve(&provider.name, &scope).await {
            Ok(Some(toolset)) => toolset,
            Ok(None) => return self.refuse_unknown(call, publisher),
            Err(error) => {
                return ToolResult { call_id: call.id().to_owned(), outcome: failed(&error) };
            }
        };
        let entered = match Entered::enter(Arc::clone(&toolset), scope).await {
            Ok(entered) => entered,
            Err(error) => {
                return ToolResult { call_id: call.id().to_owned(), outcome: failed(&*error) };
            }
        };
        let path = self.path(toolset, publisher);
        let result = path.take_now(call, &tool.entry).await;
        entered.close().await;
        result
    }

    pub(crate) fn path(self: &Arc<Self>, toolset: Arc<dyn Toolset>, publisher: Publisher) -> Path {
        let options = self.call_options();
        Path { runtime: Arc::clone(self), toolset, publisher, options }
    }

    fn refuse_unknown(self: &Arc<Self>, call: ToolCall, publisher: Publisher) -> ToolResult {
        let known = self.registry.specs().filter(|spec| spec.is_advertised()).map(ToolSpec::name);
        let failure = ToolFailure::not_found(call.tool(), known);
        let nothing = Arc::new(crate::toolset::Combined::new());
        self.path(nothing, publisher).refuse_now(call, failure)
    }

    fn unknown_agent(&self, agent: String) -> RunError {
        let available = self.registry.agents().map(|agent| agent.name.clone()).collect();
        RunError::UnknownAgent { agent, available }
    }
}

impl Path {
    /// Makes one call of a known tool, where nothing can be suspended.
    pub(crate) async fn take_now(&self, call: ToolCall, tool: &ToolEntry) -> ToolResult {
        let call = call.with_tool(tool.name());
        let todo = if self.options.needs_answer(tool) {
            Next::Ask(Arc::new(self.runtime.request(&call, tool)))
        } else {
            Next::Run(Clearance::Unneeded)
        };
        match self.take(Ticket { call, tool: Some(tool.clone()), todo }).await {
            Slot::Done(exchange) => exchange.result,
            Slot::Waiting(call) | Slot::Asked(call, _) | Slot::Child(call, _) => {
                let failure = crate::stop::cancelled("the call");
                ToolResult::new(&call, Err(failure))
            }
        }
    }
}

fn outcome(run_id: String, end: End, steps: Vec<crate::planner::StepRecord>) -> RunOutcome {
    let end = match end {
        End::Finished(payload) => RunEnd::Finished(payload),
        End::Failed(failure) => RunEnd::Failed(failure),
        End::Suspended(state) => RunEnd::Suspended(SuspendedRun(state)),
    };
    RunOutcome { run_id, end, steps }
}
