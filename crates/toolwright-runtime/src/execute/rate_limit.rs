//! A layer that refuses calls that come too often. The failure says when to call again.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;
use toolwright::{FailureKind, Outcome, Recovery, ToolFailure};
use tower::{Layer, Service};

use super::{Invocation, OutcomeFuture};

/// Limits the number of calls in each window of time. All services made by one layer share the count.
#[derive(Clone, Debug)]
pub struct RateLimit(Arc<Window>);

/// The service of [`RateLimit`].
#[derive(Clone, Debug)]
pub struct RateLimitService<S> {
    inner: S,
    window: Arc<Window>,
}

/// A window of time and the calls made in it.
#[derive(Debug)]
struct Window {
    max_calls: u32,
    length: Duration,
    /// The beginning of the current window, and the number of calls in it.
    current: Mutex<Option<(Instant, u32)>>,
}

impl RateLimit {
    /// Creates a layer that allows a number of calls in each window of this length.
    pub fn new(max_calls: u32, length: Duration) -> Self {
        Self(Arc::new(Window { max_calls, length, current: Mutex::default() }))
    }
}

impl Window {
    /// Counts a call. The error is the time until the next window, if the current one is full.
    fn count_call(&self) -> Result<(), Duration> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let (since, calls) = match *current {
            Some((since, calls)) if now - since < self.length => (since, calls),
            _ => (now, 0),
        };
        if calls >= self.max_calls {
            return Err(self.length.saturating_sub(now - since));
        }
        *current = Some((since, calls + 1));
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
        match self.window.count_call() {
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
