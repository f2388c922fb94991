//! The step that runs a tool: a `tower` service, and layers for it. Never checks a payload, runs a hook or publishes
//! the start and end of a call: that is the run's.

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

pub use blocking::blocking;
use blocking::{CallShare, SHARED};
#[cfg(all(feature = "remote", unix))]
pub(crate) use driver::Attended;
pub use occupied::occupied_threads;
pub use output_cap::OutputCap;
pub use rate_limit::RateLimit;
pub use retry::Retry;
pub use timeout::Timeout;
pub(crate) use timeout::timed_out;
use tool_service::ToolService;
pub(crate) use tool_service::panicked;
pub use wrap_failure::WrapFailure;

/// A call on its way to its tool. Cheap to clone.
#[derive(Clone)]
pub struct Invocation {
    call: Arc<ToolCall>,
    tool: ToolEntry,
    toolset: Arc<dyn Toolset>,
    publisher: Publisher,
    blocking: Arc<CallShare>,
}

impl Invocation {
    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The tool it asks for.
    pub fn tool(&self) -> &ToolEntry {
        &self.tool
    }
}

/// Failures are values, so there is no error.
type OutcomeFuture = BoxFuture<'static, Result<Outcome, Infallible>>;

/// What runs the calls of a runtime. A call that an agent answers is a run of its own, whose calls go through it.
#[derive(Clone)]
pub struct Execute {
    service: BoxCloneSyncService<Invocation, Outcome, Infallible>,
    /// A permit for each thread that blocking work may occupy.
    blocking: Arc<Semaphore>,
}

debug!(Invocation, invocation => { call: invocation.call, tool: invocation.tool });

debug!(Execute, _execute => {});

impl Execute {
    /// Calls go through a layer, or a stack of them made with [`tower::ServiceBuilder`], to their toolset. Any layer
    /// whose service keeps the error type fits, tower's own concurrency limits among them.
    ///
    /// Panics are caught whatever the layers are. A layer that answers in a tool's place answers for its result too:
    /// what a [`FunctionTool`](crate::FunctionTool) returned has gone through its codec and is not read again.
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
        Self { service, blocking: Arc::clone(&SHARED) }
    }

    /// Sets how many threads [`blocking`] work of these calls may occupy at once, at least one. Otherwise it is 256, together
    /// with all others that have no number of their own. Fewer than tokio's `max_blocking_threads` (512 unless set), which
    /// files and names of hosts need too.
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
        let blocking = Arc::new(CallShare::new(&self.blocking));
        let invocation = Invocation { call, tool, toolset, publisher, blocking };
        match self.service.clone().oneshot(invocation).await {
            Ok(outcome) => outcome,
            Err(never) => match never {},
        }
    }
}

impl Default for Execute {
    /// Each attempt within the tool's own time or [`Timeout::DEFAULT`], and as many attempts as the tool asks for.
    fn default() -> Self {
        let layers = ServiceBuilder::new()
            .layer(tower::retry::RetryLayer::new(Retry::new().with_attempts(1)))
            .layer(Timeout::new(Timeout::DEFAULT));
        Self::new(layers.into_inner())
    }
}
