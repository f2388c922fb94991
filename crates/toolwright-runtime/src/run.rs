//! The loop of one run: ask the planner, make the calls, ask again. Never runs a call by itself: see
//! `dispatch`.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;
use toolwright::spec::advertised;
use toolwright::{
    BoxError, FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure, ToolSpec,
};

use crate::batch;
use crate::clock::Stopwatch;
use crate::dispatch::{Ticket, cancelled, panicked};
use crate::event::EventKind;
use crate::planner::{Step, StepRecord, Turn};
use crate::policy::Ledger;
use crate::registry::RegisteredAgent;
use crate::runtime::Inner;
use crate::sink::Publisher;

/// A run that can start.
pub(crate) struct Run {
    pub(crate) runtime: Arc<Inner>,
    pub(crate) agent: RegisteredAgent,
    pub(crate) input: Payload,
    pub(crate) answers: Option<&'static ToolSpec>,
    pub(crate) id: String,
    /// The scope of the calls it makes.
    pub(crate) scope: Scope,
    pub(crate) publisher: Publisher,
    pub(crate) one_at_a_time: bool,
}

/// What a run has done so far.
struct Progress {
    steps: Vec<StepRecord>,
    call_ids: BTreeSet<String>,
    ledger: Ledger,
}

impl Run {
    /// Runs to the end, whatever that is, and gives the steps made on the way.
    pub(crate) async fn drive(&self) -> (Result<Payload, ToolFailure>, Vec<StepRecord>) {
        let policy = self.agent.spec.policy;
        let started = Started::announce(self);
        let ledger = Ledger::new(policy);
        let mut progress = Progress { steps: Vec::new(), call_ids: BTreeSet::new(), ledger };
        let result = match policy.time_budget {
            None => self.steps(&mut progress).await,
            Some(budget) => timeout(budget, self.steps(&mut progress))
                .await
                .unwrap_or_else(|_| Err(self.out_of_time(budget))),
        };
        started.close(&result);
        (result, progress.steps)
    }

    async fn steps(&self, progress: &mut Progress) -> Result<Payload, ToolFailure> {
        loop {
            match self.ask(&progress.steps).await? {
                Step::Finish(payload) => return self.accept(payload),
                Step::Call(calls) => self.make(calls, progress).await?,
            }
            // Planner and tools may all answer at once; the time budget needs a moment to strike.
            tokio::task::yield_now().await;
        }
    }

    async fn ask(&self, history: &[StepRecord]) -> Result<Step, ToolFailure> {
        let turn = Turn {
            agent: self.agent.spec,
            input: &self.input,
            answers: self.answers,
            scope: &self.scope,
            run_id: &self.id,
            history,
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

    async fn make(&self, calls: Vec<ToolCall>, progress: &mut Progress) -> Result<(), ToolFailure> {
        if calls.is_empty() {
            // Asking the same question again would get the same answer, for ever.
            return Err(self.internal("the planner returned a step without calls"));
        }
        progress.ledger.open_step()?;
        let tickets = calls.into_iter().map(|call| self.admit(call, progress)).collect();
        let exchanges = batch::run_all(&self.publisher, tickets, self.one_at_a_time).await;
        let verdict = progress.ledger.close_step(&exchanges);
        progress.steps.push(StepRecord { exchanges });
        verdict
    }

    fn admit(&self, call: ToolCall, progress: &mut Progress) -> Ticket {
        let scope = self.scope_of(&call);
        let call = call.with_scope(scope);
        let spec = self.agent.spec.tool(call.tool());
        if let Err(denied) = progress.ledger.take_call() {
            return Ticket::refused(call, spec, denied);
        }
        if !progress.call_ids.insert(call.id().to_owned()) {
            let failure = repeated(&call);
            return Ticket::refused(call, spec, failure);
        }
        if let Some(tool) = spec.and_then(|spec| self.runtime.registry.tool(spec.name())) {
            return Ticket::admitted(&call, tool);
        }
        let known = advertised(self.agent.spec.tools).map(ToolSpec::name);
        let failure = ToolFailure::not_found(call.tool(), known);
        Ticket::refused(call, None, failure)
    }

    /// The run's scope, with what the planner may add: a parent call of its own choice, labels that
    /// do not contradict the run's.
    fn scope_of(&self, call: &ToolCall) -> Scope {
        let mut scope = self.scope.clone();
        if let Some(parent) = call.parent_call_id() {
            scope.parent_call_id = Some(parent.to_owned());
        }
        for (key, value) in &call.scope().labels {
            scope.labels.entry(key.clone()).or_insert_with(|| value.clone());
        }
        scope
    }

    /// The end of a run that answers a call must be a result of that call's tool.
    fn accept(&self, payload: Payload) -> Result<Payload, ToolFailure> {
        match self.answers.map(|spec| (spec, spec.check_result(payload.as_bytes()))) {
            Some((spec, Err(issues))) => Err(ToolFailure::malformed_result(spec, &issues)),
            _ => Ok(payload),
        }
    }

    fn planner_failed(&self, error: BoxError) -> ToolFailure {
        match error.downcast::<ToolFailure>() {
            Ok(failure) => *failure,
            Err(error) => {
                ToolFailure { message: self.planner_message(), ..ToolFailure::internal(&*error) }
            }
        }
    }

    fn planner_message(&self) -> String {
        format!("agent `{}` could not go on", self.agent.spec.name)
    }

    fn internal(&self, detail: &str) -> ToolFailure {
        ToolFailure::new(FailureKind::Internal, self.planner_message(), Recovery::Replan)
            .with_detail(detail)
    }

    fn out_of_time(&self, budget: Duration) -> ToolFailure {
        let message =
            format!("agent `{}` took longer than its budget of {budget:?}", self.agent.spec.name);
        ToolFailure::new(FailureKind::Timeout, message, Recovery::Replan)
    }
}

fn repeated(call: &ToolCall) -> ToolFailure {
    let message = format!("call id `{}` was used before in this run; use a new one", call.id());
    ToolFailure::new(FailureKind::InvalidCall, message, Recovery::correct(call))
}

/// A run that was announced and whose end is owed.
struct Started<'a> {
    publisher: &'a Publisher,
    watch: Stopwatch,
    closed: bool,
}

impl<'a> Started<'a> {
    fn announce(run: &'a Run) -> Self {
        run.publisher
            .publish(|| EventKind::RunStarted { input: run.input.clone(), answers: run.answers });
        Self { publisher: &run.publisher, watch: Stopwatch::start(), closed: false }
    }

    fn close(mut self, result: &Result<Payload, ToolFailure>) {
        self.closed = true;
        self.publish(result);
    }

    fn publish(&self, result: &Result<Payload, ToolFailure>) {
        self.publisher.publish(|| EventKind::RunFinished {
            result: result.clone(),
            duration: self.watch.elapsed(),
        });
    }
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        if !self.closed {
            self.publish(&Err(cancelled("the run")));
        }
    }
}
