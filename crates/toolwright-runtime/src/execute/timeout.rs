//! A layer with a time limit for calls, which also applies to tools that block.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use toolwright::{FailureKind, Outcome, Recovery, ToolFailure};
use tower::{Layer, Service};

use super::blocking::CallThreads;
use super::task::CallTask;
use super::{Invocation, OutcomeFuture};
use crate::tools::ToolEntry;

/// Cancels a call after the time limit of its tool's spec, or after a default.
///
/// On a multi-threaded tokio runtime each call runs on a task of its own, so that the limit also applies to a tool that
/// blocks its thread. That thread is lost until the tool returns; [`occupied_threads`](super::occupied_threads) counts such
/// threads. Tools that are known to block should use [`blocking`](super::blocking), for which the limit also applies on a
/// single-threaded runtime. Layers inside this one run on the task of the call, those outside of it do not.
#[derive(Clone, Copy, Debug)]
pub struct Timeout(Duration);

/// The service of [`Timeout`].
#[derive(Clone, Debug)]
pub struct TimeoutService<S> {
    inner: S,
    default: Duration,
}

impl Timeout {
    /// The default time limit of [`ExecutionService`](super::ExecutionService): 30 seconds.
    pub const DEFAULT: Duration = Duration::from_secs(30);

    /// Creates the layer with a limit for tools whose spec has none.
    pub fn new(default: Duration) -> Self {
        Self(default)
    }
}

impl<S> Layer<S> for Timeout {
    type Service = TimeoutService<S>;

    fn layer(&self, inner: S) -> TimeoutService<S> {
        TimeoutService { inner, default: self.0 }
    }
}

impl<S> Service<Invocation> for TimeoutService<S>
where
    S: Service<Invocation, Response = Outcome, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Outcome;
    type Error = Infallible;
    type Future = OutcomeFuture;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, invocation: Invocation) -> OutcomeFuture {
        let limit = invocation.tool().spec().limits().timeout.unwrap_or(self.default);
        let tool = invocation.tool().clone();
        let blocking = Arc::clone(&invocation.blocking);
        let running = self.inner.call(invocation);
        Box::pin(async move {
            let tokio = Handle::current();
            match tokio.runtime_flavor() {
                // A task of its own does not help if the only thread is blocked.
                RuntimeFlavor::CurrentThread => within(limit, running, &tool, &blocking).await,
                _ => {
                    within(limit, CallTask::spawn(tokio, Box::pin(running)), &tool, &blocking).await
                }
            }
        })
    }
}

/// Runs a call until its limit. A call that waited for its first thread fails as unavailable if its tool may run again, any other as
/// timed out: it may have changed something before it waited.
async fn within(
    limit: Duration,
    running: impl Future<Output = Result<Outcome, Infallible>>,
    tool: &ToolEntry,
    blocking: &CallThreads,
) -> Result<Outcome, Infallible> {
    let mut running = pin!(running);
    match tokio::time::timeout(limit, &mut running).await {
        Ok(ended) => ended,
        // Checked here, as dropping the call ends its waiting.
        Err(_) if blocking.is_waiting_to_begin() && tool.may_run_again() => {
            Ok(Err(no_thread(tool, limit)))
        }
        Err(_) => Ok(Err(timed_out(tool, limit))),
    }
}

/// The failure of a call that did not begin in time because all threads for blocking work were in use.
fn no_thread(tool: &ToolEntry, limit: Duration) -> ToolFailure {
    let message = format!("`{}` is busy and did not begin within {limit:?}", tool.name());
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Retry).with_detail(
        "all threads for blocking work are in use; see `ExecutionService::with_blocking_threads`",
    )
}

/// The failure of an attempt that took too long. Only a tool that is read-only or idempotent can be called again.
pub(crate) fn timed_out(tool: &ToolEntry, limit: Duration) -> ToolFailure {
    let message = format!("`{}` took longer than its limit of {limit:?}", tool.name());
    ToolFailure::new(FailureKind::Timeout, message, Recovery::Retry)
        .with_possible_effect(tool.spec().annotations())
}
