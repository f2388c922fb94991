//! The one path of every call: checked, announced, run within its limits, checked again, announced
//! again. Never chooses calls: see `run`.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;
use toolwright::{FailureKind, Outcome, Recovery, ToolCall, ToolFailure, ToolResult, ToolSpec};

use crate::clock::Stopwatch;
use crate::event::{EventKind, ToolInfo};
use crate::planner::Exchange;
use crate::registry::Registered;
use crate::sink::Publisher;

/// A call that is ready to run, or why it will not.
pub(crate) struct Ticket {
    call: ToolCall,
    /// Known even for some refused calls: events carry it.
    spec: Option<&'static ToolSpec>,
    verdict: Result<Registered, ToolFailure>,
}

impl Ticket {
    /// A call of a registered tool. Whoever runs it sees the tool's own name and checked arguments.
    pub(crate) fn admitted(call: &ToolCall, tool: &Registered) -> Self {
        let call = ToolCall::new(tool.spec.name(), call.args().clone())
            .with_id(call.id())
            .with_scope(call.scope().clone());
        let verdict = match tool.spec.check_args(call.args().as_bytes()) {
            Ok(()) => Ok(tool.clone()),
            Err(issues) => Err(ToolFailure::invalid_call(tool.spec, &call, issues)),
        };
        Self { call, spec: Some(tool.spec), verdict }
    }

    /// A call that is answered without being run.
    pub(crate) fn refused(
        call: ToolCall,
        spec: Option<&'static ToolSpec>,
        failure: ToolFailure,
    ) -> Self {
        Self { call, spec, verdict: Err(failure) }
    }

    /// Whether no other call of its step may run beside it.
    pub(crate) fn is_barrier(&self) -> bool {
        self.verdict.as_ref().is_ok_and(|tool| tool.spec.limits().sequential)
    }
}

/// Runs one call to its end. Dropped before that, it still announces the call's end: cancelled.
pub(crate) async fn dispatch(publisher: &Publisher, ticket: Ticket) -> Exchange {
    let Ticket { call, spec, verdict } = ticket;
    let scheduled = Scheduled::announce(publisher, &call, spec);
    let outcome = match verdict {
        Ok(tool) => execute(&tool, &call).await,
        Err(failure) => Outcome::Failure(failure),
    };
    scheduled.close(&outcome);
    let result = ToolResult { call_id: call.id().to_owned(), outcome };
    Exchange { call, result }
}

async fn execute(tool: &Registered, call: &ToolCall) -> Outcome {
    // The block defers `execute` itself into the guarded future: it may panic before it awaits.
    let guarded = AssertUnwindSafe(async { tool.executor.execute(call).await }).catch_unwind();
    let ended = match tool.spec.limits().timeout {
        None => Ok(guarded.await),
        Some(limit) => timeout(limit, guarded).await.map_err(|_| limit),
    };
    match ended {
        Ok(Ok(result)) => checked(tool.spec, result.outcome),
        Ok(Err(panic)) => Outcome::Failure(panicked("the executor", &*panic)),
        Err(limit) => Outcome::Failure(timed_out(tool.spec, limit)),
    }
}

fn checked(spec: &ToolSpec, outcome: Outcome) -> Outcome {
    match &outcome {
        Outcome::Payload(payload) => match spec.check_result(payload.as_bytes()) {
            Ok(()) => outcome,
            Err(issues) => Outcome::Failure(ToolFailure::malformed_result(spec, &issues)),
        },
        Outcome::Failure(_) => outcome,
    }
}

fn timed_out(spec: &ToolSpec, limit: Duration) -> ToolFailure {
    let message = format!("`{}` took longer than its limit of {limit:?}", spec.name());
    ToolFailure::new(FailureKind::Timeout, message, Recovery::Retry)
}

/// What is left of a panic: its message, for operators.
pub(crate) fn panicked(who: &str, panic: &(dyn Any + Send)) -> ToolFailure {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    ToolFailure::new(FailureKind::Internal, "the tool failed internally", Recovery::Replan)
        .with_detail(format!("{who} panicked: {text}"))
}

/// Something given up before it ended.
pub(crate) fn cancelled(what: &str) -> ToolFailure {
    let message = format!("{what} was given up before it ended");
    ToolFailure::new(FailureKind::Cancelled, message, Recovery::Replan)
}

/// A call that was announced and whose end is owed.
struct Scheduled<'a> {
    publisher: &'a Publisher,
    call: &'a ToolCall,
    tool: ToolInfo,
    watch: Stopwatch,
    closed: bool,
}

impl<'a> Scheduled<'a> {
    fn announce(
        publisher: &'a Publisher,
        call: &'a ToolCall,
        spec: Option<&'static ToolSpec>,
    ) -> Self {
        let tool = ToolInfo::new(spec.map_or(call.tool(), ToolSpec::name), spec);
        publisher
            .publish(|| EventKind::ToolCallScheduled { call: call.clone(), tool: tool.clone() });
        Self { publisher, call, tool, watch: Stopwatch::start(), closed: false }
    }

    fn close(mut self, outcome: &Outcome) {
        self.closed = true;
        self.publish(outcome);
    }

    fn publish(&self, outcome: &Outcome) {
        self.publisher.publish(|| EventKind::ToolResultReceived {
            call_id: self.call.id().to_owned(),
            parent_call_id: self.call.parent_call_id().map(str::to_owned),
            tool: self.tool.clone(),
            outcome: outcome.clone(),
            duration: self.watch.elapsed(),
        });
    }
}

impl Drop for Scheduled<'_> {
    fn drop(&mut self) {
        if !self.closed {
            self.publish(&Outcome::Failure(cancelled("the call")));
        }
    }
}
