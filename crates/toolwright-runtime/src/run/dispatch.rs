//! Dispatches a call, in these steps:
//!
//! 1. If the call needs an approval or is run by the host, the question is asked. Without an approver the call is suspended here.
//! 2. The start of the call is published.
//! 3. Hooks run, and may change the arguments.
//! 4. The arguments are checked: they must be valid and, after an approval, those that were approved. The tool must be
//!    available.
//! 5. If an agent implements the tool, it runs the call in a child run, which may be suspended: see `agent_calls`. Otherwise the
//!    tool runs, through the layers of `execute`.
//! 6. The result is checked. Hooks run and may change it, and then it is checked again.
//! 7. The end of the call is published.

use std::future::{pending, ready};
use std::iter::once;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use toolwright::call::{Origin, fresh_id};
use toolwright::spec::ToolAnnotations;
use toolwright::{Outcome, ToolCall, ToolFailure, ToolResult};
use tracing::Instrument;

use super::announce::OpenCall;
use super::call::{CallState, PendingCall, cancelled};
use super::end::End;
use super::environment::{Environment, Options};
use super::failures::{
    denied, interrupted, no_approver, not_run_by_host, question_changed, tool_gone,
};
use super::journal::{self, JournalEntry};
use super::stop::Stop;
use crate::approval::{ApprovalRequest, Verdict, Verdicts, now};
use crate::caught::Caught;
use crate::tools::{
    Delegation, ToolEntry, Toolset, UntilStopped, check_cleared, cleared, unavailable,
};
use crate::watch::telemetry;
use crate::watch::{EventKind, Publisher};

/// Runs calls. All calls of a run share one dispatcher.
#[derive(Clone)]
pub(crate) struct Dispatcher {
    pub(crate) environment: Arc<Environment>,
    pub(crate) toolset: Arc<dyn Toolset>,
    pub(crate) publisher: Publisher,
    pub(crate) options: Options,
    /// The verdicts with which a suspended run and its child runs are resumed.
    pub(crate) verdicts: Arc<Verdicts>,
    /// The ids of the calls in which the calls are nested, outermost first.
    pub(crate) outer_calls: Arc<[String]>,
    /// True if another runtime makes the calls and has applied the approval list to them. It still applies in their child runs.
    pub(crate) is_list_applied: bool,
}

impl Dispatcher {
    /// Creates a dispatcher for calls outside of runs, which cannot be suspended.
    pub(crate) fn outside_runs(
        environment: &Arc<Environment>,
        toolset: Arc<dyn Toolset>,
        publisher: Publisher,
    ) -> Self {
        let options = Options { approver: environment.approver.clone(), ..Options::default() };
        let environment = Arc::clone(environment);
        Self {
            environment,
            toolset,
            publisher,
            options,
            verdicts: Arc::default(),
            outer_calls: Arc::default(),
            is_list_applied: false,
        }
    }

    /// Sets the tools of calls outside of runs. They can be used until a session or run is stopped that makes the calls.
    pub(crate) fn with_toolset(mut self, toolset: Arc<dyn Toolset>) -> Self {
        let (sessions, stops) = (self.options.sessions.clone(), self.options.stops.clone());
        let must_stop = move || stops.iter().any(Stop::has_come);
        self.toolset = Arc::new(UntilStopped::new(toolset, sessions, must_stop));
        self
    }

    /// Runs a call until it ends or waits. If the future is dropped, the call's end is published as cancelled.
    pub(crate) async fn advance(&self, pending: PendingCall) -> PendingCall {
        let PendingCall { call, tool, state } = pending;
        // Boxed, so that a nested run uses little of its caller's stack.
        match (state, tool) {
            (CallState::Ready, Some(tool)) if !call.is_approved() => {
                // If the journal has a question for this call, the call needs its answer even if the tool needs none now.
                let key = || format!("question/{}", call.id());
                match self.recorded::<ApprovalRequest>(key).await {
                    Ok(None) => Box::pin(self.run(call, tool)).await,
                    Ok(Some(_)) => Box::pin(self.ask(call, tool)).await,
                    Err(failure) => self.settle(call, Some(&tool), Err(failure)),
                }
            }
            (CallState::Ready, Some(tool)) => Box::pin(self.run(call, tool)).await,
            (CallState::NeedsAnswer, Some(tool)) => Box::pin(self.ask(call, tool)).await,
            (CallState::Ready | CallState::NeedsAnswer, None) => self.end_unlisted(call).await,
            (CallState::Suspended(run), tool) => Box::pin(self.resume_agent(call, tool, run)).await,
            (CallState::Settled(outcome), tool) => self.settle(call, tool.as_ref(), outcome),
            (state, tool) => PendingCall { call, tool, state },
        }
    }

