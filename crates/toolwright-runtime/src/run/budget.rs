//! Counts the calls and failures of a run against the limits of its [`Policy`].

use toolwright::{FailureKind, Recovery, ToolFailure};

use crate::agent::CallRecord;
use crate::agent::Policy;

/// The calls and failures of a run so far.
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

    /// Checks that the planner may still ask for calls.
    ///
    /// # Errors
    ///
    /// An earlier step exceeded the limit. The failure ends the run.
    pub(crate) fn check_not_denied(&self) -> Result<(), ToolFailure> {
        if self.denied {
            return Err(self.out_of_calls("the run asked for more calls than"));
        }
        Ok(())
    }

    /// Counts the calls of a step before any of them runs.
    ///
    /// # Errors
    ///
    /// The calls exceed the limit. Then none is counted, all of them are denied, and the run continues.
    pub(crate) fn count_calls(&mut self, calls: usize) -> Result<(), ToolFailure> {
        let wanted =
            u32::try_from(calls).map_or(u32::MAX, |calls| self.calls.saturating_add(calls));
        if let Some(limit) = self.policy.max_tool_calls.filter(|limit| wanted > *limit) {
            self.denied = true;
            let left = limit.saturating_sub(self.calls);
            let reason = format!("none of the {calls} calls was made: the run has {left} left of");
            return Err(self.out_of_calls(&reason));
        }
        self.calls = wanted;
        Ok(())
    }

    /// Counts the consecutive failures after a step, in call order.
    ///
    /// # Errors
    ///
    /// There are too many. The failure ends the run.
    pub(crate) fn count_failures(&mut self, step: &[CallRecord]) -> Result<(), ToolFailure> {
        for record in step {
            match &record.result.outcome {
                Ok(_) => self.failures_in_a_row = 0,
                Err(failure) => self.count_failure(failure)?,
            }
        }
        Ok(())
    }

    fn count_failure(&mut self, failure: &ToolFailure) -> Result<(), ToolFailure> {
        self.failures_in_a_row += 1;
        match self.policy.max_consecutive_failures {
            Some(limit) if self.failures_in_a_row >= limit => {
                Err(too_many_failures(limit, failure))
            }
            _ => Ok(()),
        }
    }

    fn out_of_calls(&self, reason: &str) -> ToolFailure {
        let limit = self.policy.max_tool_calls.unwrap_or(u32::MAX);
        let message = format!("{reason} its {limit} tool calls; finish with what is known");
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
