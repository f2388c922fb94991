//! More attempts at what failed for the moment. Never at what would fail again.

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use toolwright::{FailureKind, Outcome, ToolCall, ToolFailure, ToolSpec};
use tower::retry::Policy;

use super::Invocation;

/// Tries transient failures again: a policy for [`tower::retry::RetryLayer`].
///
/// A tool's own number of attempts goes before the policy's. A tool that says it is not idempotent is not tried again
/// after a timeout, when it may have done its work.
#[derive(Clone, Debug)]
pub struct Retry {
    attempts: u32,
    backoff: Backoff,
    failed: u32,
}

/// How long to wait before an attempt: twice as long each time, up to a cap, less a random part.
#[derive(Clone, Copy, Debug)]
struct Backoff {
    first: Duration,
    cap: Duration,
    jitter: f64,
}

impl Default for Backoff {
    /// One second, two, four, up to thirty, a tenth of it random.
    fn default() -> Self {
        Self { first: Duration::from_secs(1), cap: Duration::from_secs(30), jitter: 0.1 }
    }
}

impl Backoff {
    /// The wait after so many failed attempts, with a random number from 0 to 1.
    fn after(&self, failed: u32, random: f64) -> Duration {
        let doubled = self.first.saturating_mul(1_u32.checked_shl(failed - 1).unwrap_or(u32::MAX));
        let whole = doubled.min(self.cap);
        whole.mul_f64(1.0 - self.jitter.clamp(0.0, 1.0) * random)
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self::new()
    }
}

impl Retry {
    /// Three attempts in all, for tools that say nothing themselves.
    pub fn new() -> Self {
        Self { attempts: 3, backoff: Backoff::default(), failed: 0 }
    }

    /// Sets how many attempts a tool gets that says nothing itself; at least one.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// Sets the wait before the second attempt, and the longest. It doubles with each attempt; by default it is a second,
    /// and 30 at most.
    #[must_use]
    pub fn with_backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.backoff = Backoff { first, cap: longest, ..self.backoff };
        self
    }

    /// Sets how much of a wait is random, from 0 (nothing) to 1 (all); by default it is a tenth.
    #[must_use]
    pub fn with_jitter(mut self, jitter: f64) -> Self {
        self.backoff.jitter = jitter;
        self
    }

    /// How long to wait for another attempt at a call, if one may follow this failure.
    pub(crate) fn another(
        &self,
        call: &ToolCall,
        spec: &ToolSpec,
        failure: &ToolFailure,
        failed: u32,
    ) -> Option<Duration> {
        let attempts = spec.limits().attempts.unwrap_or(self.attempts);
        let done_perhaps =
            failure.kind == FailureKind::Timeout && spec.annotations().idempotent == Some(false);
        let may_follow = failure.kind.is_transient() && !done_perhaps && failed < attempts;
        may_follow.then(|| self.backoff.after(failed, random(call.id())))
    }
}

impl Policy<Invocation, Outcome, Infallible> for Retry {
    type Future = tokio::time::Sleep;

    fn retry(
        &mut self,
        invocation: &mut Invocation,
        result: &mut Result<Outcome, Infallible>,
    ) -> Option<tokio::time::Sleep> {
        let Ok(Err(failure)) = result else { return None };
        self.failed += 1;
        let (call, tool) = (invocation.call(), invocation.tool());
        let delay = self.another(call, tool.spec(), failure, self.failed)?;
        invocation.publisher.retried(tool, call, failure, (self.failed, delay));
        Some(tokio::time::sleep(delay))
    }

    fn clone_request(&mut self, invocation: &Invocation) -> Option<Invocation> {
        Some(invocation.clone())
    }
}

/// A number from 0 to 1 that nobody can tell beforehand.
fn random(salt: &str) -> f64 {
    let bits = RandomState::new().hash_one(salt);
    // Every `u32` is an `f64`.
    f64::from((bits >> 32) as u32) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H3: 2^n seconds, with a cap and jitter.
    #[test]
    fn h3_waits_double_up_to_the_cap_and_jitter_only_shortens_them() {
        let backoff = Backoff { cap: Duration::from_secs(5), jitter: 0.5, ..Backoff::default() };
        let millis =
            |random| [1, 2, 3, 4, 40].map(|failed| backoff.after(failed, random).as_millis());
        assert_eq!(millis(0.0), [1000, 2000, 4000, 5000, 5000]);
        assert_eq!(millis(1.0), [500, 1000, 2000, 2500, 2500]);
    }
}
