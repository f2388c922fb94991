//! The loop of one run: ask the planner, make the calls, ask again; wait for answers and go on. Never runs a call by
//! itself: see `dispatch`.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolwright::{BoxError, FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure};
use tracing::Instrument;

use crate::approval::{Answers, ApprovalRequest, Approver, now};
use crate::batch::{never_ended, run_all};
use crate::delegate::{MAX_DEPTH, too_deep};
use crate::dispatch::{Clearance, Next, Path, Slot, Ticket, check_result, settle};
use crate::event::{EventKind, Origin};
use crate::execute::panicked;
use crate::lifecycle::Entered;
use crate::planner::{Exchange, Step, StepRecord, Turn};
use crate::policy::Budget;
use crate::registry::RegisteredAgent;
use crate::runtime::Inner;
use crate::sink::Publisher;
use crate::state::{RunState, SlotState, VERSION};
use crate::stop::{Stop, cancelled};
use crate::telemetry;
use crate::toolset::{Combined, Filtered, Source, ToolEntry, ToolSpecRef, Toolset};

/// A run that can start.
pub(crate) struct Run {
    pub(crate) runtime: Arc<Inner>,
    pub(crate) agent: RegisteredAgent,
    pub(crate) input: Payload,
    pub(crate) answers: Option<ToolSpecRef>,
    pub(crate) id: String,
    /// The scope of the calls it makes.
    pub(crate) scope: Arc<Scope>,
    pub(crate) publisher: Publisher,
    pub(crate) options: Options,
    /// Toolsets for this run alone.
    pub(crate) extra: Vec<(String, Source)>,
    pub(crate) cancelled: CancellationToken,
}

/// What a host decides about a run, and child runs inherit.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub(crate) one_at_a_time: bool,
    /// The tools whose calls need an approval by the run's own wish.
    pub(crate) approval_list: Arc<[String]>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// Whether somebody can take the run's state and bring it back.
    pub(crate) can_suspend: bool,
}

impl Options {
    /// Whether a call waits for somebody before it may run.
    pub(crate) fn needs_answer(&self, tool: &ToolEntry) -> bool {
        let listed = self.approval_list.iter().any(|name| tool.answers_to(name));
        tool.approval().is_some() || tool.is_external() || listed
    }
}

/// A suspended run and the answers it goes on with.
pub(crate) struct Resumption {
    pub(crate) state: Box<RunState>,
    pub(crate) answers: Arc<Answers>,
}

/// How a run ends, for now or for good.
pub(crate) enum End {
    Finished(Payload),
    Failed(ToolFailure),
    Suspended(Box<RunState>),
}

impl From<ToolFailure> for End {
    fn from(failure: ToolFailure) -> Self {
        Self::Failed(failure)
    }
}

/// What a run has done so far.
struct Progress {
    steps: Vec<StepRecord>,
    call_ids: BTreeSet<String>,
    budget: Budget,
    /// How long it had run before it was resumed.
    elapsed: Duration,
    since: Instant,
}

/// The toolsets of a run, entered, and the way to them.
struct Live {
    path: Path,
    entered: Entered,
}

impl Run {
    /// Runs to the end, whatever that is, and gives the steps made on the way.
    pub(crate) async fn drive(&self, resumption: Option<Resumption>) -> (End, Vec<StepRecord>) {
        if self.scope.depth > MAX_DEPTH {
            return (End::Failed(too_deep()), Vec::new());
        }
        let session = self.scope.session_id.as_deref();
        let span = telemetry::agent_span(&self.agent.agent, &self.id, session);
        // Boxed here and below, so that a nested run takes little of its caller's stack.
        let (end, steps) = Box::pin(self.go(resumption)).instrument(span.clone()).await;
        if let End::Failed(failure) = &end {
            span.record("error.type", failure.kind.as_str());
        }
        (end, steps)
    }

