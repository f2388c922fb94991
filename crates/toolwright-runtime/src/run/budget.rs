//! Keeps count of what a run has used of its [`Policy`]. Never stops anything itself: see `run`.

use toolwright::{FailureKind, Recovery, ToolFailure};

use crate::agent::Exchange;
use crate::agent::Policy;

/// What a run has used so far.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    policy: Policy,
    pub(crate) calls: u32,
    pub(crate) denied: bool,
    pub(crate) failures_in_a_row: u32,
}

impl Budget {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { policy, calls: 0, denied: false, failures_in_a_row: 0 }
    }

    /// Checks that a step of calls may still be asked for.
    ///
    /// # Errors
    ///
    /// A step was denied before, and the planner was told. This ends the run.
    pub(crate) fn check_open(&self) -> Result<(), ToolFailure> {
        if self.denied {
            return Err(self.out_of_calls("the run asked for more calls than"));
        }
        Ok(())
    }

    /// Takes a step of calls into account before any of them runs, all or none.
    ///
    /// # Errors
    ///
    /// The calls do not all fit. Each of them is denied, and the run goes on.
    pub(crate) fn take(&mut self, calls: usize) -> Result<(), ToolFailure> {
        let wanted =
            u32::try_from(calls).map_or(u32::MAX, |calls| self.calls.saturating_add(calls));
        if let Some(limit) = self.policy.max_tool_calls.filter(|limit| wanted > *limit) {
            self.denied = true;
            let left = limit.saturating_sub(self.calls);
            let what = format!("none of the {calls} calls was made: the run has {left} left of");
            return Err(self.out_of_calls(&what));
        }
        self.calls = wanted;
        Ok(())
    }

    /// Takes a step's results into account, in call order.
    pub(crate) fn close_step(&mut self, done: &[Exchange]) -> Result<(), ToolFailure> {
        for exchange in done {
            match &exchange.result.outcome {
                Ok(_) => self.failures_in_a_row = 0,
                Err(failure) => self.take_failure(failure)?,
            }
        }
        Ok(())
    }

    fn take_failure(&mut self, failure: &ToolFailure) -> Result<(), ToolFailure> {
        self.failures_in_a_row += 1;
        match self.policy.max_consecutive_failures {
            Some(limit) if self.failures_in_a_row >= limit => {
                Err(too_many_failures(limit, failure))
            }
            _ => Ok(()),
        }
    }

    fn out_of_calls(&self, what: &str) -> ToolFailure {
        let limit = self.policy.max_tool_calls.unwrap_or(u32::MAX);
        let message = format!("{what} its {limit} tool calls; finish with what is known");
        ToolFailure::new(FailureKind::Denied, message, Recovery::Finish)
    }
}

fn too_many_failures(limit: u32, last: &ToolFailure) -> ToolFailure {
    let message =
        format!("the run was ended after {limit} failed calls in a row, the last: {last}");
    let ended = ToolFailure::new(FailureKind::Denied, message, Recovery::Replan);
    match &last.detail {
        Some(detail) => ended.with_detail(detail.clone()),
        None => ended,
    }
}
