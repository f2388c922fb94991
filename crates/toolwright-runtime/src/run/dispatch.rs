//! The path of a call:
//!
//! 1. Where it needs an answer, the question is asked. Without an approver the call stops here and waits, as data.
//! 2. Its start is announced.
//! 3. Hooks see it, and may change its arguments.
//! 4. Its arguments are checked: they are valid and, after an approval, those that were approved. So is its tool, which
//!    must be available.
//! 5. An agent runs it in a run of its own, which may wait. Any other tool runs behind the layers of `execute`.
//! 6. The result is checked. Hooks see it and may change it, and then it is checked again.
//! 7. Its end is announced.
//!
//! Never chooses calls: see the run's loop.

use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;
use toolwright::call::fresh_id;
use toolwright::{
    BoxFuture, FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure, ToolResult,
};
use tracing::Instrument;

use super::Run;
use super::announce::OpenCall;
use super::call::{CallState, PendingCall, cancelled};
use super::effects::{self, Entry};
use super::end::{End, Resumption};
use super::environment::{Environment, Options};
use super::state::RunState;
use crate::approval::{ApprovalRequest, Verdict, Verdicts, now};
use crate::execute::{Retry, panicked, timed_out};
use crate::tools::{
    Delegation, ToolEntry, Toolset, check_cleared, cleared, unavailable, words_digest,
};
use crate::watch::telemetry;
use crate::watch::{EventKind, Publisher};

/// Takes calls from where they are to where they get. All calls of a run share one.
#[derive(Clone)]
pub(crate) struct Dispatcher {
    pub(crate) environment: Arc<Environment>,
    pub(crate) toolset: Arc<dyn Toolset>,
    pub(crate) publisher: Publisher,
    pub(crate) options: Options,
    /// The approval list of the agent whose calls these are, which child runs do not inherit.
    pub(crate) agent_approval_list: Arc<[String]>,
    /// The verdicts that a suspended run and its child runs go on with.
    pub(crate) verdicts: Arc<Verdicts>,
}