    /// Goes on under the id and with the input of a run that was suspended.
    pub(crate) fn take_identity(&mut self, state: &RunState) {
        self.id.clone_from(&state.run_id);
        self.input = Payload::new(state.input.as_str());
        // Its place among other runs is that of the call it answers now.
        let depth = self.scope.depth;
        self.scope = Arc::new(Scope { depth, ..state.scope.clone().into() });
        let origin = Origin { run_id: self.id.clone(), ..Origin::clone(&self.publisher.origin) };
        self.publisher.origin = Arc::new(origin);
    }

    async fn go(&self, resumption: Option<Resumption>) -> (End, Vec<StepRecord>) {
        let announced = Announced::start(self, resumption.is_some());
        let mut progress = self.progress(resumption.as_ref());
        let agent = &self.agent.agent;
        let (budget, cancelled) = (agent.policy.time_budget, self.cancelled.clone());
        let stop = Stop::new(&agent.name, budget, progress.elapsed, cancelled);
        let end = match stop.unless_reached(Box::pin(self.get_ready())).await {
            Err(failure) | Ok(Err(failure)) => End::Failed(failure),
            Ok(Ok(live)) => {
                let ended =
                    Box::pin(self.steps(&live.path, &mut progress, resumption, &stop)).await;
                live.entered.close().await;
                ended.unwrap_or_else(|end| end)
            }
        };
        announced.close(&end);
        (end, progress.steps)
    }

    /// Makes and enters what the run uses.
    async fn get_ready(&self) -> Result<Live, ToolFailure> {
        let toolset: Arc<dyn Toolset> =
            Arc::new(self.assemble().await.map_err(|error| self.internal(&*error))?);
        let entering = Entered::enter(Arc::clone(&toolset), Arc::clone(&self.scope));
        let entered = entering.await.map_err(|error| self.internal(&*error))?;
        let path = Path {
            runtime: Arc::clone(&self.runtime),
            toolset,
            publisher: self.publisher.clone(),
            options: self.options.clone(),
        };
        Ok(Live { path, entered })
    }

    /// Everything the agent may use, side by side: its toolsets, its single tools, what this run adds.
    async fn assemble(&self) -> Result<Combined, BoxError> {
        let mut all = Combined::new();
        for used in self.runtime.registry.uses_of(&self.agent.agent) {
            let name = used.provider.name.clone();
            let Some(toolset) = used.provider.source.resolve(&name, &self.scope).await? else {
                continue;
            };
            match used.only {
                None => all.push(name, toolset),
                Some(only) => {
                    let keep = move |tool: &str| only.contains(tool);
                    all.push(name, Arc::new(Filtered::new(toolset, keep)));
                }
            }
        }
        for (name, source) in &self.extra {
            if let Some(toolset) = source.resolve(name, &self.scope).await? {
                all.push(name.clone(), toolset);
            }
        }
        Ok(all)
    }

    fn progress(&self, resumption: Option<&Resumption>) -> Progress {
        let mut budget = Budget::new(self.agent.agent.policy);
        let (mut steps, mut call_ids, mut elapsed) = (Vec::new(), BTreeSet::new(), Duration::ZERO);
        if let Some(Resumption { state, .. }) = resumption {
            budget.calls = state.calls;
            budget.failures_in_a_row = state.failures_in_a_row;
            budget.denied = state.denied;
            elapsed = Duration::from_millis(state.elapsed);
            steps = state.history.iter().map(|step| step_of(step.clone())).collect();
            call_ids = state.call_ids();
        }
        Progress { steps, call_ids, budget, elapsed, since: Instant::now() }
    }

    /// One step after another, until one ends the run.
    async fn steps(
        &self,
        path: &Path,
        progress: &mut Progress,
        mut resumption: Option<Resumption>,
        stop: &Stop,
    ) -> Result<End, End> {
        loop {
            let tools = stop.unless_reached(Box::pin(self.list(path))).await??;
            let tickets = if let Some(resumption) = resumption.take() {
                self.go_on(resumption, &tools)
            } else {
                let asking = Box::pin(self.ask(path, &progress.steps, &tools));
                match stop.unless_reached(asking).await?? {
                    Step::Finish(payload) => return Ok(self.accept(payload)),
                    Step::Call(calls) => self.admit_all(calls, &tools, progress)?,
                }
            };
            Box::pin(self.make(path, tickets, progress, stop)).await?;
            // Planner and tools may all answer at once; the time budget needs a moment to strike.
            tokio::task::yield_now().await;
        }
    }

