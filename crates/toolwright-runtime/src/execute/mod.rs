//! Runs a call's tool by a `tower` service, and provides layers for that service. `run::dispatch` does everything else: it
//! checks payloads, runs hooks and publishes events.

mod blocking;
mod driver;
mod occupied;
mod output_cap;
mod rate_limit;
mod retry;
mod task;
mod timeout;
mod tool_service;
mod wrap_failure;

use crate::debug::debug;
use std::convert::Infallible;
use std::sync::Arc;

use tokio::sync::Semaphore;
use toolwright::{BoxFuture, Outcome, ToolCall};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

use crate::tools::{ToolEntry, Toolset};
use crate::watch::Publisher;

pub(crate) use blocking::CallThreads;
use blocking::DEFAULT_THREADS;
pub use blocking::blocking;
#[cfg(all(feature = "remote", unix))]
pub(crate) use driver::DriverGuard;
pub use occupied::occupied_threads;
pub use output_cap::OutputCap;
pub use rate_limit::RateLimit;
pub use retry::Retry;
pub use timeout::Timeout;
pub(crate) use timeout::timed_out;
use tool_service::ToolService;
pub use wrap_failure::WrapFailure;

/// The request of the service: a call and its tool. Cheap to clone.
#[derive(Clone)]
pub struct Invocation {
    call: Arc<ToolCall>,
    tool: ToolEntry,
    toolset: Arc<dyn Toolset>,
    publisher: Publisher,
    blocking: Arc<CallThreads>,
}

impl Invocation {
    /// Returns the call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns the tool that is called.
    pub fn tool(&self) -> &ToolEntry {
        &self.tool
    }
}

/// A failure of the tool is an [`Outcome`], so that the service has no error.
type OutcomeFuture = BoxFuture<'static, Result<Outcome, Infallible>>;

/// The service that runs the calls of a runtime, with its layers. A call that an agent implements
/// does not pass through it; the calls of that agent's run do.
#[derive(Clone)]
pub struct ExecutionService {
    service: BoxCloneSyncService<Invocation, Outcome, Infallible>,
    /// A permit for each thread that blocking work may occupy.
    blocking: Arc<Semaphore>,
}

debug!(Invocation, invocation => { call: invocation.call, tool: invocation.tool });

debug!(ExecutionService, _execute => {});

impl ExecutionService {
    /// Creates the service with a layer, or with a stack of layers made by [`tower::ServiceBuilder`]. Any layer whose service
    /// keeps the error type can be used, such as tower's concurrency limits.
    ///
    /// Panics of tools are caught with any layers. The result of a [`FunctionTool`](crate::FunctionTool) is not checked after
    /// the layers, so that a layer that returns a result of its own must return a valid one.
    pub fn new<L>(layer: L) -> Self
    where
        L: Layer<ToolService>,
        L::Service: Service<Invocation, Response = Outcome, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        <L::Service as Service<Invocation>>::Future: Send + 'static,
    {
        let service = BoxCloneSyncService::new(layer.layer(ToolService));
        Self { service, blocking: Arc::clone(&DEFAULT_THREADS) }
    }

    /// Sets how many threads [`blocking`] work of these calls may use at once, at least one. The default is 256, shared with
    /// all other `ExecutionService`s that have the default. Set fewer than tokio's `max_blocking_threads` (512 by default), since file
    /// access and name resolution use these threads, too.
    #[must_use]
    pub fn with_blocking_threads(mut self, threads: usize) -> Self {
        self.blocking = Arc::new(Semaphore::new(threads.clamp(1, Semaphore::MAX_PERMITS)));
        self
    }

    pub(crate) async fn run(
        &self,
        call: Arc<ToolCall>,
        tool: ToolEntry,
        toolset: Arc<dyn Toolset>,
        publisher: Publisher,
    ) -> Outcome {
        let blocking = Arc::new(CallThreads::new(&self.blocking));
        let invocation = Invocation { call, tool, toolset, publisher, blocking };
        match self.service.clone().oneshot(invocation).await {
            Ok(outcome) => outcome,
            Err(never) => match never {},
        }
    }
}

impl Default for ExecutionService {
    /// Makes as many attempts as the tool's spec allows, each with the time limit of the spec or [`Timeout::DEFAULT`].
    fn default() -> Self {
        let layers = ServiceBuilder::new()
            .layer(tower::retry::RetryLayer::new(Retry::new().with_attempts(1)))
            .layer(Timeout::new(Timeout::DEFAULT));
        Self::new(layers.into_inner())
    }
}