    /// Makes a call of a known tool outside of runs. The call cannot be suspended. It is cancelled if it is made on behalf of a call
    /// whose run is stopped.
    pub(crate) async fn call(&self, call: ToolCall, tool: &ToolEntry) -> ToolResult {
        let calling = Box::pin(self.start(call.clone(), tool));
        tokio::select! {
            biased;
            () = Stop::any_dropped(&self.options.stops) => {
                ToolResult::new(&call, Err(cancelled("the call")))
            }
            pending = calling => pending.into_record().result,
        }
    }

    /// Makes a call of a known tool, until it ends or waits.
    pub(crate) async fn start(&self, call: ToolCall, tool: &ToolEntry) -> PendingCall {
        let call = if call.tool() == tool.name() { call } else { call.with_tool(tool.name()) };
        self.advance(self.admit(call, tool.clone()).await).await
    }

    /// Returns whether calls of a tool need an approval or a result from the host.
    fn needs_answer(&self, tool: &ToolEntry) -> bool {
        let Options { approval_list, agent_approval_list, .. } = &self.options;
        let mut lists = approval_list.iter().chain(&**agent_approval_list);
        tool.approval().is_some()
            || tool.is_run_by_host()
            || !self.is_list_applied && lists.any(|name| tool.is_known_as(name))
    }

    /// Returns the first state of a call of a known tool. Removes any clearance of the call. Invalid arguments are refused
    /// before a question is asked.
    pub(crate) async fn admit(&self, call: ToolCall, tool: ToolEntry) -> PendingCall {
        let call = call.with_clearance(None);
        if !self.needs_answer(&tool) {
            return PendingCall::new(call, Some(tool), CallState::Ready);
        }
        if let Err(issues) = tool.spec().check_args(call.args().as_bytes()) {
            let failure = ToolFailure::invalid_call(tool.spec(), &call, issues);
            return self.refuse(call, Some(tool), failure).await;
        }
        PendingCall::new(call, Some(tool), CallState::NeedsAnswer)
    }

    /// Refuses a call, as [`not_run`](Self::not_run) says.
    pub(crate) async fn refuse(
        &self,
        call: ToolCall,
        tool: Option<ToolEntry>,
        failure: ToolFailure,
    ) -> PendingCall {
        let failure = self.not_run(&call, failure).await;
        PendingCall::refused(call, tool, failure)
    }

    /// Ends a call with an outcome, without running it.
    pub(crate) fn settle(
        &self,
        call: ToolCall,
        tool: Option<&ToolEntry>,
        outcome: Outcome,
    ) -> PendingCall {
        OpenCall::start(&self.publisher, &call, tool).close(&outcome);
        PendingCall::done(call, outcome)
    }

    /// Ends a call whose tool was listed when the journal was recorded and is not listed now. Outcomes in the journal are
    /// kept.
    async fn end_unlisted(&self, call: ToolCall) -> PendingCall {
        let outcome = match self.last_attempt(&call).await {
            Ok(Some(outcome)) => outcome,
            Ok(None) => {
                let gone = ready(Err(self.not_run(&call, tool_gone()).await));
                self.record_result(|| format!("call/{}", call.id()), gone).await
            }
            Err(failure) => Err(failure),
        };
        let hooked = ready(outcome);
        let key = || format!("after/{}", call.id());
        let outcome = self.record_end(key, hooked, ToolAnnotations::UNKNOWN).await;
        self.settle(call, None, outcome)
    }

