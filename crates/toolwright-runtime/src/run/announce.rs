//! The announced starts of runs and calls, each of which is followed by one end. Never runs anything.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolwright::{Outcome, ToolCall, ToolFailure};

use super::Run;
use super::call::{CallState, cancelled};
use super::end::End;
use super::environment::Environment;
use super::state::{RunState, SavedCall};
use crate::tools::ToolEntry;
use crate::watch::{EventKind, Publisher, ToolInfo};

/// A run that was announced and whose end is owed.
pub(super) struct OpenRun<'a> {
    publisher: &'a Publisher,
    since: Instant,
    owed: bool,
}

impl<'a> OpenRun<'a> {
    pub(super) fn announce(run: &'a Run, is_resumed: bool) -> Self {
        run.publisher.publish(|| {
            if is_resumed {
                return EventKind::RunResumed;
            }
            EventKind::RunStarted { input: run.input.clone(), implements: run.implements.clone() }
        });
        Self { publisher: &run.publisher, since: Instant::now(), owed: true }
    }

    pub(super) fn close(mut self, end: &End) {
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

/// A call that was announced and whose end is owed.
pub(super) struct OpenCall<'a> {
    publisher: &'a Publisher,
    call: &'a ToolCall,
    tool: Option<&'a ToolEntry>,
    since: Instant,
    owed: bool,
}

impl<'a> OpenCall<'a> {
    pub(super) fn announce(
        publisher: &'a Publisher,
        call: &'a ToolCall,
        tool: Option<&'a ToolEntry>,
    ) -> Self {
        publisher.publish(|| EventKind::ToolCallScheduled {
            call: call.clone(),
            tool: ToolInfo::new(call.tool(), tool),
        });
        Self::announced(publisher, call, tool)
    }

    /// A call that was announced before its run was suspended.
    pub(super) fn announced(
        publisher: &'a Publisher,
        call: &'a ToolCall,
        tool: Option<&'a ToolEntry>,
    ) -> Self {
        Self { publisher, call, tool, since: Instant::now(), owed: true }
    }

    /// Announces the end; of a run that waits it comes after that is resumed.
    pub(super) fn reach(mut self, end: End) -> CallState {
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

    pub(super) fn close(mut self, outcome: &Outcome) {
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

impl Environment {
    /// Announces that a suspended run has failed, and with it the runs of agents that it waits for.
    pub(super) fn abandon(&self, run: &RunState, failure: &ToolFailure) {
        let agent = Some(run.agent.as_str().into());
        let publisher = self.publisher(agent, Arc::new(run.scope.clone().into()), None);
        for saved in &run.step {
            if let SavedCall::Suspended { call, run } = saved {
                self.abandon(run, &cancelled("the run"));
                let call = call.clone().into();
                OpenCall::announced(&publisher, &call, None).close(&Err(cancelled("the call")));
            }
        }
        let duration = Duration::from_millis(run.elapsed);
        publisher.publish(|| EventKind::RunFinished { result: Err(failure.clone()), duration });
    }
}
