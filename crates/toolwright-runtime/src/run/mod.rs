//! A run of an agent: enters its toolsets, then asks the planner for a step and makes its calls, until the planner finishes or
//! a call has to wait for an answer. `dispatch` makes the calls.

mod agent_calls;
mod announce;
mod batch;
mod budget;
mod call;
mod dispatch;
mod earlier;
mod end;
mod environment;
mod export;
mod failures;
mod journal;
mod state;
mod step;
mod stop;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::iter;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolwright::spec::ToolAnnotations;
use toolwright::{BoxError, FailureKind, Map, Payload, Recovery, Scope, ToolCall, ToolFailure};
use tracing::Instrument;

use crate::agent::{PastRun, Step, StepRecord, Turn};
use crate::caught::{Caught, panicked};
use crate::registry::{Provider, ProviderUse, Published, RegisteredAgent};
use crate::tools::{
    Combined, EnteredToolset, Filtered, Prefixed, Source, ToolEntry, ToolSpecRef, Toolset,
    ToolsetError, UntilStopped,
};
use crate::watch::{EventKind, EventSink, Publisher, telemetry};

use announce::{OpenRun, WaitingCalls};
use budget::Budget;
pub(crate) use call::PendingCall;
use call::cancelled;
pub(crate) use dispatch::Dispatcher;
pub(crate) use end::{End, Resumption};
pub(crate) use environment::{Environment, Options};
pub(crate) use failures::other_definition;
pub use journal::Journal;
pub(crate) use state::{SavedCall, SessionCall};
pub use state::{SuspendedCall, SuspendedRun};
use step::Listed;
pub(crate) use step::{duplicate_id, resume_asked, resume_suspended};
use stop::Stop;

/// The maximum depth of nested runs. Without it, an agent that calls itself endlessly would overflow the stack. In a development
/// build a run takes up to 130 kB of the stack, and threads of tokio have 2 MB.
const MAX_DEPTH: u32 = 10;

/// A run of an agent, before or while it runs.
pub(crate) struct Run {
    environment: Arc<Environment>,
    agent: RegisteredAgent,
    input: Payload,
    /// The runs before this one in the same conversation.
    past: Vec<PastRun>,
    /// The tool whose call the run implements; the final payload must match its result schema.
    implements: Option<ToolSpecRef>,
    id: String,
    /// The scope of the run and of its calls.
    scope: Arc<Scope>,
    publisher: Publisher,
    pub(crate) options: Options,
    /// The stops of the runs that make the call for which the host starts this run. They stop it, too.
    pub(crate) outer_stops: Vec<Stop>,
    /// The approval list of the host's request. Its names are checked in this run only; child runs have them in their options.
    pub(crate) host_approval_list: Arc<[String]>,
    /// The tools of the session that the run belongs to, if any.
    pub(crate) session: Option<SessionTools>,
    /// Toolsets for this run only.
    pub(crate) extra_toolsets: Vec<(String, Source)>,
    pub(crate) checkpoints: Option<Checkpoints>,
    pub(crate) cancelled: CancellationToken,
}

/// The tools of an open session. Runs in the session use them without entering or exiting them.
#[derive(Clone)]
pub(crate) struct SessionTools {
    /// The agent of the session.
    pub(crate) agent: Arc<str>,
    /// The id of the session.
    pub(crate) id: Option<String>,
    pub(crate) toolset: Arc<dyn Toolset>,
    pub(crate) options: Options,
}

/// Receives the state of a run after each step.
pub(crate) type Checkpoints = Arc<dyn Fn(SuspendedRun) + Send + Sync>;

/// The progress of a run.
struct Progress {
    steps: Vec<StepRecord>,
    call_ids: BTreeSet<String>,
    budget: Budget,
    /// True if calls of the run may have changed something, so that another run would change it again.
    may_have_effect: bool,
    /// How long the run took before it was resumed.
    elapsed: Duration,
    since: Instant,
}

