//! An end to calls that come too often. Never makes one wait: a failure says when to come again.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;
use toolwright::{FailureKind, Outcome, Recovery, ToolFailure};
use tower::{Layer, Service};

use super::{Invocation, OutcomeFuture};

/// Lets through so many calls in any window of so long; the services made by one layer share the count.
#[derive(Clone, Debug)]
pub struct RateLimit(Arc<Window>);

/// The service of [`RateLimit`].
#[derive(Clone, Debug)]
pub struct RateLimitService<S> {
    inner: S,
    window: Arc<Window>,
}

/// Calls let through since the window was opened.
#[derive(Debug)]
struct Window {
    calls: u32,
    length: Duration,
    open: Mutex<Option<(Instant, u32)>>,
}

impl RateLimit {
    /// So many calls in so long.
    pub fn new(calls: u32, length: Duration) -> Self {
        Self(Arc::new(Window { calls, length, open: Mutex::default() }))
    }
}

impl Window {
    /// Takes one call, or says how long the next window is away.
    fn take(&self) -> Result<(), Duration> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let (since, taken) = match *open {
            Some((since, taken)) if now - since < self.length => (since, taken),
            _ => (now, 0),
        };
        if taken >= self.calls {
            return Err(self.length.saturating_sub(now - since));
        }
        *open = Some((since, taken + 1));
        Ok(())
    }
}

impl<S> Layer<S> for RateLimit {
    type Service = RateLimitService<S>;

    fn layer(&self, inner: S) -> RateLimitService<S> {
        RateLimitService { inner, window: Arc::clone(&self.0) }
    }
}

impl<S> Service<Invocation> for RateLimitService<S>
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
        match self.window.take() {
            Ok(()) => Box::pin(self.inner.call(invocation)),
            Err(wait) => {
                let message = format!(
                    "`{}` is called too often; call it again in {wait:?}",
                    invocation.tool().name()
                );
                let failure = ToolFailure::new(FailureKind::RateLimited, message, Recovery::Retry);
                Box::pin(std::future::ready(Ok(Err(failure))))
            }
        }
    }
}
