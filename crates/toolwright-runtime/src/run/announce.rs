//! Publishes the events for the start and the end of runs and calls: exactly one end for each start.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolwright::{Outcome, Payload, ToolCall, ToolFailure};

use super::Run;
use super::call::{CallState, PendingCall, cancelled};
use super::end::End;
use super::environment::Environment;
use super::state::{RunState, SavedCall};
use crate::agent::StepRecord;
use crate::tools::ToolEntry;
use crate::watch::{EventKind, Publisher, ToolInfo};

/// A run whose start was published. If it is dropped before it is closed, it publishes that the run was cancelled.
pub(super) struct OpenRun<'a> {
    publisher: &'a Publisher,
    since: Instant,
    is_open: bool,
}

impl<'a> OpenRun<'a> {
    /// Publishes the start of a run.
    pub(super) fn start(run: &'a Run, is_resumed: bool) -> Self {
        run.publisher.publish(|| {
            if is_resumed {
                return EventKind::RunResumed;
            }
            EventKind::RunStarted { input: run.input.clone(), implements: run.implements.clone() }
        });
        Self { publisher: &run.publisher, since: Instant::now(), is_open: true }
    }

    /// Publishes the end of the run, or that it is suspended.
    pub(super) fn close(mut self, end: &End) {
        self.is_open = false;
        match end {
            End::Finished(payload) => self.publish(Ok(payload.clone())),
            End::Failed(failure) => self.publish(Err(failure.clone())),
            End::Suspended(state) => self.publisher.publish(|| EventKind::RunSuspended {
                waiting: state.questions().iter().map(|request| request.call_id.clone()).collect(),
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
        if self.is_open {
            self.publish(Err(cancelled("the run")));
        }
    }
}

/// A call whose start was published. If it is dropped before it is closed, it publishes that the call was cancelled.
pub(super) struct OpenCall<'a> {
    publisher: &'a Publisher,
    call: &'a ToolCall,
    tool: Option<&'a ToolEntry>,
    since: Instant,
    is_open: bool,
}

impl<'a> OpenCall<'a> {
    /// Publishes the start of a call.
    pub(super) fn start(
        publisher: &'a Publisher,
        call: &'a ToolCall,
        tool: Option<&'a ToolEntry>,
    ) -> Self {
        publisher.publish(|| EventKind::ToolCallScheduled {
            call: call.clone(),
            tool: ToolInfo::new(call.tool(), tool),
        });
        Self::started(publisher, call, tool)
    }

    /// Creates it for a call whose start was published before its run was suspended.
    pub(super) fn started(
        publisher: &'a Publisher,
        call: &'a ToolCall,
        tool: Option<&'a ToolEntry>,
    ) -> Self {
        Self { publisher, call, tool, since: Instant::now(), is_open: true }
    }

    /// Publishes the end of the call and returns its state. If an agent's run is suspended, the end is published after that
    /// run is resumed.
    pub(super) fn close_with(mut self, end: End) -> CallState {
        match end.into_outcome() {
            Ok(outcome) => {
                self.close(&outcome);
                CallState::Done(outcome)
            }
            Err(run) => {
                self.is_open = false;
                CallState::Suspended(run)
            }
        }
    }

    /// Publishes the end of the call.
    pub(super) fn close(mut self, outcome: &Outcome) {
        self.is_open = false;
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
        if self.is_open {
            self.publish(&Err(cancelled("the call")));
        }
    }
}

/// The calls of the step of a suspended run. If it is dropped before they are resumed, it publishes that they were cancelled.
pub(super) struct WaitingCalls<'a> {
    pub(super) environment: &'a Environment,
    pub(super) publisher: &'a Publisher,
    pub(super) calls: Vec<SavedCall>,
    /// The step, in which the calls that have no result were cancelled.
    pub(super) record: StepRecord,
}

impl WaitingCalls<'_> {
    /// Returns the note of the step, after its calls were resumed.
    pub(super) fn resume(mut self) -> Option<Payload> {
        self.calls.clear();
        self.record.note.take()
    }

    /// Returns the step, with cancelled calls.
    pub(super) fn cancel(mut self) -> StepRecord {
        mem::take(&mut self.record)
    }
}

impl Drop for WaitingCalls<'_> {
    fn drop(&mut self) {
        self.environment.publish_cancelled(self.publisher, &self.calls);
    }
}

impl Environment {
    /// Publishes that a suspended run has failed, and that its suspended child runs were cancelled.
    pub(super) fn publish_failed(&self, run: &RunState, failure: &ToolFailure) {
        let agent = Some(run.agent.as_str().into());
        let publisher = self.publisher(agent, Arc::new(run.scope.clone().into()), None);
        self.publish_cancelled(&publisher, &run.step);
        let duration = Duration::from_millis(run.elapsed);
        publisher.publish(|| EventKind::RunFinished { result: Err(failure.clone()), duration });
    }

    /// Publishes that a call was cancelled, if an agent runs it and the agent's run is suspended.
    pub(super) fn cancel_suspended(&self, publisher: &Publisher, pending: &PendingCall) {
        if let CallState::Suspended(run) = &pending.state {
            self.publish_failed(run, &cancelled("the run"));
            OpenCall::started(publisher, &pending.call, pending.tool.as_ref())
                .close(&Err(cancelled("the call")));
        }
    }

    /// Publishes that the calls of a step whose agents' runs are suspended were cancelled.
    fn publish_cancelled(&self, publisher: &Publisher, step: &[SavedCall]) {
        for saved in step {
            if let SavedCall::Suspended { call, run } = saved {
                self.publish_failed(run, &cancelled("the run"));
                let call = call.clone().into();
                OpenCall::started(publisher, &call, None).close(&Err(cancelled("the call")));
            }
        }
    }
}