    /// Asks the approver and applies the verdict. Without an approver the call waits for its answer.
    async fn ask(&self, call: ToolCall, tool: ToolEntry) -> PendingCall {
        match self.was_made_unasked(&call, &tool).await {
            Ok(false) => {}
            // It gets the outcome in the journal, or fails as interrupted.
            Ok(true) => return self.run(call, tool).await,
            Err(failure) => return self.settle(call, Some(&tool), Err(failure)),
        }
        let approver = self.options.approver.as_ref().filter(|_| !tool.is_run_by_host());
        if approver.is_none() && !self.options.can_suspend {
            let failure = no_approver(&call);
            return self.settle(call, Some(&tool), Err(failure));
        }
        let environment = &self.environment;
        let asking = async {
            let lifetime = u64::try_from(environment.question_lifetime.as_millis());
            let expires_at = now(&environment.clock).saturating_add(lifetime.unwrap_or(u64::MAX));
            let (agent, id) = (self.publisher.agent.as_deref(), fresh_id("approval"));
            ApprovalRequest {
                open_handles: self.toolset.open_handles(),
                ..ApprovalRequest::new(&call, &tool, agent, id, expires_at)
            }
        };
        let request = match self.record(|| format!("question/{}", call.id()), asking).await {
            Ok(request) => Arc::new(request),
            Err(failure) => return self.settle(call, Some(&tool), Err(failure)),
        };
        self.publisher.publish(|| EventKind::ApprovalRequested { request: Arc::clone(&request) });
        let Some(approver) = approver else {
            return PendingCall::new(call, Some(tool), CallState::Asked(request));
        };
        let deciding = async {
            let time_left = || request.expires_at.saturating_sub(now(&environment.clock));
            let deciding = Caught::new(async { approver.decide(&request).await });
            let deciding = timeout(Duration::from_millis(time_left()), deciding);
            match deciding.await {
                // The time is checked again, since approvers may block and hosts may set the clock.
                Ok(Ok(verdict)) if time_left() > 0 => verdict,
                // A panic denies the call.
                Ok(Err(_)) => Verdict::Deny(None),
                Ok(Ok(_)) | Err(_) => Verdict::Deny(Some(format!(
                    "the approval of `{}` was not answered in time",
                    request.tool
                ))),
            }
        };
        let verdict = match self.record(|| format!("answer/{}", call.id()), deciding).await {
            Ok(verdict) => verdict,
            Err(failure) => return self.settle(call, Some(&tool), Err(failure)),
        };
        match self.apply_verdict(call, tool, &request, verdict).await {
            PendingCall { call, tool: Some(tool), state: CallState::Ready } => {
                self.run(call, tool).await
            }
            PendingCall { call, tool, state: CallState::Settled(outcome) } => {
                self.settle(call, tool.as_ref(), outcome)
            }
            other => other,
        }
    }

    /// Returns the state of a call after its question was answered. Unless the call was denied, its question must still be
    /// the one that was shown.
    pub(crate) async fn apply_verdict(
        &self,
        call: ToolCall,
        tool: ToolEntry,
        request: &Arc<ApprovalRequest>,
        verdict: Verdict,
    ) -> PendingCall {
        self.publisher.publish(|| EventKind::ApprovalAnswered {
            request: Arc::clone(request),
            verdict: verdict.clone(),
        });
        let outcome = match verdict {
            Verdict::Deny(reason) => Err(self.not_run(&call, denied(request, reason)).await),
            verdict if !request.is_of(&call, &tool, self.publisher.agent.as_deref()) => {
                let failure = question_changed(&tool);
                Err(match verdict {
                    // The host has run the call.
                    Verdict::Result(_) => failure.with_possible_effect(tool.spec().annotations()),
                    _ => self.not_run(&call, failure).await,
                })
            }
            Verdict::Approve => {
                let call = cleared(call, tool.spec());
                return PendingCall::new(call, Some(tool), CallState::Ready);
            }
            Verdict::ApproveWith(args) => {
                let call = cleared(call.with_args(args), tool.spec());
                return PendingCall::new(call, Some(tool), CallState::Ready);
            }
            Verdict::Result(payload) if request.expects_result => {
                tool.spec_ref().checked(Ok(payload))
            }
            Verdict::Result(_) => Err(not_run_by_host(request)),
        };
        PendingCall::new(call, Some(tool), CallState::Settled(outcome))
    }

