//! The step that runs a tool: a `tower` service, and layers for it. Never checks a payload, runs a hook or publishes
//! the start and end of a call: see `dispatch`.

mod catch_panic;
mod output_cap;
mod rate_limit;
mod retry;
mod timeout;
mod wrap_failure;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use toolwright::{Outcome, ToolCall};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

use crate::tools::{ToolEntry, Toolset};
use crate::watch::Publisher;

pub(crate) use catch_panic::panicked;
pub use catch_panic::{CatchPanic, CatchPanicLayer};
pub use output_cap::{OutputCap, OutputCapLayer};
pub use rate_limit::{RateLimit, RateLimitLayer};
pub use retry::{Backoff, Retry};
pub(crate) use timeout::timed_out;
pub use timeout::{Timeout, TimeoutLayer};
pub use wrap_failure::{WrapFailure, WrapFailureLayer};

/// How long a tool may take that says nothing itself.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// A call on its way to its tool. Cheap to clone.
#[derive(Clone)]
pub struct Invocation {
    call: Arc<ToolCall>,
    tool: ToolEntry,
    toolset: Arc<dyn Toolset>,
    publisher: Publisher,
}

impl Invocation {
    pub(crate) fn new(
        call: ToolCall,
        tool: ToolEntry,
        toolset: Arc<dyn Toolset>,
        publisher: Publisher,
    ) -> Self {
        Self { call: Arc::new(call), tool, toolset, publisher }
    }

    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The tool it asks for.
    pub fn tool(&self) -> &ToolEntry {
        &self.tool
    }
}

/// A boxed future of an outcome; failures are values, so there is no error.
pub type OutcomeFuture = Pin<Box<dyn Future<Output = Result<Outcome, Infallible>> + Send>>;

/// The innermost service: hands the call to its toolset.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Service<Invocation> for Direct {
    type Response = Outcome;
    type Error = Infallible;
    type Future = OutcomeFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, invocation: Invocation) -> OutcomeFuture {
        let Invocation { call, toolset, .. } = invocation;
        Box::pin(async move { Ok(toolset.call(&call).await.outcome) })
    }
}

/// What runs the calls of a runtime. A call that an agent answers is a run of its own, whose calls go through it.
#[derive(Clone)]
pub struct Execute(BoxCloneSyncService<Invocation, Outcome, Infallible>);

impl Execute {
    /// Calls go through a layer, or a stack of them made with [`tower::ServiceBuilder`], to their toolset. Any layer
    /// whose service keeps the error type fits, tower's own concurrency limits among them.
    ///
    /// Panics are caught whatever the layers are. A layer that answers in a tool's place answers for its result too:
    /// what a [`FunctionTool`](crate::FunctionTool) returned has gone through its codec and is not read again.
    pub fn new<L>(layer: L) -> Self
    where
        L: Layer<CatchPanic<Direct>>,
        L::Service: Service<Invocation, Response = Outcome, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        <L::Service as Service<Invocation>>::Future: Send + 'static,
    {
        Self(BoxCloneSyncService::new(layer.layer(CatchPanic::new(Direct))))
    }

    pub(crate) async fn run(&self, invocation: Invocation) -> Outcome {
        match self.0.clone().oneshot(invocation).await {
            Ok(outcome) => outcome,
            Err(never) => match never {},
        }
    }
}

impl Default for Execute {
    /// Each attempt within the tool's own time or [`DEFAULT_TIMEOUT`], and as many attempts as the tool asks for.
    fn default() -> Self {
        let layers = ServiceBuilder::new()
            .layer(tower::retry::RetryLayer::new(Retry::new().with_attempts(1)))
            .layer(TimeoutLayer::new(DEFAULT_TIMEOUT));
        Self::new(layers.into_inner())
    }
}
