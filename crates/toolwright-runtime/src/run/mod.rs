//! One run of an agent: get its toolsets ready, ask the planner, make the calls, ask again; wait for answers and go on.
//! Never makes a call by itself: see `dispatch`.

mod batch;
mod budget;
mod call;
mod dispatch;
mod effects;
mod environment;
mod state;
mod step;
mod stop;

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolwright::{
    BoxError, FailureKind, Map, Outcome, Payload, Recovery, Scope, ToolCall, ToolFailure,
};
use tracing::Instrument;

use crate::agent::{Exchange, Step, Turn};
use crate::approval::{Answers, Approver};
use crate::execute::panicked;
use crate::registry::{Published, RegisteredAgent, Use};
use crate::tools::{
    Combined, Entered, Filtered, Source, ToolEntry, ToolSpecRef, Toolset, ToolsetError,
};
use crate::watch::{EventKind, EventSink, Publisher, telemetry};

use budget::Budget;
use call::cancelled;
pub(crate) use call::{CallState, PendingCall};
pub(crate) use dispatch::Dispatcher;
pub use effects::Journal;
pub(crate) use environment::Environment;
pub(crate) use state::{RunState, SavedCall, VERSION};
pub use state::{SuspendedCall, SuspendedRun};
pub(crate) use step::answered;
use stop::Stop;

/// How deep runs may be nested. An agent that calls itself without end would otherwise use up the
/// stack, which no failure could report.
const MAX_DEPTH: u32 = 16;

/// A run that can start.
pub(crate) struct Run {
    environment: Arc<Environment>,
    agent: RegisteredAgent,
    input: Payload,
    /// The tool whose call the run answers: its result schema judges the final payload.
    answers: Option<ToolSpecRef>,
    id: String,
    /// The scope of the calls it makes.
    scope: Arc<Scope>,
    publisher: Publisher,
    pub(crate) options: Options,
    /// What the session uses that the run is in.
    pub(crate) session: Option<Arc<dyn Toolset>>,
    /// Toolsets for this run alone.
    pub(crate) extra: Vec<(String, Source)>,
    pub(crate) checkpoints: Option<Checkpoints>,
    pub(crate) cancelled: CancellationToken,
}

/// Keeps a run's state after each step.
pub(crate) type Checkpoints = Arc<dyn Fn(SuspendedRun) + Send + Sync>;

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

/// What a run has done so far.
struct Progress {
    steps: Vec<Vec<Exchange>>,
    call_ids: BTreeSet<String>,
    budget: Budget,
    /// How long it had run before it was resumed.
    elapsed: Duration,
    since: Instant,
}

impl Options {
    /// Whether a call waits for somebody before it may run.
    pub(crate) fn needs_answer(&self, tool: &ToolEntry) -> bool {
        let listed = self.approval_list.iter().any(|name| tool.answers_to(name));
        tool.approval().is_some() || tool.is_deferred() || listed
    }
}

impl End {
    /// What came of the run.
    ///
    /// # Errors
    ///
    /// Nothing has yet: its state.
    fn into_outcome(self) -> Result<Outcome, Box<RunState>> {
        match self {
            Self::Finished(payload) => Ok(Ok(payload)),
            Self::Failed(failure) => Ok(Err(failure)),
            Self::Suspended(state) => Err(state),
        }
    }
}

impl From<Outcome> for End {
    fn from(outcome: Outcome) -> Self {
        outcome.map_or_else(Self::Failed, Self::Finished)
    }
}

impl From<ToolFailure> for End {
    fn from(failure: ToolFailure) -> Self {
        Self::Failed(failure)
    }
}

/// The scope of a run that answers a call: session, turn and labels are the call's.
pub(crate) fn child_scope(call: &ToolCall) -> Scope {
    let (parent_call_id, depth) =
        (Some(call.id().to_owned()), call.scope().depth.saturating_add(1));
    Scope { parent_call_id, depth, ..call.scope().clone() }
}

impl Run {
    pub(crate) fn new(
        environment: &Arc<Environment>,
        agent: RegisteredAgent,
        (id, input): (String, Payload),
        scope: Scope,
        events: Option<Arc<dyn EventSink>>,
    ) -> Self {
        let name: Arc<str> = agent.agent.name.as_str().into();
        Self {
            publisher: environment.publisher(&id, Some(name), &scope, events),
            environment: Arc::clone(environment),
            agent,
            input,
            answers: None,
            scope: Arc::new(Scope { run_id: Some(id.clone()), ..scope }),
            id,
            options: Options::default(),
            session: None,
            extra: Vec::new(),
            checkpoints: None,
            cancelled: CancellationToken::new(),
        }
    }