    async fn list(&self, path: &Path) -> Result<Vec<ToolEntry>, ToolFailure> {
        let listed = path.toolset.tools(&self.scope).await;
        let mut tools = listed.map_err(|error| self.internal(&*error))?;
        if self.runtime.settings.skip_unavailable {
            tools.retain(|tool| path.toolset.is_available(tool.name()));
        }
        Ok(tools)
    }

    async fn ask(
        &self,
        path: &Path,
        history: &[StepRecord],
        tools: &[ToolEntry],
    ) -> Result<Step, ToolFailure> {
        let instructions = self.instructions(path).await;
        let turn = Turn {
            agent: &self.agent.agent,
            input: &self.input,
            answers: self.answers.as_deref(),
            scope: &self.scope,
            run_id: &self.id,
            history,
            tools,
            instructions: &instructions,
        };
        match AssertUnwindSafe(async { self.agent.planner.plan(&turn).await }).catch_unwind().await
        {
            Ok(planned) => planned.map_err(|error| self.planner_failed(error)),
            Err(panic) => Err(ToolFailure {
                message: self.planner_message(),
                ..panicked("the planner", &*panic)
            }),
        }
    }

    async fn instructions(&self, path: &Path) -> String {
        let own = Some(self.agent.agent.instructions.clone());
        let of_toolsets = path.toolset.instructions(&self.scope).await;
        let texts = [own, of_toolsets].into_iter().flatten();
        let said: Vec<_> = texts.filter(|text| !text.trim().is_empty()).collect();
        said.join("\n\n")
    }

    /// Makes the calls of a step and takes their results into account.
    async fn make(
        &self,
        path: &Path,
        tickets: Vec<Ticket>,
        progress: &mut Progress,
        stop: &Stop,
    ) -> Result<(), End> {
        let batch = run_all(path, tickets, self.options.one_at_a_time, stop).await;
        if batch.stopped.is_none() && batch.slots.iter().any(|slot| !matches!(slot, Slot::Done(_)))
        {
            return Err(End::Suspended(self.suspend(batch.slots, progress)));
        }
        let exchanges: Vec<_> = batch.slots.into_iter().map(ended).collect();
        let verdict = progress.budget.close_step(&exchanges);
        progress.steps.push(StepRecord { exchanges });
        batch.stopped.map_or(Ok(()), |failure| Err(End::Failed(failure)))?;
        Ok(verdict?)
    }

    /// Looks at all calls of a step before any of them runs.
    fn admit_all(
        &self,
        calls: Vec<ToolCall>,
        tools: &[ToolEntry],
        progress: &mut Progress,
    ) -> Result<Vec<Ticket>, ToolFailure> {
        if calls.is_empty() {
            // Asking the same question again would get the same answer, for ever.
            return Err(self.stuck("the planner returned a step without calls"));
        }
        let opened = progress.budget.open_step(calls.len())?;
        let ticket = |call: ToolCall| {
            let scope = self.scope_of(&call);
            let call = call.with_scope(scope);
            let tool = find(tools, call.tool());
            if let Err(denied) = &opened {
                return refuse(call, tool, denied.clone());
            }
            if !progress.call_ids.insert(call.id().to_owned()) {
                let failure = repeated(&call);
                return refuse(call, tool, failure);
            }
            self.admit(call, tools)
        };
        Ok(calls.into_iter().map(ticket).collect())
    }

