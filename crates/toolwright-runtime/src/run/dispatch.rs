//! The one path of every call: asked about, announced, hooked, checked, run, checked again, hooked again, announced
//! again. Never chooses calls: see the run's loop.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::time::Instant;
use toolwright::call::fresh_id;
use toolwright::{
    BoxFuture, FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure, ToolResult,
};
use tracing::Instrument;

use super::call::{CallState, PendingCall, cancelled};
use super::state::RunState;
use super::{End, Environment, Options, Resumption, Run};
use crate::approval::{Answers, ApprovalRequest, Verdict, digest, now};
use crate::execute::{Invocation, Retry, panicked, timed_out};
use crate::tools::{Delegation, ToolEntry, Toolset};
use crate::watch::telemetry;
use crate::watch::{EventKind, Publisher, ToolInfo};

/// Takes calls from where they are to where they get. All calls of a run share one.
#[derive(Clone)]
pub(crate) struct Dispatcher {
    pub(crate) environment: Arc<Environment>,
    pub(crate) toolset: Arc<dyn Toolset>,
    pub(crate) publisher: Publisher,
    pub(crate) options: Options,
    /// What suspended child runs go on with.
    pub(crate) answers: Arc<Answers>,
}

impl Dispatcher {
    /// Takes one call as far as it gets. Dropped before that, it still announces the call's end: cancelled.
    pub(crate) async fn advance(&self, pending: PendingCall) -> PendingCall {
        let PendingCall { call, tool, state } = pending;
        // Boxed, so that a nested run takes little of its caller's stack.
        match (state, tool) {
            (CallState::Ready(approved), Some(tool)) => {
                Box::pin(self.run(call, tool, approved)).await
            }
            (CallState::Asking(request), Some(tool)) => {
                Box::pin(self.ask(call, tool, request)).await
            }
            (CallState::Suspended(run), tool) => Box::pin(self.go_on(call, tool, run)).await,
            (CallState::Refused(outcome), tool) => self.refuse(call, tool.as_ref(), outcome),
            (CallState::Ready(_) | CallState::Asking(_), None) => {
                self.refuse(call, None, Err(lost()))
            }
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
        let state = if self.options.needs_answer(tool) {
            self.question(&call, tool).await
        } else {
            CallState::Ready(None)
        };
        self.advance(PendingCall::new(call, Some(tool.clone()), state)).await
    }

    /// The state of a call that has to be asked about. Nobody is asked about what cannot run.
    pub(crate) async fn question(&self, call: &ToolCall, tool: &ToolEntry) -> CallState {
        if let Err(issues) = tool.spec().check_args(call.args().as_bytes()) {
            return CallState::Refused(Err(ToolFailure::invalid_call(tool.spec(), call, issues)));
        }
        let environment = &self.environment;
        let asked = async {
            let now = now(&environment.clock);
            ApprovalRequest {
                open_handles: self.toolset.open_handles(),
                ..ApprovalRequest::new(call, tool, now, environment.approvals_last)
            }
        };
        match self.effect(|| format!("call/{}/question", call.id()), asked).await {
            Ok(request) => CallState::Asking(Arc::new(request)),
            Err(failure) => CallState::Refused(Err(failure)),
        }
    }

    /// Answers a call without running anything.
    pub(crate) fn refuse(
        &self,
        call: ToolCall,
        tool: Option<&ToolEntry>,
        outcome: Outcome,
    ) -> PendingCall {
        OpenCall::announce(&self.publisher, &call, tool).close(&outcome);
        PendingCall::done(call, outcome)
    }

    /// Asks whoever is there to answer, and does what they say; otherwise the call waits.
    async fn ask(
        &self,
        call: ToolCall,
        tool: ToolEntry,
        request: Arc<ApprovalRequest>,
    ) -> PendingCall {
        let who = self.options.approver.as_ref().filter(|_| !tool.is_deferred());
        if who.is_none() && !self.options.can_suspend {
            let failure = nobody_to_ask(&call);
            return self.refuse(call, Some(&tool), Err(failure));
        }
        self.publisher.publish(|| EventKind::ApprovalRequested { request: Arc::clone(&request) });
        let Some(who) = who else {
            return PendingCall::new(call, Some(tool), CallState::Asking(request));
        };
        let deciding = async {
            let deciding = AssertUnwindSafe(async { who.decide(&request).await });
            // An approver that panics has not approved.
            deciding.catch_unwind().await.unwrap_or(Verdict::Deny(None))
        };
        let answered = self.effect(|| format!("call/{}/answer", call.id()), deciding).await;
        let verdict = match answered {
            Ok(verdict) => verdict,
            Err(failure) => return self.refuse(call, Some(&tool), Err(failure)),
        };
        match self.settle(call, &request, verdict) {
            (call, Ok(approved)) => self.run(call, tool, Some(approved)).await,
            (call, Err(outcome)) => self.refuse(call, Some(&tool), outcome),
        }
    }

    /// What an answer makes of a call: the digest it may run with, or its outcome.
    pub(crate) fn settle(
        &self,
        call: ToolCall,
        request: &Arc<ApprovalRequest>,
        verdict: Verdict,
    ) -> (ToolCall, Result<String, Outcome>) {
        self.publisher.publish(|| EventKind::ApprovalAnswered {
            request: Arc::clone(request),
            verdict: verdict.clone(),
        });
        match verdict {
            Verdict::Approve => (call, Ok(request.digest.clone())),
            Verdict::ApproveWith(args) => {
                let call = call.with_args(args);
                let digest = digest(&call);
                (call, Ok(digest))
            }
            Verdict::Deny(reason) => (call, Err(Err(denied(request, reason)))),
            Verdict::Result(payload) => (call, Err(Ok(payload))),
        }
    }

    async fn run(&self, call: ToolCall, tool: ToolEntry, approved: Option<String>) -> PendingCall {
        let call = Arc::new(call.with_approved(approved.is_some()));
        let open = OpenCall::announce(&self.publisher, &call, Some(&tool));
        let running = self.hooked(Arc::clone(&call), &tool, approved);
        let state = open.reach(self.in_span(&call, &tool, Box::pin(running)).await);
        PendingCall::new(Arc::unwrap_or_clone(call), Some(tool), state)
    }

    /// Goes on with the run that answers a call. The call was announced, and its first hooks ran, before the run was
    /// suspended.
    async fn go_on(
        &self,
        call: ToolCall,
        tool: Option<ToolEntry>,
        run: Box<RunState>,
    ) -> PendingCall {
        let open = OpenCall::announced(&self.publisher, &call, tool.as_ref());
        let running = async {
            let Some(tool) = &tool else { return End::Failed(lost()) };
            let named = tool.delegates().then(|| run.agent.clone());
            let Some(agent) = named.as_deref().or(tool.agent().map(|agent| &**agent)) else {
                return End::Failed(agent_lost(tool));
            };
            let input = Payload::new(run.input.as_str());
            let running = async {
                let end = self.answer(agent, &call, &input, tool, Some(run)).await;
                self.hooked_after(&call, tool, end).await
            };
            self.in_span(&call, tool, Box::pin(running)).await
        };
        let state = open.reach(running.await);
        PendingCall::new(call, tool, state)
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
    async fn hooked(
        &self,
        mut call: Arc<ToolCall>,
        tool: &ToolEntry,
        approved: Option<String>,
    ) -> End {
        let hooks = &self.environment.hooks;
        if !hooks.are_for(call.tool(), tool) {
            return Box::pin(self.checked(call, tool, approved)).await;
        }
        let before = hooks.before(&call, tool);
        let args = self.fallible(|| format!("call/{}/before", call.id()), before).await;
        let end = match args {
            Ok(args) => {
                if args != *call.args() {
                    call = Arc::new(ToolCall::clone(&call).with_args(args));
                }
                Box::pin(self.checked(Arc::clone(&call), tool, approved)).await
            }
            Err(failure) => End::Failed(failure),
        };
        self.hooked_after(&call, tool, end).await
    }

    /// A failure goes through the hooks after the call like any outcome; a run that waits is none yet.
    async fn hooked_after(&self, call: &ToolCall, tool: &ToolEntry, end: End) -> End {
        let outcome = match end.into_outcome() {
            Ok(outcome) => outcome,
            Err(waiting) => return End::Suspended(waiting),
        };
        let hooks = &self.environment.hooks;
        if !hooks.are_for(call.tool(), tool) {
            return outcome.into();
        }
        let after = hooks.after(call, tool, outcome.clone());
        let hooked = self.fallible(|| format!("call/{}/after", call.id()), after).await;
        // What hooks made of a result must be one too.
        if hooked == outcome { hooked.into() } else { tool.spec_ref().checked(hooked).into() }
    }

    /// The call itself, with arguments and result checked.
    async fn checked(
        &self,
        call: Arc<ToolCall>,
        tool: &ToolEntry,
        approved: Option<String>,
    ) -> End {
        if approved.is_some_and(|approved| digest(&call) != approved) {
            return End::Failed(changed_after_approval(tool));
        }
        if !tool.checks_itself()
            && let Err(issues) = tool.spec().check_args(call.args().as_bytes())
        {
            return End::Failed(ToolFailure::invalid_call(tool.spec(), &call, issues));
        }
        if !self.toolset.is_available(tool.name()) {
            return End::Failed(unavailable(tool));
        }
        if let Some(agent) = tool.agent() {
            return self.answer(agent, &call, call.args(), tool, None).await;
        }
        let (toolset, publisher) = (Arc::clone(&self.toolset), self.publisher.clone());
        let invocation = Invocation::new(Arc::clone(&call), tool.clone(), toolset, publisher);
        let running = self.environment.execute_for(tool).run(invocation);
        let outcome = self.fallible(|| format!("call/{}", call.id()), running).await;
        if tool.delegates() {
            return match outcome.map(|payload| Delegation::of_payload(&payload)) {
                Ok(Ok((agent, input))) => self.answer(&agent, &call, &input, tool, None).await,
                Ok(Err(error)) => End::Failed(ToolFailure::internal(&*error)),
                Err(failure) => End::Failed(failure),
            };
        }
        if tool.checks_itself() { outcome.into() } else { tool.spec_ref().checked(outcome).into() }
    }

    /// Answers a call by a run of an agent, within the tool's own time and with as many attempts as it asks for.
    async fn answer(
        &self,
        agent: &str,
        call: &ToolCall,
        input: &Payload,
        tool: &ToolEntry,
        mut suspended: Option<Box<RunState>>,
    ) -> End {
        let (spec, retry) = (tool.spec(), Retry::new().with_attempts(1));
        let mut attempt = 1;
        loop {
            let running = self.child(agent, call, input, tool, (attempt, suspended.take()));
            let running = AssertUnwindSafe(running).catch_unwind();
            let ended = match spec.limits().timeout {
                Some(limit) => tokio::time::timeout(limit, running)
                    .await
                    .unwrap_or_else(|_| Ok(End::Failed(timed_out(tool, limit)))),
                None => running.await,
            };
            let failure = match ended {
                Ok(End::Failed(failure)) => failure,
                Ok(end) => return end,
                Err(panic) => panicked("the agent's run", &*panic),
            };
            let Some(delay) = retry.another(call, spec, &failure, attempt) else {
                return End::Failed(failure);
            };
            self.publisher.retried(tool, call, &failure, (attempt, delay));
            tokio::time::sleep(delay).await;
            attempt += 1;
        }
    }

    /// A run of an agent that answers a call. Boxed, since runs may be nested.
    fn child<'a>(
        &'a self,
        agent: &'a str,
        call: &'a ToolCall,
        input: &'a Payload,
        tool: &'a ToolEntry,
        (attempt, suspended): (u32, Option<Box<RunState>>),
    ) -> BoxFuture<'a, End> {
        Box::pin(async move {
            let Some(agent) = self.environment.registry.agent(agent) else {
                let detail = format!("agent `{agent}` is not registered");
                return End::Failed(agent_lost(tool).with_detail(detail));
            };
            let key = || format!("call/{}/run/{attempt}", call.id());
            let id = match &suspended {
                Some(state) => Ok(state.run_id.clone()),
                None => self.effect(key, async { fresh_id("run") }).await,
            };
            let id = match id {
                Ok(id) => id,
                Err(failure) => return End::Failed(failure),
            };
            let named = (id, input.clone());
            let run = Run::child(&self.environment, agent, call, tool, named, &self.options);
            let answers = || Arc::clone(&self.answers);
            let resumption = suspended.map(|state| Resumption { state, answers: answers() });
            run.drive(resumption).await.0
        })
    }
}

