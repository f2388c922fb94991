//! The one path of every call: asked about, hooked, checked, announced, run, checked again, hooked again, announced
//! again. Never chooses calls: see `run`.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::time::Instant;
use toolwright::{FailureKind, Outcome, Recovery, ToolCall, ToolFailure, ToolResult, ToolSpec};
use tracing::Instrument;

use crate::approval::{ApprovalRequest, Approver, Verdict, digest};
use crate::delegate::ChildRun;
use crate::event::{EventKind, ToolInfo};
use crate::execute::Invocation;
use crate::planner::Exchange;
use crate::run::{Options, Resumption};
use crate::runtime::Inner;
use crate::sink::Publisher;
use crate::state::RunState;
use crate::stop::cancelled;
use crate::telemetry;
use crate::toolset::{ToolEntry, Toolset};

/// A call and what is to be done about it.
pub(crate) struct Ticket {
    pub(crate) call: ToolCall,
    /// Known even for some refused calls: events carry it.
    pub(crate) tool: Option<ToolEntry>,
    pub(crate) todo: Next,
}

/// What is to be done about a call.
pub(crate) enum Next {
    /// It has its result already, from before its run was suspended.
    Nothing(Exchange),
    /// It is answered without being run.
    Refuse(Outcome),
    /// It is asked about first.
    Ask(Arc<ApprovalRequest>),
    /// It runs.
    Run(Clearance),
    /// The run that answers it goes on.
    Resume(Resumption),
}

/// What a call may run with.
pub(crate) enum Clearance {
    /// It needs no approval.
    Unneeded,
    /// Exactly what has this digest was approved.
    Approved(String),
}

/// How far a call came.
pub(crate) enum Slot {
    /// It has its result.
    Done(Exchange),
    /// It waits for a barrier before it.
    Waiting(ToolCall),
    /// It waits for an answer.
    Asked(ToolCall, Arc<ApprovalRequest>),
    /// The run that answers it waits.
    Child(ToolCall, Box<RunState>),
}

/// What all calls of a run share.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) runtime: Arc<Inner>,
    pub(crate) toolset: Arc<dyn Toolset>,
    pub(crate) publisher: Publisher,
    pub(crate) options: Options,
}

impl Ticket {
    /// Whether no other call of its step may run beside it.
    pub(crate) fn is_barrier(&self) -> bool {
        let sequential = self.tool.as_ref().is_some_and(|tool| tool.spec().limits().sequential);
        sequential && !matches!(self.todo, Next::Refuse(_) | Next::Nothing(_))
    }

    /// Whether nobody is there to answer what it asks.
    fn is_stuck(&self, approver: Option<&Arc<dyn Approver>>) -> bool {
        let needs_result = self.tool.as_ref().is_some_and(ToolEntry::is_external);
        matches!(self.todo, Next::Ask(_)) && (approver.is_none() || needs_result)
    }
}

impl Path {
    /// Takes one call as far as it gets. Dropped before that, it still announces the call's end: cancelled.
    pub(crate) async fn take(&self, ticket: Ticket) -> Slot {
        if ticket.is_stuck(self.options.approver.as_ref()) {
            return self.ask_outside(ticket);
        }
        let Ticket { call, tool, todo } = ticket;
        match todo {
            Next::Nothing(exchange) => Slot::Done(exchange),
            Next::Refuse(outcome) => Slot::Done(self.refuse(call, tool.as_ref(), outcome)),
            // Boxed, so that a nested run takes little of its caller's stack.
            Next::Run(clearance) => Box::pin(self.run(call, tool, clearance)).await,
            Next::Ask(request) => Box::pin(self.ask(call, tool, request)).await,
            Next::Resume(run) => Box::pin(self.resume(call, tool, run)).await,
        }
    }

    fn ask_outside(&self, ticket: Ticket) -> Slot {
        let Next::Ask(request) = ticket.todo else { return Slot::Waiting(ticket.call) };
        if !self.options.can_suspend {
            let outcome = Err(nobody_to_ask(&ticket.call));
            return Slot::Done(self.refuse(ticket.call, ticket.tool.as_ref(), outcome));
        }
        self.tell_asked(&request);
        Slot::Asked(ticket.call, request)
    }

