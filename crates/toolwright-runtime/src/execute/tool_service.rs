//! The innermost service, which calls the toolset and turns panics into failures.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll};

use futures_util::FutureExt;
use toolwright::{FailureKind, Outcome, Recovery, ToolFailure};
use tower::Service;

use super::{Invocation, OutcomeFuture};

/// The innermost service: passes the call to its toolset. A panic becomes an internal failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolService;

impl Service<Invocation> for ToolService {
    type Response = Outcome;
    type Error = Infallible;
    type Future = OutcomeFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, invocation: Invocation) -> OutcomeFuture {
        let Invocation { call, toolset, blocking, .. } = invocation;
        Box::pin(blocking.scope(async move {
            // A toolset may panic before it returns its future.
            let calling = async { toolset.call(&call).await.outcome };
            let ended = AssertUnwindSafe(calling).catch_unwind().await;
            Ok(ended.unwrap_or_else(|panic| Err(panicked("the executor", &*panic))))
        }))
    }
}

/// Creates the failure of a panic. The message of the panic is for operators only.
pub(crate) fn panicked(who: &str, panic: &(dyn Any + Send)) -> ToolFailure {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    ToolFailure::new(FailureKind::Internal, "the tool failed internally", Recovery::Replan)
        .with_detail(format!("{who} panicked: {text}"))
}
