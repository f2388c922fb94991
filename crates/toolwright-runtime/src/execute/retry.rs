//! A retry policy for calls that failed for a transient reason.

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use toolwright::{FailureKind, Outcome, Recovery, ToolCall, ToolFailure, ToolSpec};
use tower::retry::Policy;

use super::Invocation;

/// Retries calls that failed for a transient reason: a policy for [`tower::retry::RetryLayer`].
///
/// A number of attempts in the tool's spec takes precedence over the policy's. After a timeout, a tool that is not idempotent
/// is not retried, as the call may have taken effect. If its spec does not say, the recovery of the failure decides.
#[derive(Clone, Debug)]
pub struct Retry {
    attempts: u32,
    backoff: Backoff,
    failed: u32,
}

/// The wait before an attempt. It doubles each time up to a cap, and is shortened by a random part.
#[derive(Clone, Copy, Debug)]
struct Backoff {
    first: Duration,
    cap: Duration,
    jitter: f64,
}

impl Default for Backoff {
    /// Waits 1, 2, 4 and so on up to 30 seconds, a tenth of it random.
    fn default() -> Self {
        Self { first: Duration::from_secs(1), cap: Duration::from_secs(30), jitter: 0.1 }
    }
}

impl Backoff {
    /// Returns the wait after a number of failed attempts; `random` is from 0 to 1.
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
    /// Creates a policy with three attempts, including the first.
    pub fn new() -> Self {
        Self { attempts: 3, backoff: Backoff::default(), failed: 0 }
    }

    /// Sets the number of attempts, at least one, for tools whose spec sets none.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// Sets the wait before the second attempt, and the longest wait. The wait doubles with each attempt. The defaults are
    /// 1 and 30 seconds.
    #[must_use]
    pub fn with_backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.backoff = Backoff { first, cap: longest, ..self.backoff };
        self
    }

    /// Sets the random part of a wait, from 0 (none) to 1 (all of it). The default is 0.1.
    #[must_use]
    pub fn with_jitter(mut self, jitter: f64) -> Self {
        self.backoff.jitter = jitter;
        self
    }

    /// Returns the wait before the next attempt, or `None` if the call is not to be retried.
    pub(crate) fn next_wait(
        &self,
        call: &ToolCall,
        spec: &ToolSpec,
        failure: &ToolFailure,
        failed: u32,
    ) -> Option<Duration> {
        let attempts = spec.limits().attempts.unwrap_or(self.attempts);
        let is_safe = failure.kind != FailureKind::Timeout
            || spec.annotations().idempotent.unwrap_or(failure.recovery == Recovery::Retry);
        let is_retried = failure.kind.is_transient() && is_safe && failed < attempts;
        is_retried.then(|| self.backoff.after(failed, random(call.id())))
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
        let delay = self.next_wait(call, tool.spec(), failure, self.failed)?;
        invocation.publisher.retried(tool, call, failure, (self.failed, delay));
        Some(tokio::time::sleep(delay))
    }

    fn clone_request(&mut self, invocation: &Invocation) -> Option<Invocation> {
        Some(invocation.clone())
    }
}

/// Returns a random number from 0 to 1.
fn random(salt: &str) -> f64 {
    let bits = RandomState::new().hash_one(salt);
    f64::from((bits >> 32) as u32) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h3_waits_double_up_to_the_cap_and_jitter_only_shortens_them() {
        let backoff = Backoff { cap: Duration::from_secs(5), jitter: 0.5, ..Backoff::default() };
        let millis =
            |random| [1, 2, 3, 4, 40].map(|failed| backoff.after(failed, random).as_millis());
        assert_eq!(millis(0.0), [1000, 2000, 4000, 5000, 5000]);
        assert_eq!(millis(1.0), [500, 1000, 2000, 2500, 2500]);
    }
}