    /// Asks the run's own approver, and does what it says.
    async fn ask(
        &self,
        call: ToolCall,
        tool: Option<ToolEntry>,
        request: Arc<ApprovalRequest>,
    ) -> Slot {
        self.tell_asked(&request);
        let verdict = self.decide(&request).await;
        self.publisher.publish(|| EventKind::ApprovalAnswered {
            request: Arc::clone(&request),
            verdict: verdict.clone(),
        });
        match settle(call, &request, verdict) {
            (call, Ok(clearance)) => self.run(call, tool, clearance).await,
            (call, Err(outcome)) => Slot::Done(self.refuse(call, tool.as_ref(), outcome)),
        }
    }

    /// An approver that panics has not approved.
    async fn decide(&self, request: &ApprovalRequest) -> Verdict {
        let Some(approver) = &self.options.approver else { return Verdict::Deny(None) };
        let deciding = AssertUnwindSafe(async { approver.decide(request).await });
        deciding.catch_unwind().await.unwrap_or(Verdict::Deny(None))
    }

    fn tell_asked(&self, request: &Arc<ApprovalRequest>) {
        self.publisher.publish(|| EventKind::ApprovalRequested { request: Arc::clone(request) });
    }

    /// Answers a call without running anything.
    pub(crate) fn refuse_now(&self, call: ToolCall, failure: ToolFailure) -> ToolResult {
        self.refuse(call, None, Err(failure)).result
    }

    fn refuse(&self, call: ToolCall, tool: Option<&ToolEntry>, outcome: Outcome) -> Exchange {
        let announced = Announced::start(&self.publisher, &call, tool);
        announced.close(&outcome);
        exchange(call, outcome)
    }

    async fn run(&self, call: ToolCall, tool: Option<ToolEntry>, clearance: Clearance) -> Slot {
        let Some(tool) = tool else { return Slot::Done(exchange(call, Err(lost()))) };
        let child = ChildRun::of(&tool, &self.runtime, &self.options, None);
        let announced = Announced::start(&self.publisher, &call, Some(&tool));
        self.finish(&call, &tool, clearance, child, announced).await
    }

    /// Goes on with the run that answers a call; the call was announced before it was suspended.
    async fn resume(
        &self,
        call: ToolCall,
        tool: Option<ToolEntry>,
        resumption: Resumption,
    ) -> Slot {
        let Some(tool) = tool else { return Slot::Done(exchange(call, Err(lost()))) };
        let announced = Announced::again(&self.publisher, &call, &tool);
        let child = ChildRun::of(&tool, &self.runtime, &self.options, Some(resumption));
        if child.is_none() {
            let outcome = Err(not_by_an_agent(&tool));
            announced.close(&outcome);
            return Slot::Done(exchange(call, outcome));
        }
        self.finish(&call, &tool, Clearance::Unneeded, child, announced).await
    }

    /// Runs a call that was announced, to its result or to where the run that answers it waits.
    async fn finish(
        &self,
        call: &ToolCall,
        tool: &ToolEntry,
        clearance: Clearance,
        child: Option<Arc<ChildRun>>,
        announced: Announced<'_>,
    ) -> Slot {
        let content = self.runtime.settings.record_content;
        let span = telemetry::tool_span(call, tool, content);
        let hooked = Box::pin(self.hooked(call.clone(), tool, clearance, child.clone()));
        let outcome = hooked.instrument(span.clone()).await;
        telemetry::record(&span, &outcome, content);
        if let Some(state) = child.and_then(|child| child.take_suspended()) {
            announced.leave_open();
            return Slot::Child(call.clone(), state);
        }
        announced.close(&outcome);
        Slot::Done(exchange(call.clone(), outcome))
    }

    /// Hooks, the call between them, hooks. A failure goes through the hooks after it like any outcome.
    async fn hooked(
        &self,
        call: ToolCall,
        tool: &ToolEntry,
        clearance: Clearance,
        child: Option<Arc<ChildRun>>,
    ) -> Outcome {
        let hooks = &self.runtime.settings.hooks;
        if hooks.is_empty() {
            return Box::pin(self.checked(call, tool, &clearance, child)).await;
        }
        let (call, verdict) = hooks.before(call).await;
        let outcome = match verdict {
            Ok(()) => Box::pin(self.checked(call.clone(), tool, &clearance, child)).await,
            Err(failure) => Err(failure),
        };
        let before = outcome.clone();
        let outcome = hooks.after(&call, outcome).await;
        // What hooks made of a result must be one too.
        if outcome == before { outcome } else { check_result(tool.spec(), outcome) }
    }