fn denied(request: &ApprovalRequest, reason: Option<String>) -> ToolFailure {
    let message = reason
        .or_else(|| request.denied.clone())
        .unwrap_or_else(|| format!("the call of `{}` was not approved", request.tool));
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

fn nobody_to_ask(call: &ToolCall) -> ToolFailure {
    let message = format!("`{}` needs an approval, and nobody can give one here", call.tool());
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

fn changed_after_approval(tool: &ToolEntry) -> ToolFailure {
    let message = format!("the arguments of `{}` are not those that were approved", tool.name());
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
        .with_detail("a hook changed them after the approval; let it run before, or leave them")
}

fn unavailable(tool: &ToolEntry) -> ToolFailure {
    let message = format!("`{}` cannot be used now", tool.name());
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan)
}

/// A tool that an agent implemented when it was listed, and none does any more.
fn agent_lost(tool: &ToolEntry) -> ToolFailure {
    let message = format!("the agent that was answering `{}` is not there any more", tool.name());
    ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan)
}

/// A tool that was listed when its run was suspended and is not any more.
fn lost() -> ToolFailure {
    ToolFailure::new(FailureKind::NotFound, "the tool is not there any more", Recovery::Replan)
}

/// A call that was announced and whose end is owed.
struct OpenCall<'a> {
    publisher: &'a Publisher,
    call: &'a ToolCall,
    tool: Option<&'a ToolEntry>,
    since: Instant,
    owed: bool,
}

