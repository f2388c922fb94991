//! Stops a run when its time budget is used up, its host cancels it or its session is stopped.

use std::future::pending;
use std::time::Duration;

use futures_util::future::select_all;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolwright::{FailureKind, Recovery, ToolFailure};

use super::call::cancelled;

/// How long a stopped run waits for its toolsets to exit.
const EXIT_GRACE: Duration = Duration::from_secs(1);

/// How long after the stop of a run the calls and runs go on that its tools started. The run drops its own calls at once, and with them
/// those that the tools wait for. So none of these calls ends by the stop, and no such end is in a journal.
const DROP_GRACE: Duration = Duration::from_secs(1);

/// The deadline of a run, and its cancellation.
#[derive(Clone)]
pub(crate) struct Stop {
    agent: String,
    deadline: Option<(Instant, Duration)>,
    /// By its host, and by each of its sessions.
    cancelled: Vec<CancellationToken>,
    /// The stops of the runs that make the call for which the run was started. Theirs are empty.
    outer: Vec<Self>,
}

impl Stop {
    /// `elapsed` is the time that the run took before it was resumed.
    pub(crate) fn new(
        agent: &str,
        budget: Option<Duration>,
        elapsed: Duration,
        cancelled: impl IntoIterator<Item = CancellationToken>,
    ) -> Self {
        // A deadline that an `Instant` cannot hold is no deadline.
        let deadline = budget.and_then(|budget| {
            Some((Instant::now().checked_add(budget.saturating_sub(elapsed))?, budget))
        });
        let cancelled = cancelled.into_iter().collect();
        Self { agent: agent.to_owned(), deadline, cancelled, outer: Vec::new() }
    }

    /// Makes it also come with the stops of all runs that make the call for which the run is started.
    pub(crate) fn within(mut self, outer: &[Self]) -> Self {
        self.outer = outer.iter().map(|stop| Self { outer: Vec::new(), ..stop.clone() }).collect();
        self
    }

    /// Returns when the time budget of the run is used up.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline.map(|(deadline, _)| deadline)
    }

    /// Returns whether the run must stop now.
    pub(crate) fn has_come(&self) -> bool {
        self.cancelled.iter().any(CancellationToken::is_cancelled)
            || self.deadline().is_some_and(|deadline| Instant::now() >= deadline)
            || self.outer.iter().any(Self::has_come)
    }

    /// Waits until the run must stop, and returns the failure that stops it. An outer run first has the time to drop the run.
    pub(crate) async fn stopped(&self) -> ToolFailure {
        tokio::select! {
            biased;
            failure = self.stopped_itself() => failure,
            () = Self::any_dropped(&self.outer) => cancelled("the run"),
        }
    }

    /// Waits until one of these runs was stopped and has dropped its calls.
    pub(crate) async fn any_dropped(runs: &[Self]) {
        if runs.is_empty() {
            return pending().await;
        }
        select_all(runs.iter().map(|stop| Box::pin(stop.stopped_itself()))).await;
        tokio::time::sleep(DROP_GRACE).await;
    }

    async fn stopped_itself(&self) -> ToolFailure {
        let out_of_time = async {
            match self.deadline {
                Some((deadline, budget)) => {
                    // The timer of tokio is up to a millisecond late.
                    if Instant::now() < deadline {
                        tokio::time::sleep_until(deadline).await;
                    }
                    budget
                }
                None => pending().await,
            }
        };
        let by_any = self.cancelled.iter().map(|token| Box::pin(token.cancelled()));
        tokio::select! {
            biased;
            _ = select_all(by_any) => cancelled("the run"),
            budget = out_of_time => self.out_of_time(budget),
        }
    }

    /// Runs a future, and drops it if the run must stop first.
    pub(crate) async fn run_until<T>(
        &self,
        work: impl Future<Output = Result<T, ToolFailure>>,
    ) -> Result<T, ToolFailure> {
        tokio::select! {
            biased;
            failure = self.stopped() => Err(failure),
            done = work => done,
        }
    }

    /// Runs a future that may continue for a short time after the run must stop.
    pub(crate) async fn run_with_grace(&self, work: impl Future<Output = ()>) {
        let grace_ended = async {
            self.stopped().await;
            tokio::time::sleep(EXIT_GRACE).await;
        };
        tokio::select! {
            biased;
            () = work => {}
            () = grace_ended => {
                tracing::warn!(agent = self.agent, "a run ended before its toolsets had exited");
            }
        }
    }

    fn out_of_time(&self, budget: Duration) -> ToolFailure {
        let message = format!("agent `{}` took longer than its budget of {budget:?}", self.agent);
        ToolFailure::new(FailureKind::Timeout, message, Recovery::Replan)
    }
}
