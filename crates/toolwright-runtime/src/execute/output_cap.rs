//! A layer that refuses results that are too large. It does not truncate them, as that would make them invalid.

use std::convert::Infallible;
use std::task::{Context, Poll};

use toolwright::{Outcome, ToolFailure};
use tower::{Layer, Service};

use super::{Invocation, OutcomeFuture};

/// Turns results larger than a limit into failures.
#[derive(Clone, Copy, Debug)]
pub struct OutputCap(usize);

/// The service of [`OutputCap`].
#[derive(Clone, Debug)]
pub struct OutputCapService<S> {
    inner: S,
    bytes: usize,
}

impl OutputCap {
    /// Creates a layer with the maximum size of a result, in bytes.
    pub fn new(bytes: usize) -> Self {
        Self(bytes)
    }
}

impl<S> Layer<S> for OutputCap {
    type Service = OutputCapService<S>;

    fn layer(&self, inner: S) -> OutputCapService<S> {
        OutputCapService { inner, bytes: self.0 }
    }
}

impl<S> Service<Invocation> for OutputCapService<S>
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
        let (bytes, tool) = (self.bytes, invocation.tool().clone());
        let running = self.inner.call(invocation);
        Box::pin(async move {
            Ok(match running.await? {
                Ok(payload) if payload.as_str().len() > bytes => {
                    Err(ToolFailure::result_too_large(tool.name(), payload.as_str().len(), bytes))
                }
                outcome => outcome,
            })
        })
    }
}