impl<'a> OpenCall<'a> {
    fn announce(publisher: &'a Publisher, call: &'a ToolCall, tool: Option<&'a ToolEntry>) -> Self {
        publisher.publish(|| EventKind::ToolCallScheduled {
            call: call.clone(),
            tool: ToolInfo::new(call.tool(), tool),
        });
        Self::announced(publisher, call, tool)
    }

    /// A call that was announced before its run was suspended.
    fn announced(
        publisher: &'a Publisher,
        call: &'a ToolCall,
        tool: Option<&'a ToolEntry>,
    ) -> Self {
        Self { publisher, call, tool, since: Instant::now(), owed: true }
    }

    /// Announces the end; of a run that waits it comes after that is resumed.
    fn reach(mut self, end: End) -> CallState {
        match end.into_outcome() {
            Ok(outcome) => {
                self.close(&outcome);
                CallState::Done(outcome)
            }
            Err(run) => {
                self.owed = false;
                CallState::Suspended(run)
            }
        }
    }

    fn close(mut self, outcome: &Outcome) {
        self.owed = false;
        self.publish(outcome);
    }

    fn publish(&self, outcome: &Outcome) {
        self.publisher.publish(|| EventKind::ToolResultReceived {
            call_id: self.call.id().to_owned(),
            parent_call_id: self.call.parent_call_id().map(str::to_owned),
            tool: ToolInfo::new(self.call.tool(), self.tool),
            outcome: outcome.clone(),
            duration: self.since.elapsed(),
        });
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if self.owed {
            self.publish(&Err(cancelled("the call")));
        }
    }
}
