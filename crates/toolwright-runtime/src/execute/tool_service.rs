//! The innermost service, which calls the toolset and turns panics into failures.

use std::convert::Infallible;
use std::task::{Context, Poll};

use toolwright::Outcome;
use tower::Service;

use super::{Invocation, OutcomeFuture};
use crate::caught::{Caught, panicked};

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
            let ended = Caught::new(calling).await;
            Ok(ended.unwrap_or_else(|panic| Err(panicked("the executor", &panic))))
        }))
    }
}