/// Returns the scope of a run that implements a call. Session, turn and labels are those of the call.
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
        let scope = Arc::new(Scope { run_id: Some(id.clone()), ..scope });
        Self {
            publisher: environment.publisher(Some(name), Arc::clone(&scope), events),
            environment: Arc::clone(environment),
            agent,
            input,
            past: Vec::new(),
            implements: None,
            scope,
            id,
            options: Options::default(),
            outer_stops: Vec::new(),
            host_approval_list: Arc::default(),
            session: None,
            extra_toolsets: Vec::new(),
            checkpoints: None,
            cancelled: CancellationToken::new(),
        }
    }

    /// Sets the runs before this one in the same conversation.
    pub(crate) fn after(mut self, past: Vec<PastRun>) -> Self {
        self.past = past;
        self
    }

    /// Sets the tool that the run implements; the final payload must match its result schema.
    pub(crate) fn implementing(mut self, tool: Option<ToolSpecRef>) -> Self {
        self.implements = tool;
        self
    }

    /// Creates the run of an agent that implements a call. It inherits the options and the scope, but not the event sink of the
    /// caller's run.
    fn child(
        environment: &Arc<Environment>,
        agent: RegisteredAgent,
        call: &ToolCall,
        tool: &ToolEntry,
        id_and_input: (String, Payload),
        options: &Options,
    ) -> Self {
        let run = Self::new(environment, agent, id_and_input, child_scope(call), None);
        Self { options: options.clone(), ..run.implementing(Some(tool.spec_ref().clone())) }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn input(&self) -> &Payload {
        &self.input
    }

    /// Runs until the end or a suspension, and returns the completed steps, too.
    pub(crate) async fn drive(&self, resumption: Option<Resumption>) -> (End, Vec<StepRecord>) {
        if self.scope.depth > MAX_DEPTH {
            return (End::Failed(too_deep()), Vec::new());
        }
        let session = self.scope.session_id.as_deref();
        let span = telemetry::agent_span(&self.agent.agent, &self.id, session);
        // Boxed here and below, so that a nested run uses little of its caller's stack.
        let (end, steps) = Box::pin(self.drive_in_span(resumption)).instrument(span.clone()).await;
        if let End::Failed(failure) = &end {
            span.record("error.type", failure.kind.as_str());
        }
        (end, steps)
    }

    /// Publishes the start and the end of a run that failed earlier, according to the journal.
    fn publish_failed(&self, failure: &ToolFailure) {
        OpenRun::start(self, false).close(&End::Failed(failure.clone()));
    }

    async fn drive_in_span(&self, resumption: Option<Resumption>) -> (End, Vec<StepRecord>) {
        let open = OpenRun::start(self, resumption.is_some());
        let mut progress = self.progress(resumption.as_ref());
        let agent = &self.agent.agent;
        let tokens = iter::once(&self.cancelled).chain(&self.options.sessions).cloned();
        let stop = Stop::new(&agent.name, agent.policy.time_budget, progress.elapsed, tokens)
            .within(&self.outer_stops);
        let mut waiting = resumption.as_ref().and_then(|Resumption { state, .. }| {
            let record = state.waiting_step(|| cancelled("the call"))?;
            let calls = state.step.clone();
            let (environment, publisher) = (&*self.environment, &self.publisher);
            Some(WaitingCalls { environment, publisher, calls, record })
        });
        let mut end = None;
        let running = async {
            let entering = Box::pin(self.enter_toolsets(resumption.as_ref(), &stop));
            match stop.run_until(entering).await {
                Err(failure) => end = Some(End::Failed(failure)),
                Ok((dispatcher, entered)) => {
                    let steps = self.steps(&dispatcher, &mut progress, &mut waiting, &stop);
                    let Err(reached) = Box::pin(steps).await;
                    end = Some(reached);
                    stop.run_with_grace(entered.close()).await;
                }
            }
        };
        // Panics of tools, planners and hooks are caught where they are called. This catches those of their errors and drops.
        let ran = Caught::new(running).await;
        let panic = ran.inspect_err(|panic| tracing::error!(panic, "a run panicked")).err();
        let mut end =
            end.unwrap_or_else(|| End::Failed(panicked("the run", &panic.unwrap_or_default())));
        if let Some(waiting) = waiting {
            progress.steps.push(waiting.cancel());
        }
        // Callers repeat calls that failed for a transient reason, also a tool that starts the run on behalf of its call.
        let of_a_tool = || self.scope.parent_call_id.as_ref().map(|_| ToolAnnotations::UNKNOWN);
        let annotations = self.implements.as_ref().map(|tool| tool.annotations());
        if let (End::Failed(failure), Some(annotations)) =
            (&mut end, annotations.or_else(of_a_tool))
            && failure.kind.is_transient()
            && progress.may_have_effect
        {
            *failure = failure.clone().with_possible_effect(annotations);
        }
        open.close(&end);
        (end, progress.steps)
    }

    /// Creates and enters the toolsets of the run, and restores their saved state.
    async fn enter_toolsets(
        &self,
        resumption: Option<&Resumption>,
        stop: &Stop,
    ) -> Result<(Dispatcher, EnteredToolset), ToolFailure> {
        let all = self.assemble().await.map_err(|error| self.failure_of(&*error))?;
        let mut options = self.options.clone();
        options.stops.push(stop.clone());
        options.agent_approval_list = self.agent.agent.approval_list.as_slice().into();
        let (sessions, stops) = (options.sessions.clone(), options.stops.clone());
        let must_stop = move || stops.iter().any(Stop::has_come);
        let toolset: Arc<dyn Toolset> = Arc::new(UntilStopped::new(all, sessions, must_stop));
        let entering = EnteredToolset::enter(Arc::clone(&toolset), Arc::clone(&self.scope));
        let entered = entering.await.map_err(|error| self.failure_of(&*error))?;
        if let Some(saved) = resumption.and_then(|resumption| resumption.state.toolsets.as_deref())
        {
            let restored = toolset.restore(&self.scope, &Payload::new(saved)).await;
            restored.map_err(|error| self.failure_of(&*error))?;
        }
        let dispatcher = Dispatcher {
            environment: Arc::clone(&self.environment),
            toolset,
            publisher: self.publisher.clone(),
            options,
            verdicts: resumption
                .map(|resumption| Arc::clone(&resumption.verdicts))
                .unwrap_or_default(),
            outer_calls: Arc::default(),
            is_list_applied: false,
        };
        Ok((dispatcher, entered))
    }

    /// Combines the toolsets of the run: those that the agent lists, then those of its session or, without a session, the other
    /// toolsets of its allowlist, then the extra ones of this run. With a catalog, tools that the agent lists have their own
    /// names, and all others have their prefix.
    async fn assemble(&self) -> Result<Combined, BoxError> {
        let (registry, agent) = (&self.environment.registry, &self.agent.agent);
        let catalog = self.environment.catalog.as_ref();
        let allowed = catalog.map(|catalog| catalog.allowed(&agent.name));
        let uses = registry.provider_uses(agent);
        let mut all = Combined::new();
        let mut listed: Vec<(Published, Option<BTreeSet<String>>)> = Vec::new();
        for ProviderUse { provider, only } in &uses {
            let name = provider.name.clone();
            let of = |published: &&Published| published.toolset() == provider.name;
            let published = match &allowed {
                None => None,
                Some(allowed) => match allowed.iter().find(of) {
                    None => {
                        all.push_absent(name);
                        continue;
                    }
                    Some(published) => Some(published.clone()),
                },
            };
            let Some(mut toolset) = provider.source.resolve(&name, &self.scope).await? else {
                all.push_absent(name);
                continue;
            };
            if let Some(only) =
                only.clone().filter(|_| published.is_none() || self.session.is_some())
            {
                toolset = Arc::new(Filtered::new(toolset, move |tool: &str| only.contains(tool)));
            }
            if let Some(published) = published {
                let filtered = published.filter(toolset);
                toolset =
                    Arc::new(Prefixed::new(published.prefix(), filtered).except(only.clone()));
                listed.push((published, only.clone()));
            }
            all.push(name, toolset);
        }
        match (&self.session, catalog, allowed) {
            (Some(session), _, allowed) => {
                let allowed = allowed.filter(|_| *session.agent != *agent.name);
                let is_kept = move |tool: &str| {
                    let is_allowed = allowed.as_ref().is_none_or(|allowed| {
                        allowed.iter().any(|published| published.bare(tool).is_some())
                    });
                    let is_listed = listed.iter().any(|(published, only)| {
                        let is_in = |bare| only.as_ref().is_none_or(|only| only.contains(bare));
                        published.bare(tool).is_some_and(is_in)
                    });
                    is_allowed && !is_listed
                };
                let toolset = Filtered::new(Arc::clone(&session.toolset), is_kept);
                all.push("session".to_owned(), Arc::new(toolset));
            }
            (None, Some(catalog), Some(allowed)) => {
                let is_new = |provider: &Arc<Provider>| {
                    !uses.iter().any(|used| Arc::ptr_eq(&used.provider, provider))
                };
                for published in &allowed {
                    catalog.bind(published, &self.scope, &mut all, is_new).await?;
                }
            }
            (None, ..) => {}
        }
        for (name, source) in &self.extra_toolsets {
            match source.resolve(name, &self.scope).await? {
                Some(toolset) => all.push(name.clone(), toolset),
                None => all.push_absent(name.clone()),
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
        // A suspended state does not have the annotations of its tools.
        let may_have_effect = resumption.is_some();
        Progress { steps, call_ids, budget, may_have_effect, elapsed, since: Instant::now() }
    }

    /// Makes one step after another. The error is the end of the run.
    async fn steps(
        &self,
        dispatcher: &Dispatcher,
        progress: &mut Progress,
        waiting: &mut Option<WaitingCalls<'_>>,
        stop: &Stop,
    ) -> Result<Infallible, End> {
        let mut is_first = true;
        loop {
            let listing = Box::pin(self.list_tools(dispatcher, is_first));
            let tools = stop.run_until(listing).await?;
            is_first = false;
            let (calls, note) = if let Some(resumed) = waiting.as_ref() {
                let resuming = self.resume_calls(&resumed.calls, dispatcher, &tools);
                let calls = stop.run_until(Box::pin(resuming).map(Ok)).await?;
                (calls, waiting.take().and_then(WaitingCalls::resume))
            } else {
                let is_visible = |tool: &ToolEntry| {
                    !self.environment.skip_unavailable
                        || dispatcher.toolset.is_available(tool.name())
                };
                let (tools, hidden): (Vec<_>, Vec<_>) = tools.into_iter().partition(is_visible);
                let planning = self.plan(dispatcher, &progress.steps, &tools, stop.deadline());
                let number = progress.steps.len();
                let key = || format!("step/{number}");
                let planning = Box::pin(dispatcher.record_result(key, planning));
                match stop.run_until(planning).await? {
                    Step::Finish(payload) => return Err(self.finish(payload)),
                    Step::Call { calls, note } => {
                        let tools = Listed { visible: &tools, hidden: &hidden };
                        let admitting = self.admit_all(calls, dispatcher, tools, progress);
                        (stop.run_until(Box::pin(admitting)).await?, note)
                    }
                }
            };
            Box::pin(self.make_calls(dispatcher, (calls, note), progress, stop)).await?;
            // If planner and tools are always ready at once, only a yield lets the time budget end the run.
            tokio::task::yield_now().await;
        }
    }

    /// Lists the tools. The first time, also checks the names of the approval lists.
    async fn list_tools(
        &self,
        dispatcher: &Dispatcher,
        is_first: bool,
    ) -> Result<Vec<ToolEntry>, ToolFailure> {
        let listed = dispatcher.toolset.tools(&self.scope).await;
        let tools = listed.map_err(|error| self.failure_of(&*error))?;
        if is_first {
            let names = self.agent.agent.approval_list.iter().chain(&*self.host_approval_list);
            self.environment.check_approval_list(names, &tools).map_err(|unknown| {
                let available = tools.iter().map(|tool| tool.name().to_owned()).collect();
                self.failure_of(&ToolsetError::UnknownApproval { tools: unknown, available })
            })?;
        }
        Ok(tools)
    }

    async fn plan(
        &self,
        dispatcher: &Dispatcher,
        history: &[StepRecord],
        tools: &[ToolEntry],
        deadline: Option<Instant>,
    ) -> Result<Step, ToolFailure> {
        let own = Some(self.agent.agent.instructions.clone());
        let of_toolsets = dispatcher.toolset.instructions(&self.scope).await;
        let texts = [own, of_toolsets].into_iter().flatten();
        let texts: Vec<_> = texts.filter(|text| !text.trim().is_empty()).collect();
        let turn = Turn {
            agent: &self.agent.agent,
            input: &self.input,
            implements: self.implements.as_deref(),
            scope: &self.scope,
            run_id: &self.id,
            history,
            past: &self.past,
            tools,
            instructions: &texts.join("\n\n"),
            deadline,
            publish: &|event| self.publisher.publish(|| EventKind::Model(event)),
        };
        match Caught::new(async { self.agent.planner.plan(&turn).await }).await {
            Ok(Ok(step)) => Ok(step),
            Ok(Err(error)) => Err(match error.downcast::<ToolFailure>() {
                Ok(failure) => *failure,
                Err(error) => self.failure_of(&*error),
            }),
            Err(panic) => {
                Err(ToolFailure { message: self.cannot_go_on(), ..panicked("the planner", &panic) })
            }
        }
    }

    /// Ends the run with a final payload, which must match the result schema of the tool that the run implements, or else of the
    /// tool that the agent sets for its result.
    fn finish(&self, payload: Payload) -> End {
        let spec = self.implements.as_ref().or(self.agent.agent.result_spec.as_ref());
        match spec {
            Some(spec) => spec.checked(Ok(payload)).into(),
            None => End::Finished(payload),
        }
    }

    fn cannot_go_on(&self) -> String {
        format!("agent `{}` could not go on", self.agent.agent.name)
    }

    /// Creates the failure of a run from an error of a toolset or the planner. For duplicate tool names and for unknown
    /// names in an approval list, the failure has a code, and the names as data.
    fn failure_of(&self, cause: &(dyn std::error::Error + 'static)) -> ToolFailure {
        let failure = ToolFailure { message: self.cannot_go_on(), ..ToolFailure::internal(cause) };
        match cause.downcast_ref() {
            Some(ToolsetError::DuplicateNames { names }) => {
                let names: Map<Vec<String>> = names.clone().into_iter().collect();
                ToolFailure { code: Some("duplicate_tools".into()), ..failure }.with_data(&names)
            }
            Some(ToolsetError::UnknownApproval { tools, .. }) => {
                ToolFailure { code: Some("unknown_approval".into()), ..failure }.with_data(tools)
            }
            _ => failure,
        }
    }
}

fn too_deep() -> ToolFailure {
    let message =
        format!("agents have already called agents {MAX_DEPTH} deep; answer without another agent");
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}
