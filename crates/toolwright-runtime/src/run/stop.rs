//! What ends a run from outside: its time, or its host. Never ends one by itself.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolwright::{FailureKind, Recovery, ToolFailure};

use super::call::cancelled;

/// How long a run waits for its toolsets to exit after its end.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a run listens to while it works.
#[derive(Clone)]
pub(crate) struct Stop {
    agent: String,
    deadline: Option<(Instant, Duration)>,
    cancelled: CancellationToken,
}

impl Stop {
    /// The end of a run that has run for some time already.
    pub(crate) fn new(
        agent: &str,
        budget: Option<Duration>,
        elapsed: Duration,
        cancelled: CancellationToken,
    ) -> Self {
        // A budget whose end is beyond the clock never ends.
        let deadline = budget.and_then(|budget| {
            Some((Instant::now().checked_add(budget.saturating_sub(elapsed))?, budget))
        });
        Self { agent: agent.to_owned(), deadline, cancelled }
    }

    /// Waits for the end, and says why it came.
    pub(crate) async fn reached(&self) -> ToolFailure {
        let out_of_time = async {
            match self.deadline {
                Some((deadline, budget)) => {
                    tokio::time::sleep_until(deadline).await;
                    budget
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => cancelled("the run"),
            budget = out_of_time => self.out_of_time(budget),
        }
    }

    /// Works until the end comes; the work may fail before.
    pub(crate) async fn unless_reached<T>(
        &self,
        work: impl Future<Output = Result<T, ToolFailure>>,
    ) -> Result<T, ToolFailure> {
        tokio::select! {
            biased;
            why = self.reached() => Err(why),
            done = work => done,
        }
    }

    /// Waits for work that should complete even after the end, but not forever.
    pub(crate) async fn unless_long_reached(&self, work: impl Future<Output = ()>) {
        let long_reached = async {
            self.reached().await;
            tokio::time::sleep(PATIENCE).await;
        };
        tokio::select! {
            biased;
            () = work => {}
            () = long_reached => {
                tracing::warn!(agent = self.agent, "a run has ended before its toolsets have exited");
            }
        }
    }

    fn out_of_time(&self, budget: Duration) -> ToolFailure {
        let message = format!("agent `{}` took longer than its budget of {budget:?}", self.agent);
        ToolFailure::new(FailureKind::Timeout, message, Recovery::Replan)
    }
}