    /// What is to be done about a call whose id is new and that the run can afford.
    fn admit(&self, call: ToolCall, tools: &[ToolEntry]) -> Ticket {
        let Some(tool) = find(tools, call.tool()) else {
            let known = tools.iter().filter(|tool| tool.spec().is_advertised());
            let failure = ToolFailure::not_found(call.tool(), known.map(ToolEntry::name));
            return refuse(call, None, failure);
        };
        let call = call.with_tool(tool.name());
        if !self.options.needs_answer(&tool) {
            return Ticket { call, tool: Some(tool), todo: Next::Run(Clearance::Unneeded) };
        }
        // Nobody is asked about what cannot run.
        match tool.spec().check_args(call.args().as_bytes()) {
            Ok(()) => {
                let request = Arc::new(self.runtime.request(&call, &tool));
                Ticket { call, tool: Some(tool), todo: Next::Ask(request) }
            }
            Err(issues) => {
                let failure = ToolFailure::invalid_call(tool.spec(), &call, issues);
                refuse(call, Some(tool), failure)
            }
        }
    }

    /// What is to be done about the calls of a suspended step, now that its questions are answered.
    fn go_on(&self, resumption: Resumption, tools: &[ToolEntry]) -> Vec<Ticket> {
        let Resumption { state, answers } = resumption;
        let ticket = |slot| match slot {
            SlotState::Done(exchange) => {
                let exchange: Exchange = exchange.into();
                Ticket { call: exchange.call.clone(), tool: None, todo: Next::Nothing(exchange) }
            }
            SlotState::Waiting(call) => self.admit(call.into(), tools),
            SlotState::Asked { call, request } => {
                self.answered(call.into(), request, &answers, tools)
            }
            SlotState::Child { call, run } => {
                let call: ToolCall = call.into();
                let resumption = Resumption { state: run, answers: Arc::clone(&answers) };
                let tool = find(tools, call.tool());
                Ticket { call, tool, todo: Next::Resume(resumption) }
            }
        };
        state.step.into_iter().map(ticket).collect()
    }

    fn answered(
        &self,
        call: ToolCall,
        request: ApprovalRequest,
        answers: &Answers,
        tools: &[ToolEntry],
    ) -> Ticket {
        let tool = find(tools, call.tool());
        let (Some(verdict), Some(tool)) = (answers.get(&request.id).cloned(), tool) else {
            // Answers were checked to be whole, so it is the tool that has gone.
            let failure = ToolFailure::not_found(call.tool(), tools.iter().map(ToolEntry::name));
            return refuse(call, None, failure);
        };
        let request = Arc::new(request);
        self.publisher.publish(|| EventKind::ApprovalAnswered {
            request: Arc::clone(&request),
            verdict: verdict.clone(),
        });
        let (call, settled) = settle(call, &request, verdict);
        let todo = match settled {
            Ok(clearance) => Next::Run(clearance),
            Err(outcome) => Next::Refuse(check_result(tool.spec(), outcome)),
        };
        Ticket { call, tool: Some(tool), todo }
    }

    fn suspend(&self, slots: Vec<Slot>, progress: &Progress) -> Box<RunState> {
        let elapsed = progress.elapsed + progress.since.elapsed();
        Box::new(RunState {
            version: VERSION,
            run_id: self.id.clone(),
            agent: self.agent.agent.name.clone(),
            answers: self.answers.as_ref().map(|tool| tool.name().to_owned()),
            input: self.input.to_string(),
            scope: (&*self.scope).into(),
            history: progress
                .steps
                .iter()
                .map(|step| step.exchanges.iter().map(Into::into).collect())
                .collect(),
            step: slots.into_iter().map(slot_state).collect(),
            calls: progress.budget.calls,
            failures_in_a_row: progress.budget.failures_in_a_row,
            denied: progress.budget.denied,
            elapsed: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            one_at_a_time: self.options.one_at_a_time,
            approval_list: self.options.approval_list.to_vec(),
        })
    }

    /// The run's scope, with what the planner may add: a parent call of its own choice, labels that
    /// do not contradict the run's.
    fn scope_of(&self, call: &ToolCall) -> Scope {
        let mut scope = Scope::clone(&self.scope);
        if let Some(parent) = call.parent_call_id() {
            scope.parent_call_id = Some(parent.to_owned());
        }
        for (key, value) in &call.scope().labels {
            scope.labels.entry(key.clone()).or_insert_with(|| value.clone());
        }
        scope
    }