    /// The call itself, with arguments and result checked.
    async fn checked(
        &self,
        call: ToolCall,
        tool: &ToolEntry,
        clearance: &Clearance,
        child: Option<Arc<ChildRun>>,
    ) -> Outcome {
        if let Clearance::Approved(approved) = clearance
            && digest(&call) != *approved
        {
            return Err(changed_after_approval(tool));
        }
        if !tool.checks_itself()
            && let Err(issues) = tool.spec().check_args(call.args().as_bytes())
        {
            return Err(ToolFailure::invalid_call(tool.spec(), &call, issues));
        }
        if !self.toolset.is_available(tool.name()) {
            return Err(unavailable(tool));
        }
        let (toolset, publisher) = (Arc::clone(&self.toolset), self.publisher.clone());
        let invocation = Invocation::new(call, tool.clone(), toolset, child, publisher);
        let outcome = self.runtime.settings.execute.run(invocation).await;
        if tool.checks_itself() { outcome } else { check_result(tool.spec(), outcome) }
    }
}

/// What an answer makes of a call: its clearance, or its outcome.
pub(crate) fn settle(
    call: ToolCall,
    request: &ApprovalRequest,
    verdict: Verdict,
) -> (ToolCall, Result<Clearance, Outcome>) {
    match verdict {
        Verdict::Approve => {
            let clearance = Clearance::Approved(request.digest.clone());
            (call, Ok(clearance))
        }
        Verdict::ApproveWith(args) => {
            let call = call.with_args(args);
            let clearance = Clearance::Approved(digest(&call));
            (call, Ok(clearance))
        }
        Verdict::Deny(reason) => {
            let outcome = Err(denied(request, reason));
            (call, Err(outcome))
        }
        Verdict::Result(payload) => (call, Err(Ok(payload))),
    }
}

pub(crate) fn check_result(spec: &ToolSpec, outcome: Outcome) -> Outcome {
    match &outcome {
        Ok(payload) => match spec.check_result(payload.as_bytes()) {
            Ok(()) => outcome,
            Err(issues) => Err(ToolFailure::malformed_result(spec, &issues)),
        },
        Err(_) => outcome,
    }
}

pub(crate) fn exchange(call: ToolCall, outcome: Outcome) -> Exchange {
    let result = ToolResult { call_id: call.id().to_owned(), outcome };
    Exchange { call, result }
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

/// A tool that an agent implemented when its run was suspended, and none does any more.
fn not_by_an_agent(tool: &ToolEntry) -> ToolFailure {
    let message = format!("the agent that was answering `{}` is not there any more", tool.name());
    ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan)
}

/// A tool that was listed when its run was suspended and is not any more.
fn lost() -> ToolFailure {
    ToolFailure::new(FailureKind::NotFound, "the tool is not there any more", Recovery::Replan)
}

/// A call that was announced and whose end is owed.
struct Announced<'a> {
    publisher: &'a Publisher,
    call: &'a ToolCall,
    tool: Option<&'a ToolEntry>,
    since: Instant,
    owed: bool,
}

impl<'a> Announced<'a> {
    fn start(publisher: &'a Publisher, call: &'a ToolCall, tool: Option<&'a ToolEntry>) -> Self {
        publisher.publish(|| EventKind::ToolCallScheduled {
            call: call.clone(),
            tool: ToolInfo::new(call.tool(), tool),
        });
        Self { publisher, call, tool, since: Instant::now(), owed: true }
    }

    /// A call that was announced before its run was suspended.
    fn again(publisher: &'a Publisher, call: &'a ToolCall, tool: &'a ToolEntry) -> Self {
        Self { publisher, call, tool: Some(tool), since: Instant::now(), owed: true }
    }

    fn close(mut self, outcome: &Outcome) {
        self.owed = false;
        self.publish(outcome);
    }

    /// The end comes after the run is resumed.
    fn leave_open(mut self) {
        self.owed = false;
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

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        if self.owed {
            self.publish(&Err(cancelled("the call")));
        }
    }
}