    /// Runs a call with its hooks, and publishes its start and end.
    async fn run(&self, call: ToolCall, tool: ToolEntry) -> PendingCall {
        if self.options.stops.iter().any(Stop::has_come) {
            // The run or one above it, or else `call`, is about to drop the call.
            pending::<()>().await;
        }
        let outer_calls = Arc::clone(&self.outer_calls);
        let origin = Origin::new(Options { outer_calls, ..self.options.clone() });
        let call = Arc::new(call.with_origin(Some(origin)));
        let open = OpenCall::start(&self.publisher, &call, Some(&tool));
        let running = self.run_with_hooks(Arc::clone(&call), &tool);
        let state = open.close_with(self.in_span(&call, &tool, Box::pin(running)).await);
        PendingCall::new(Arc::unwrap_or_clone(call).with_origin(None), Some(tool), state)
    }

    pub(super) async fn in_span(
        &self,
        call: &ToolCall,
        tool: &ToolEntry,
        running: impl Future<Output = End>,
    ) -> End {
        let content = self.environment.record_content;
        let span = telemetry::tool_span(call, tool, content);
        let end = running.instrument(span.clone()).await;
        match &end {
            End::Finished(payload) => telemetry::record(&span, Ok(payload), content),
            End::Failed(failure) => telemetry::record(&span, Err(failure), content),
            End::Suspended(_) => {}
        }
        end
    }

    /// Runs the hooks before a call, the call, and the hooks after it.
    async fn run_with_hooks(&self, mut call: Arc<ToolCall>, tool: &ToolEntry) -> End {
        let hooks = &self.environment.hooks;
        if !hooks.has_for(call.tool(), Some(tool)) {
            return Box::pin(self.execute(call, tool)).await;
        }
        let before = hooks.before(&call, tool);
        let args = self.record_result(|| format!("before/{}", call.id()), before).await;
        let end = match args {
            Ok(args) => {
                if args != *call.args() {
                    call = Arc::new(ToolCall::clone(&call).with_args(args));
                }
                Box::pin(self.execute(Arc::clone(&call), tool)).await
            }
            Err(failure) => End::Failed(failure),
        };
        self.run_after_hooks(&call, Some(tool), end).await
    }

    /// Runs the hooks after a call, unless the run of its agent is suspended.
    pub(super) async fn run_after_hooks(
        &self,
        call: &ToolCall,
        tool: Option<&ToolEntry>,
        end: End,
    ) -> End {
        let outcome = match end.into_outcome() {
            Ok(outcome) => outcome,
            Err(waiting) => return End::Suspended(waiting),
        };
        let hooks = &self.environment.hooks;
        if !hooks.has_for(call.tool(), tool) {
            return outcome.into();
        }
        let after = hooks.after(call, tool, outcome);
        let annotations = tool.map_or(ToolAnnotations::UNKNOWN, |tool| tool.spec().annotations());
        self.record_end(|| format!("after/{}", call.id()), after, annotations).await.into()
    }

    /// Checks and runs a call.
    async fn execute(&self, call: Arc<ToolCall>, tool: &ToolEntry) -> End {
        let has_agent = tool.has_agent();
        let key = if has_agent { "agent" } else { "call" };
        if has_agent {
            match self.made_by_tool(&call).await {
                Ok(None) => {}
                Ok(Some(outcome)) => return outcome.into(),
                Err(failure) => return End::Failed(failure),
            }
            // If the journal has the agent and its input, what follows is not checked.
            if let Err(failure) = self.check_approval(&call, tool) {
                return End::Failed(self.not_run(&call, failure).await);
            }
        }
        let is_interrupted = match self.is_interrupted(&call, tool).await {
            Ok(is_interrupted) => is_interrupted,
            Err(failure) => return End::Failed(failure),
        };
        let begins = AtomicBool::new(false);
        let running = async {
            if is_interrupted {
                return Err(interrupted(tool));
            }
            if let Some(outcome) = self.begun_by_another_tool(&call, tool).await? {
                return outcome;
            }
            self.check(&call, tool)?;
            begins.store(true, Ordering::Relaxed);
            if let Some(agent) = tool.agent() {
                return Delegation::to(agent, call.args().clone())
                    .of_args(call.args())
                    .to_payload();
            }
            let (toolset, publisher) = (Arc::clone(&self.toolset), self.publisher.clone());
            let execute = self.environment.execution_for(tool);
            let outcome = execute.run(Arc::clone(&call), tool.clone(), toolset, publisher).await;
            if tool.delegates() {
                return Delegation::from_payload(&outcome?)?.of_args(call.args()).to_payload();
            }
            if tool.checks_itself() { outcome } else { tool.spec_ref().checked(outcome) }
        };
        let recorded = self.record(|| format!("{key}/{}", call.id()), running).await;
        let outcome = recorded.unwrap_or_else(|not_recorded| {
            let may_have_run = begins.load(Ordering::Relaxed) && !has_agent;
            let annotations = tool.spec().annotations();
            Err(if may_have_run {
                not_recorded.with_possible_effect(annotations)
            } else {
                not_recorded
            })
        });
        if !has_agent {
            return outcome.into();
        }
        match outcome.and_then(|payload| Delegation::from_payload(&payload)) {
            // An earlier attempt at the run let the agent run the call with other arguments.
            Ok(delegation) if call.is_approved() && !delegation.is_of_args(call.args()) => {
                let annotations = tool.spec().annotations();
                End::Failed(question_changed(tool).with_possible_effect(annotations))
            }
            Ok(delegation) => self.run_agent(delegation, &call, tool, None).await,
            Err(failure) => End::Failed(failure),
        }
    }