    /// The end of a run that answers a call must be a result of that call's tool; of any other, what its agent says.
    fn accept(&self, payload: Payload) -> End {
        let spec = self.answers.as_ref().or(self.agent.agent.result.as_ref());
        match spec.map(|spec| check_result(spec, Ok(payload.clone()))) {
            Some(Err(failure)) => End::Failed(failure),
            _ => End::Finished(payload),
        }
    }

    fn planner_failed(&self, error: BoxError) -> ToolFailure {
        match error.downcast::<ToolFailure>() {
            Ok(failure) => *failure,
            Err(error) => self.internal(&*error),
        }
    }

    fn planner_message(&self) -> String {
        format!("agent `{}` could not go on", self.agent.agent.name)
    }

    fn internal(&self, cause: &dyn std::error::Error) -> ToolFailure {
        ToolFailure { message: self.planner_message(), ..ToolFailure::internal(cause) }
    }

    fn stuck(&self, detail: &str) -> ToolFailure {
        ToolFailure::new(FailureKind::Internal, self.planner_message(), Recovery::Replan)
            .with_detail(detail)
    }
}

impl Inner {
    /// The question of a call.
    pub(crate) fn request(&self, call: &ToolCall, tool: &ToolEntry) -> ApprovalRequest {
        ApprovalRequest::new(call, tool, now(&self.settings.clock), self.settings.approvals_last)
    }
}

fn find(tools: &[ToolEntry], name: &str) -> Option<ToolEntry> {
    let exact = tools.iter().find(|tool| tool.name() == name);
    exact.or_else(|| tools.iter().find(|tool| tool.answers_to(name))).cloned()
}

fn refuse(call: ToolCall, tool: Option<ToolEntry>, failure: ToolFailure) -> Ticket {
    Ticket { call, tool, todo: Next::Refuse(Err(failure)) }
}

fn ended(slot: Slot) -> Exchange {
    match slot {
        Slot::Done(exchange) => exchange,
        Slot::Waiting(call) | Slot::Asked(call, _) | Slot::Child(call, _) => never_ended(call),
    }
}

fn slot_state(slot: Slot) -> SlotState {
    match slot {
        Slot::Done(exchange) => SlotState::Done((&exchange).into()),
        Slot::Waiting(call) => SlotState::Waiting((&call).into()),
        Slot::Asked(call, request) => {
            SlotState::Asked { call: (&call).into(), request: ApprovalRequest::clone(&request) }
        }
        Slot::Child(call, run) => SlotState::Child { call: (&call).into(), run },
    }
}

fn step_of(exchanges: Vec<crate::wire::WireExchange>) -> StepRecord {
    StepRecord { exchanges: exchanges.into_iter().map(Into::into).collect() }
}

fn repeated(call: &ToolCall) -> ToolFailure {
    let message = format!("call id `{}` was used before in this run; use a new one", call.id());
    ToolFailure::new(FailureKind::InvalidCall, message, Recovery::correct(call))
}

/// A run that was announced and whose end is owed.
struct Announced<'a> {
    publisher: &'a Publisher,
    since: Instant,
    owed: bool,
}

impl<'a> Announced<'a> {
    fn start(run: &'a Run, again: bool) -> Self {
        run.publisher.publish(|| {
            if again {
                return EventKind::RunResumed;
            }
            EventKind::RunStarted { input: run.input.clone(), answers: run.answers.clone() }
        });
        Self { publisher: &run.publisher, since: Instant::now(), owed: true }
    }

    fn close(mut self, end: &End) {
        self.owed = false;
        match end {
            End::Finished(payload) => self.publish(Ok(payload.clone())),
            End::Failed(failure) => self.publish(Err(failure.clone())),
            End::Suspended(state) => self.publisher.publish(|| EventKind::RunSuspended {
                waiting: state.questions().iter().map(|asked| asked.call_id.clone()).collect(),
            }),
        }
    }

    fn publish(&self, result: Result<Payload, ToolFailure>) {
        let duration = self.since.elapsed();
        self.publisher.publish(|| EventKind::RunFinished { result, duration });
    }
}

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        if self.owed {
            self.publish(Err(cancelled("the run")));
        }
    }
}
