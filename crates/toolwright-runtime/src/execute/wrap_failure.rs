//! A layer that adds the name of the tool and its arguments to failures.

use std::convert::Infallible;
use std::task::{Context, Poll};

use toolwright::{Outcome, ToolFailure};
use tower::{Layer, Service};

use super::{Invocation, OutcomeFuture};

/// Adds the name of the tool to the message of each failure (`tool 'add' failed: …`), and the arguments of the call to its
/// detail.
#[derive(Clone, Copy, Debug, Default)]
pub struct WrapFailure;

/// The service of [`WrapFailure`].
#[derive(Clone, Debug)]
pub struct WrapFailureService<S>(S);

impl<S> Layer<S> for WrapFailure {
    type Service = WrapFailureService<S>;

    fn layer(&self, inner: S) -> WrapFailureService<S> {
        WrapFailureService(inner)
    }
}

impl<S> Service<Invocation> for WrapFailureService<S>
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
        let running = self.0.call(invocation.clone());
        Box::pin(async move {
            Ok(match running.await? {
                Err(failure) => Err(wrap(&invocation, failure)),
                outcome @ Ok(_) => outcome,
            })
        })
    }
}

fn wrap(invocation: &Invocation, failure: ToolFailure) -> ToolFailure {
    let message = format!("tool '{}' failed: {}", invocation.tool().name(), failure.message);
    let original = failure.detail.as_deref().map(|detail| format!("{detail}; "));
    let args = invocation.call().args();
    let detail = format!("{}called with {args}", original.unwrap_or_default());
    ToolFailure { message, detail: Some(detail), ..failure }
}