    fn check(&self, call: &ToolCall, tool: &ToolEntry) -> Result<(), ToolFailure> {
        self.check_approval(call, tool)?;
        if !tool.checks_itself()
            && let Err(issues) = tool.spec().check_args(call.args().as_bytes())
        {
            return Err(ToolFailure::invalid_call(tool.spec(), call, issues));
        }
        if self.toolset.is_available(tool.name()) { Ok(()) } else { Err(unavailable(tool)) }
    }

    /// Checks that a call was approved, if it needs an approval or has a clearance.
    pub(super) fn check_approval(
        &self,
        call: &ToolCall,
        tool: &ToolEntry,
    ) -> Result<(), ToolFailure> {
        if call.is_approved() || self.needs_answer(tool) {
            return check_cleared(call, tool.spec());
        }
        Ok(())
    }

    /// The run id of the calls in the journal. The ids of outer calls follow it, percent-encoded where they would look like more ids.
    fn journal_run(&self) -> String {
        let run = self.publisher.scope.run_id.clone().unwrap_or_default();
        let outer = self.outer_calls.iter().map(|id| id.replace('%', "%25").replace('/', "%2F"));
        once(run).chain(outer).collect::<Vec<_>>().join("/")
    }

    /// Returns the value of an effect. With a journal the value comes from there, or is recorded there.
    pub(super) async fn record<T: JournalEntry>(
        &self,
        key: impl FnOnce() -> String,
        effect: impl Future<Output = T> + Send,
    ) -> Result<T, ToolFailure> {
        let Some(journal) = &self.environment.journal else { return Ok(effect.await) };
        journal::record(&**journal, &self.journal_run(), &key(), effect).await
    }

    /// Returns the entry of the journal under a key, if there are a journal and an entry.
    pub(super) async fn recorded<T: JournalEntry>(
        &self,
        key: impl FnOnce() -> String,
    ) -> Result<Option<T>, ToolFailure> {
        let Some(journal) = &self.environment.journal else { return Ok(None) };
        journal::recorded(&**journal, &self.journal_run(), &key()).await
    }

    /// Returns the failure that [`recorded`](Self::recorded) did not find yet, once a repeated run gets to it.
    pub(super) async fn replayed_failure(&self, key: impl FnOnce() -> String) -> ToolFailure {
        let Some(journal) = &self.environment.journal else { return std::future::pending().await };
        journal::replayed_failure(&**journal, &self.journal_run(), &key()).await
    }

    /// Does the same as [`record`](Self::record), for an effect that returns a `Result`.
    pub(super) async fn record_result<T>(
        &self,
        key: impl FnOnce() -> String,
        effect: impl Future<Output = Result<T, ToolFailure>> + Send,
    ) -> Result<T, ToolFailure>
    where
        Result<T, ToolFailure>: JournalEntry,
    {
        self.record(key, effect).await?
    }

    /// Does the same as [`record`](Self::record), for the outcome of a call that was made: if it cannot be recorded, the call may have
    /// taken effect.
    pub(super) async fn record_end(
        &self,
        key: impl FnOnce() -> String,
        outcome: impl Future<Output = Outcome> + Send,
        annotations: ToolAnnotations,
    ) -> Outcome {
        let recorded = self.record(key, outcome).await;
        recorded.unwrap_or_else(|failure| Err(failure.with_possible_effect(annotations)))
    }
}
