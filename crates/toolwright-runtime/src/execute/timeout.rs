//! An end to tools that take too long, also to those that block. Never tries again.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use toolwright::{FailureKind, Outcome, Recovery, ToolFailure};
use tower::{Layer, Service};

use super::blocking::CallShare;
use super::task::CallTask;
use super::{Invocation, OutcomeFuture};
use crate::tools::ToolEntry;

/// Gives up a call after its tool's own time limit, or after a default.
///
/// On a tokio runtime of several threads a call runs on a task of its own, so that the limit strikes where the tool blocks
/// its thread, too. That thread is lost until the tool returns, which
/// [`occupied_threads`](super::occupied_threads) counts: tools that are known to block belong into
/// [`blocking`](super::blocking), where limits strike on one thread as well. Layers under this one run on the task
/// of the call, those over it do not.
#[derive(Clone, Copy, Debug)]
pub struct Timeout(Duration);

/// The service of [`Timeout`].
#[derive(Clone, Debug)]
pub struct TimeoutService<S> {
    inner: S,
    default: Duration,
}

impl Timeout {
    /// How long a tool may take that says nothing itself, unless the host does: half a minute.
    pub const DEFAULT: Duration = Duration::from_secs(30);

    /// With this limit for tools that have none of their own.
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
                // Nobody could notice while the only thread is blocked.
                RuntimeFlavor::CurrentThread => within(limit, running, &tool, &blocking).await,
                _ => {
                    within(limit, CallTask::spawn(tokio, Box::pin(running)), &tool, &blocking).await
                }
            }
        })
    }
}

/// Runs a call until its limit, and tells a call that waited for a thread from one that took too long.
async fn within(
    limit: Duration,
    running: impl Future<Output = Result<Outcome, Infallible>>,
    tool: &ToolEntry,
    blocking: &CallShare,
) -> Result<Outcome, Infallible> {
    let mut running = pin!(running);
    match tokio::time::timeout(limit, &mut running).await {
        Ok(ended) => ended,
        // Checked before the call is dropped, which ends its waiting.
        Err(_) if blocking.waits() => Ok(Err(no_thread(tool, limit))),
        Err(_) => Ok(Err(timed_out(tool, limit))),
    }
}

/// The failure of a call that did not begin in time, since tools that block had taken all threads for that.
fn no_thread(tool: &ToolEntry, limit: Duration) -> ToolFailure {
    let message = format!("`{}` is too busy now, and did not begin within {limit:?}", tool.name());
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Retry).with_detail(
        "all threads for tools that block are taken; see `Execute::with_blocking_threads`",
    )
}

/// What is left of an attempt that took too long.
pub(crate) fn timed_out(tool: &ToolEntry, limit: Duration) -> ToolFailure {
    let message = format!("`{}` took longer than its limit of {limit:?}", tool.name());
    ToolFailure::new(FailureKind::Timeout, message, Recovery::Retry)
}