    /// The same run, on behalf of a tool's call or as if it were: the tool judges the final payload.
    pub(crate) fn answering(mut self, tool: Option<ToolSpecRef>) -> Self {
        self.answers = tool;
        self
    }

    /// The run that answers a call. It inherits options and scope, and none of the caller's sinks.
    fn child(
        environment: &Arc<Environment>,
        agent: RegisteredAgent,
        call: &ToolCall,
        tool: &ToolEntry,
        named: (String, Payload),
        options: &Options,
    ) -> Self {
        let run = Self::new(environment, agent, named, child_scope(call), None);
        Self { options: options.clone(), ..run.answering(Some(tool.spec_ref().clone())) }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Runs to the end, whatever that is, and gives the steps made on the way.
    pub(crate) async fn drive(&self, resumption: Option<Resumption>) -> (End, Vec<Vec<Exchange>>) {
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

    async fn go(&self, resumption: Option<Resumption>) -> (End, Vec<Vec<Exchange>>) {
        let open = OpenRun::announce(self, resumption.is_some());
        let mut progress = self.progress(resumption.as_ref());
        let agent = &self.agent.agent;
        let (budget, cancelled) = (agent.policy.time_budget, self.cancelled.clone());
        let stop = Stop::new(&agent.name, budget, progress.elapsed, cancelled);
        let getting_ready = Box::pin(self.get_ready(resumption.as_ref()));
        let end = match stop.unless_reached(getting_ready).await {
            Err(failure) | Ok(Err(failure)) => End::Failed(failure),
            Ok(Ok((dispatcher, entered))) => {
                let state = resumption.map(|resumption| resumption.state);
                let steps = self.steps(&dispatcher, &mut progress, state, &stop);
                let ended = Box::pin(steps).await;
                entered.close().await;
                ended.unwrap_or_else(|end| end)
            }
        };
        open.close(&end);
        (end, progress.steps)
    }

    /// Makes and enters what the run uses.
    async fn get_ready(
        &self,
        resumption: Option<&Resumption>,
    ) -> Result<(Dispatcher, Entered), ToolFailure> {
        let toolset: Arc<dyn Toolset> =
            Arc::new(self.assemble().await.map_err(|error| self.internal(&*error))?);
        let entering = Entered::enter(Arc::clone(&toolset), Arc::clone(&self.scope));
        let entered = entering.await.map_err(|error| self.internal(&*error))?;
        if let Some(saved) = resumption.and_then(|resumption| resumption.state.toolsets.as_deref())
        {
            let restored = toolset.restore(&self.scope, &Payload::new(saved)).await;
            restored.map_err(|error| self.internal(&*error))?;
        }
        let dispatcher = Dispatcher {
            environment: Arc::clone(&self.environment),
            toolset,
            publisher: self.publisher.clone(),
            options: self.options.clone(),
            answers: resumption
                .map(|resumption| Arc::clone(&resumption.answers))
                .unwrap_or_default(),
        };
        Ok((dispatcher, entered))
    }

    /// Everything the agent may use, side by side: its toolsets, its single tools, what this run adds.
    async fn assemble(&self) -> Result<Combined, BoxError> {
        let (registry, agent) = (&self.environment.registry, &self.agent.agent);
        let catalog = self.environment.catalog.as_ref();
        let allowed = catalog.map(|catalog| catalog.allowed(&agent.name));
        let (mut all, mut listed) = (Combined::new(), BTreeSet::new());
        for Use { provider, only } in registry.uses_of(agent) {
            let of = |published: &&Published| published.toolset() == provider.name;
            let published = match &allowed {
                None => None,
                Some(allowed) => match allowed.iter().find(of) {
                    None => continue,
                    Some(published) => Some(published.clone()),
                },
            };
            let name = provider.name.clone();
            let Some(toolset) = provider.source.resolve(&name, &self.scope).await? else {
                continue;
            };
            listed.insert(name.clone());
            let keep = move |tool: &str| {
                only.as_ref().is_none_or(|only| only.contains(tool))
                    && published.as_ref().is_none_or(|published| published.publishes(tool))
            };
            all.push(name, Arc::new(Filtered::new(toolset, keep)));
        }
        if let Some(toolset) = &self.session {
            all.push("session".to_owned(), Arc::clone(toolset));
        } else if let (Some(catalog), Some(allowed)) = (catalog, allowed) {
            for published in allowed.iter().filter(|one| !listed.contains(one.toolset())) {
                catalog.bind(published, &self.scope, &mut all).await?;
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
            steps = state.steps();
            call_ids = state.call_ids();
        }
        Progress { steps, call_ids, budget, elapsed, since: Instant::now() }
    }

    /// One step after another, until one ends the run.
    async fn steps(
        &self,
        dispatcher: &Dispatcher,
        progress: &mut Progress,
        mut suspended: Option<Box<RunState>>,
        stop: &Stop,
    ) -> Result<End, End> {
        loop {
            let tools = stop.unless_reached(Box::pin(self.list(dispatcher))).await??;
            let calls = if let Some(state) = suspended.take().filter(|state| !state.step.is_empty())
            {
                self.go_on(*state, dispatcher, &tools).await
            } else {
                let asking = self.ask(dispatcher, &progress.steps, &tools);
                let number = progress.steps.len();
                let asking = Box::pin(dispatcher.fallible(|| format!("step/{number}"), asking));
                match stop.unless_reached(asking).await?? {
                    Step::Finish(payload) => return Ok(self.accept(payload)),
                    Step::Call(calls) => {
                        self.admit_all(calls, dispatcher, &tools, progress).await?
                    }
                }
            };
            Box::pin(self.make(dispatcher, calls, progress, stop)).await?;
            // Planner and tools may all answer at once; the time budget needs a moment to strike.
            tokio::task::yield_now().await;
        }
    }

    async fn list(&self, dispatcher: &Dispatcher) -> Result<Vec<ToolEntry>, ToolFailure> {
        let listed = dispatcher.toolset.tools(&self.scope).await;
        let mut tools = listed.map_err(|error| self.internal(&*error))?;
        if self.environment.skip_unavailable {
            tools.retain(|tool| dispatcher.toolset.is_available(tool.name()));
        }
        Ok(tools)
    }

    async fn ask(
        &self,
        dispatcher: &Dispatcher,
        history: &[Vec<Exchange>],
        tools: &[ToolEntry],
    ) -> Result<Step, ToolFailure> {
        let own = Some(self.agent.agent.instructions.clone());
        let of_toolsets = dispatcher.toolset.instructions(&self.scope).await;
        let texts = [own, of_toolsets].into_iter().flatten();
        let said: Vec<_> = texts.filter(|text| !text.trim().is_empty()).collect();
        let turn = Turn {
            agent: &self.agent.agent,
            input: &self.input,
            answers: self.answers.as_deref(),
            scope: &self.scope,
            run_id: &self.id,
            history,
            tools,
            instructions: &said.join("\n\n"),
        };
        match AssertUnwindSafe(async { self.agent.planner.plan(&turn).await }).catch_unwind().await
        {
            Ok(Ok(step)) => Ok(step),
            Ok(Err(error)) => Err(match error.downcast::<ToolFailure>() {
                Ok(failure) => *failure,
                Err(error) => self.internal(&*error),
            }),
            Err(panic) => Err(ToolFailure {
                message: self.cannot_go_on(),
                ..panicked("the planner", &*panic)
            }),
        }
    }

    /// The end of a run that answers a call must be a result of that call's tool; of any other, what its agent says.
    fn accept(&self, payload: Payload) -> End {
        let spec = self.answers.as_ref().or(self.agent.agent.result.as_ref());
        match spec {
            Some(spec) => spec.checked(Ok(payload)).into(),
            None => End::Finished(payload),
        }
    }

    fn cannot_go_on(&self) -> String {
        format!("agent `{}` could not go on", self.agent.agent.name)
    }

    /// The failure of a run that its toolsets or its planner keep from going on. Duplicate names of tools are data of it
    /// too: each name, with every toolset that lists it.
    fn internal(&self, cause: &(dyn std::error::Error + 'static)) -> ToolFailure {
        let failure = ToolFailure { message: self.cannot_go_on(), ..ToolFailure::internal(cause) };
        match cause.downcast_ref() {
            Some(ToolsetError::DuplicateNames { names }) => {
                let names: Map<Vec<String>> = names.clone().into_iter().collect();
                ToolFailure { code: Some("duplicate_tools".into()), ..failure }.with_data(&names)
            }
            _ => failure,
        }
    }
}

fn too_deep() -> ToolFailure {
    let message =
        format!("agents call agents {MAX_DEPTH} deep already; answer without another agent");
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

/// A run that was announced and whose end is owed.
struct OpenRun<'a> {
    publisher: &'a Publisher,
    since: Instant,
    owed: bool,
}

impl<'a> OpenRun<'a> {
    fn announce(run: &'a Run, again: bool) -> Self {
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

    fn publish(&self, result: Outcome) {
        let duration = self.since.elapsed();
        self.publisher.publish(|| EventKind::RunFinished { result, duration });
    }
}

impl Drop for OpenRun<'_> {
    fn drop(&mut self) {
        if self.owed {
            self.publish(Err(cancelled("the run")));
        }
    }
}
