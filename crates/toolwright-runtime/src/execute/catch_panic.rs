//! Panics of tools, as failures. Never lets their words reach a model.

use std::any::Any;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

use futures_util::FutureExt;
use toolwright::{FailureKind, Outcome, Recovery, ToolFailure};
use tower::{Layer, Service};

use super::{Invocation, OutcomeFuture};

/// Turns a panic into an internal failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct CatchPanicLayer;

/// The service of [`CatchPanicLayer`].
#[derive(Clone, Debug)]
pub struct CatchPanic<S>(S);

impl<S> CatchPanic<S> {
    pub(super) fn new(inner: S) -> Self {
        Self(inner)
    }
}

impl<S> Layer<S> for CatchPanicLayer {
    type Service = CatchPanic<S>;

    fn layer(&self, inner: S) -> CatchPanic<S> {
        CatchPanic(inner)
    }
}

impl<S> Service<Invocation> for CatchPanic<S>
where
    S: Service<Invocation, Response = Outcome, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Outcome;
    type Error = Infallible;
    type Future = OutcomeFuture;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, invocation: Invocation) -> OutcomeFuture {
        // A service may panic before it has a future to poll.
        let calling = catch_unwind(AssertUnwindSafe(|| self.0.call(invocation)));
        Box::pin(async move {
            let ended = match calling {
                Ok(running) => AssertUnwindSafe(running).catch_unwind().await,
                Err(panic) => Err(panic),
            };
            ended.unwrap_or_else(|panic| Ok(Err(panicked("the executor", &*panic))))
        })
    }
}

/// What is left of a panic: its message, for operators.
pub(crate) fn panicked(who: &str, panic: &(dyn Any + Send)) -> ToolFailure {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    ToolFailure::new(FailureKind::Internal, "the tool failed internally", Recovery::Replan)
        .with_detail(format!("{who} panicked: {text}"))
}