impl Dispatcher {
    /// Calls outside any run, where nothing can be suspended.
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
            agent_approval_list: Arc::default(),
            verdicts: Arc::default(),
        }
    }

    /// Takes one call as far as it gets. Dropped before that, it still announces the call's end: cancelled.
    pub(crate) async fn advance(&self, pending: PendingCall) -> PendingCall {
        let PendingCall { call, tool, state } = pending;
        // Boxed, so that a nested run takes little of its caller's stack.
        match (state, tool) {
            (CallState::Ready, Some(tool)) if !call.is_approved() => {
                // What was asked when the run got here first is answered as it was.
                match self.kept::<ApprovalRequest>(|| format!("question/{}", call.id())).await {
                    Ok(None) => Box::pin(self.run_announced(call, tool)).await,
                    Ok(Some(_)) => Box::pin(self.ask(call, tool)).await,
                    Err(failure) => self.settle(call, Some(&tool), Err(failure)),
                }
            }
            (CallState::Ready, Some(tool)) => Box::pin(self.run_announced(call, tool)).await,
            (CallState::Unasked, Some(tool)) => Box::pin(self.ask(call, tool)).await,
            (CallState::Ready | CallState::Unasked, None) => self.end_unlisted(call).await,
            (CallState::Suspended(run), tool) => Box::pin(self.resume_agent(call, tool, run)).await,
            (CallState::Settled(outcome), tool) => self.settle(call, tool.as_ref(), outcome),
            (state, tool) => PendingCall { call, tool, state },
        }
    }

    /// Makes one call of a known tool, where nothing can be suspended.
    pub(crate) async fn call(&self, call: ToolCall, tool: &ToolEntry) -> ToolResult {
        self.start(call, tool).await.into_exchange().result
    }

    /// Takes a new call of a known tool as far as it gets.
    pub(crate) async fn start(&self, call: ToolCall, tool: &ToolEntry) -> PendingCall {
        let call = if call.tool() == tool.name() { call } else { call.with_tool(tool.name()) };
        self.advance(self.admit(call, tool.clone())).await
    }

    /// Whether a call waits for somebody before it may run.
    fn needs_answer(&self, tool: &ToolEntry) -> bool {
        let mut lists = self.options.approval_list.iter().chain(&*self.agent_approval_list);
        tool.approval().is_some() || tool.is_deferred() || lists.any(|name| tool.is_meant_by(name))
    }

    /// The state in which a new call of a known tool begins; a clearance from elsewhere counts for nothing. Nobody is asked
    /// about arguments that are not valid.
    pub(crate) fn admit(&self, call: ToolCall, tool: ToolEntry) -> PendingCall {
        let call = call.with_clearance(None);
        if !self.needs_answer(&tool) {
            return PendingCall::new(call, Some(tool), CallState::Ready);
        }
        if let Err(issues) = tool.spec().check_args(call.args().as_bytes()) {
            let failure = ToolFailure::invalid_call(tool.spec(), &call, issues);
            return PendingCall::refused(call, Some(tool), failure);
        }
        PendingCall::new(call, Some(tool), CallState::Unasked)
    }

    /// Ends a call with an outcome, without running anything.
    pub(crate) fn settle(
        &self,
        call: ToolCall,
        tool: Option<&ToolEntry>,
        outcome: Outcome,
    ) -> PendingCall {
        OpenCall::announce(&self.publisher, &call, tool).close(&outcome);
        PendingCall::done(call, outcome)
    }

    /// Ends a call whose tool was listed when its run got here first, and is not listed any more. What its journal keeps
    /// of the call holds.
    async fn end_unlisted(&self, call: ToolCall) -> PendingCall {
        let outcome = match self.last_kept_end(&call).await {
            Ok(Some(outcome)) => outcome,
            Ok(None) => self.fallible(|| format!("call/{}", call.id()), ready(Err(lost()))).await,
            Err(failure) => Err(failure),
        };
        let hooked = ready(outcome);
        let outcome = self.fallible(|| format!("after/{}", call.id()), hooked).await;
        self.settle(call, None, outcome)
    }

    /// The outcome of the last attempt of an agent at a call that the journal keeps.
    async fn last_kept_end(&self, call: &ToolCall) -> Result<Option<Outcome>, ToolFailure> {
        let mut last = None;
        for attempt in 1.. {
            match self.kept(|| format!("end/{attempt}/{}", call.id())).await? {
                Some(outcome) => last = Some(outcome),
                None => break,
            }
        }
        Ok(last)
    }

    /// Asks the approver, and does what the verdict says. Without an approver the call waits.
    async fn ask(&self, call: ToolCall, tool: ToolEntry) -> PendingCall {
        let approver = self.options.approver.as_ref().filter(|_| !tool.is_deferred());
        if approver.is_none() && !self.options.can_suspend {
            let failure = nobody_to_ask(&call);
            return self.settle(call, Some(&tool), Err(failure));
        }
        let environment = &self.environment;
        let asking = async {
            let lasting = u64::try_from(environment.approvals_last.as_millis());
            let expires_at = now(&environment.clock).saturating_add(lasting.unwrap_or(u64::MAX));
            let (agent, id) = (self.publisher.agent.as_deref(), fresh_id("approval"));
            ApprovalRequest {
                open_handles: self.toolset.open_handles(),
                ..ApprovalRequest::new(&call, &tool, agent, id, expires_at)
            }
        };
        let request = match self.effect(|| format!("question/{}", call.id()), asking).await {
            Ok(request) => Arc::new(request),
            Err(failure) => return self.settle(call, Some(&tool), Err(failure)),
        };
        self.publisher.publish(|| EventKind::ApprovalRequested { request: Arc::clone(&request) });
        let Some(approver) = approver else {
            return PendingCall::new(call, Some(tool), CallState::Asked(request));
        };
        let deciding = async {
            let time_left = || request.expires_at.saturating_sub(now(&environment.clock));
            let deciding = AssertUnwindSafe(async { approver.decide(&request).await });
            let deciding = timeout(Duration::from_millis(time_left()), deciding.catch_unwind());
            match deciding.await {
                // Approvers may block, and hosts have clocks of their own.
                Ok(Ok(verdict)) if time_left() > 0 => verdict,
                // An approver that panics has not approved.
                Ok(Err(_)) => Verdict::Deny(None),
                Ok(Ok(_)) | Err(_) => Verdict::Deny(Some(format!(
                    "nobody answered in time whether `{}` may run",
                    request.tool
                ))),
            }
        };
        let verdict = match self.effect(|| format!("answer/{}", call.id()), deciding).await {
            Ok(verdict) => verdict,
            Err(failure) => return self.settle(call, Some(&tool), Err(failure)),
        };
        match self.judge(call, tool, &request, verdict) {
            PendingCall { call, tool: Some(tool), state: CallState::Ready } => {
                self.run_announced(call, tool).await
            }
            PendingCall { call, tool, state: CallState::Settled(outcome) } => {
                self.settle(call, tool.as_ref(), outcome)
            }
            other => other,
        }
    }

    /// Does to a call what the answer to its question says. An answer to anything but a no counts only if the call still asks
    /// what was shown.
    pub(crate) fn judge(
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
            Verdict::Deny(reason) => Err(denied(request, reason)),
            _ if !request.is_of(&call, &tool, self.publisher.agent.as_deref()) => {
                Err(asks_otherwise(&tool))
            }
            Verdict::Approve => {
                let call = cleared(call, tool.spec());
                return PendingCall::new(call, Some(tool), CallState::Ready);
            }
            Verdict::ApproveWith(args) => {
                let call = cleared(call.with_args(args), tool.spec());
                return PendingCall::new(call, Some(tool), CallState::Ready);
            }
            Verdict::Result(payload) if request.deferred => tool.spec_ref().checked(Ok(payload)),
            Verdict::Result(_) => Err(not_deferred(request)),
        };
        PendingCall::new(call, Some(tool), CallState::Settled(outcome))
    }

    /// Announces a call, and runs it between its hooks.
    async fn run_announced(&self, call: ToolCall, tool: ToolEntry) -> PendingCall {
        let call = Arc::new(call);
        let open = OpenCall::announce(&self.publisher, &call, Some(&tool));
        let running = self.between_hooks(Arc::clone(&call), &tool);
        let state = open.reach(self.in_span(&call, &tool, Box::pin(running)).await);
        PendingCall::new(Arc::unwrap_or_clone(call), Some(tool), state)
    }

    /// Goes on with the suspended run of an agent. Before it was suspended its call was announced, and hooks saw it.
    async fn resume_agent(
        &self,
        call: ToolCall,
        tool: Option<ToolEntry>,
        run: Box<RunState>,
    ) -> PendingCall {
        let open = OpenCall::announced(&self.publisher, &call, tool.as_ref());
        let running = async {
            let hooked = match &run.args {
                Some(args) => call.clone().with_args(Payload::new(args.as_str())),
                None => call.clone(),
            };
            let Some(tool) = &tool else {
                let end = self.abandon(&run, lost());
                return self.after_hooks(&hooked, None, end).await;
            };
            let running = async {
                let is_its_agent =
                    tool.delegates() || tool.agent().is_some_and(|agent| **agent == *run.agent);
                let end = if let Err(failure) = self.check_approval(&hooked, tool) {
                    self.abandon(&run, failure)
                } else if is_its_agent && run.implements(tool.spec()) {
                    let delegation = Delegation::to(&*run.agent, Payload::new(run.input.as_str()));
                    self.run_agent(delegation, &hooked, tool, Some(run)).await
                } else {
                    self.abandon(&run, agent_lost(tool))
                };
                self.after_hooks(&hooked, Some(tool), end).await
            };
            self.in_span(&call, tool, Box::pin(running)).await
        };
        let state = open.reach(running.await);
        PendingCall::new(call, tool, state)
    }

    /// Ends a call whose agent's run was suspended and does not go on.
    pub(super) fn give_up(&self, pending: &PendingCall) {
        if let CallState::Suspended(run) = &pending.state {
            let failure = cancelled("the call");
            self.environment.abandon(run, &cancelled("the run"));
            OpenCall::announced(&self.publisher, &pending.call, pending.tool.as_ref())
                .close(&Err(failure));
        }
    }

    /// Fails a suspended run that does not go on.
    fn abandon(&self, run: &RunState, failure: ToolFailure) -> End {
        self.environment.abandon(run, &failure);
        End::Failed(failure)
    }

    async fn in_span(
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

    /// Hooks, the call between them, hooks.
    async fn between_hooks(&self, mut call: Arc<ToolCall>, tool: &ToolEntry) -> End {
        let hooks = &self.environment.hooks;
        if !hooks.are_for(call.tool(), Some(tool)) {
            return Box::pin(self.execute(call, tool)).await;
        }
        let before = hooks.before(&call, tool);
        let args = self.fallible(|| format!("before/{}", call.id()), before).await;
        let end = match args {
            Ok(args) => {
                if args != *call.args() {
                    call = Arc::new(ToolCall::clone(&call).with_args(args));
                }
                Box::pin(self.execute(Arc::clone(&call), tool)).await
            }
            Err(failure) => End::Failed(failure),
        };
        self.after_hooks(&call, Some(tool), end).await
    }

    /// A failure goes through the hooks after the call like any outcome; a run that waits is none yet.
    async fn after_hooks(&self, call: &ToolCall, tool: Option<&ToolEntry>, end: End) -> End {
        let outcome = match end.into_outcome() {
            Ok(outcome) => outcome,
            Err(waiting) => return End::Suspended(waiting),
        };
        let hooks = &self.environment.hooks;
        if !hooks.are_for(call.tool(), tool) {
            return outcome.into();
        }
        let after = async {
            let hooked = hooks.after(call, tool, outcome.clone()).await;
            // What hooks made of a result must be one too.
            match tool {
                Some(tool) if hooked != outcome => tool.spec_ref().checked(hooked),
                _ => hooked,
            }
        };
        self.fallible(|| format!("after/{}", call.id()), after).await.into()
    }

    /// The call itself, once it is checked that it may be made.
    async fn execute(&self, call: Arc<ToolCall>, tool: &ToolEntry) -> End {
        let has_agent = tool.agent().is_some() || tool.delegates();
        let key = if has_agent { "agent" } else { "call" };
        let running = async {
            self.check(&call, tool)?;
            if let Some(agent) = tool.agent() {
                return Delegation::to(&**agent, call.args().clone()).to_payload();
            }
            let (toolset, publisher) = (Arc::clone(&self.toolset), self.publisher.clone());
            let execute = self.environment.execute_for(tool);
            let outcome = execute.run(Arc::clone(&call), tool.clone(), toolset, publisher).await;
            let is_checked = tool.checks_itself() || tool.delegates();
            if is_checked { outcome } else { tool.spec_ref().checked(outcome) }
        };
        let outcome = self.fallible(|| format!("{key}/{}", call.id()), running).await;
        if !has_agent {
            return outcome.into();
        }
        match outcome.and_then(|payload| Delegation::of_payload(&payload)) {
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

    /// Checks that a call has been approved where it needs to be, whatever path it came by.
    fn check_approval(&self, call: &ToolCall, tool: &ToolEntry) -> Result<(), ToolFailure> {
        if call.is_approved() || self.needs_answer(tool) {
            return check_cleared(call, tool.spec());
        }
        Ok(())
    }

    /// Has an agent run a call, within the tool's own time and with as many attempts as it asks for. Each attempt is a
    /// run.
    async fn run_agent(
        &self,
        delegation: Delegation,
        call: &ToolCall,
        tool: &ToolEntry,
        mut suspended: Option<Box<RunState>>,
    ) -> End {
        let (agent, input) = delegation.into_parts();
        let Some(agent) = self.environment.registry.agent(&agent) else {
            let detail = format!("agent `{agent}` is not registered");
            let failure = agent_lost(tool).with_detail(detail);
            return match &suspended {
                Some(run) => self.abandon(run, failure),
                None => End::Failed(failure),
            };
        };
        let retry = Retry::new().with_attempts(1);
        let mut attempt = suspended.as_ref().map_or(1, |run| run.attempt);
        let mut pause = None;
        loop {
            let id = if let Some(run) = &suspended {
                run.run_id.clone()
            } else {
                let beginning = async {
                    if let Some(pause) = pause {
                        tokio::time::sleep(pause).await;
                    }
                    fresh_id("run")
                };
                match self.effect(|| format!("run/{attempt}/{}", call.id()), beginning).await {
                    Ok(id) => id,
                    Err(failure) => return End::Failed(failure),
                }
            };
            let named = (id, input.clone());
            let run =
                Run::child(&self.environment, agent.clone(), call, tool, named, &self.options);
            let resumption = suspended
                .take()
                .map(|state| Resumption { state, verdicts: Arc::clone(&self.verdicts) });
            let key = || format!("end/{attempt}/{}", call.id());
            let outcome = match self.kept::<Outcome>(key).await {
                // It may have been cut off in a step, which would now be made.
                Ok(Some(Err(failure))) => {
                    run.announce_ended(&failure);
                    Err(failure)
                }
                Ok(kept) => match (run_attempt(run, tool, resumption).await.into_outcome(), kept) {
                    (Ok(outcome), _) | (Err(_), Some(outcome)) => outcome,
                    (Err(mut state), None) => {
                        (state.attempt, state.args) = (attempt, Some(call.args().to_string()));
                        state.words = Some(words_digest(tool.approval()));
                        return End::Suspended(state);
                    }
                },
                Err(failure) => return End::Failed(failure),
            };
            let kept = self.fallible(key, ready(outcome));
            let failure = match kept.await {
                Ok(payload) => return End::Finished(payload),
                Err(failure) => failure,
            };
            let Some(delay) = retry.another(call, tool.spec(), &failure, attempt) else {
                return End::Failed(failure);
            };
            self.publisher.retried(tool, call, &failure, (attempt, delay));
            pause = Some(delay);
            attempt += 1;
        }
    }

    /// What an effect gives, from the journal of the run if it is kept there.
    pub(super) async fn effect<T: Entry>(
        &self,
        key: impl FnOnce() -> String,
        effect: impl Future<Output = T> + Send,
    ) -> Result<T, ToolFailure> {
        let Some(journal) = &self.environment.journal else { return Ok(effect.await) };
        let run_id = self.publisher.scope.run_id.as_deref().unwrap_or_default();
        effects::record(&**journal, run_id, &key(), effect).await
    }

    /// What the journal of the run keeps under a key, if there is a journal and it does.
    async fn kept<T: Entry>(&self, key: impl FnOnce() -> String) -> Result<Option<T>, ToolFailure> {
        let Some(journal) = &self.environment.journal else { return Ok(None) };
        let run_id = self.publisher.scope.run_id.as_deref().unwrap_or_default();
        effects::kept(&**journal, run_id, &key()).await
    }

    /// As [`effect`](Self::effect), of what may fail itself.
    pub(super) async fn fallible<T>(
        &self,
        key: impl FnOnce() -> String,
        effect: impl Future<Output = Result<T, ToolFailure>> + Send,
    ) -> Result<T, ToolFailure>
    where
        Result<T, ToolFailure>: Entry,
    {
        self.effect(key, effect).await?
    }
}

/// One attempt of an agent at a call, within the time of the tool. Boxed, since runs may be nested.
fn run_attempt(run: Run, tool: &ToolEntry, resumption: Option<Resumption>) -> BoxFuture<'_, End> {
    Box::pin(async move {
        let running = AssertUnwindSafe(run.drive(resumption)).catch_unwind();
        let ended = match tool.spec().limits().timeout {
            None => running.await,
            Some(limit) => match tokio::time::timeout(limit, running).await {
                Ok(ended) => ended,
                Err(_) => return End::Failed(timed_out(tool, limit)),
            },
        };
        match ended {
            Ok((end, _)) => end,
            Err(panic) => End::Failed(panicked("the agent's run", &*panic)),
        }
    })
}

fn denied(request: &ApprovalRequest, reason: Option<String>) -> ToolFailure {
    let message = reason
        .or_else(|| request.denied.clone())
        .unwrap_or_else(|| format!("the call of `{}` was not approved", request.tool));
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

fn not_deferred(request: &ApprovalRequest) -> ToolFailure {
    let message = format!("the call of `{}` was not approved", request.tool);
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
        .with_detail("the approver gave a result, expected an approval: the call is not deferred")
}

fn nobody_to_ask(call: &ToolCall) -> ToolFailure {
    let message = format!("`{}` needs an approval, and nobody can give one here", call.tool());
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

fn asks_otherwise(tool: &ToolEntry) -> ToolFailure {
    let message = format!("`{}` asks for its approval in other words now", tool.name());
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
        .with_detail("the question that was answered is not the one that the call asks; ask again")
}

/// A tool that another agent implemented when its run was suspended, or whose agent is gone.
fn agent_lost(tool: &ToolEntry) -> ToolFailure {
    let name = tool.name();
    let message = format!("the agent that was running `{name}` does not implement it any more");
    ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan)
}

/// A tool that was listed when its run was suspended and is not any more.
fn lost() -> ToolFailure {
    ToolFailure::new(FailureKind::NotFound, "the tool is not there any more", Recovery::Replan)
}
