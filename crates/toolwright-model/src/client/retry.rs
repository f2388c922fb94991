//! Which errors are tried again, and after which wait.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::error::ModelError;

/// The longest wait before the second attempt, if the provider asks for none. It doubles with each attempt.
const FIRST: Duration = Duration::from_millis(500);

/// The longest wait, if the provider asks for none.
const LONGEST: Duration = Duration::from_secs(30);

/// The longest wait that a provider may ask for, if there is no limit of time.
const LONGEST_ASKED: Duration = Duration::from_mins(5);

/// The statuses of temporary errors: those of HTTP, and 529, with which Anthropic answers if it is overloaded.
const TRANSIENT: [u16; 9] = [408, 409, 425, 429, 500, 502, 503, 504, 529];

/// Returns the wait before the next attempt, or `None` if there should be none: after a permanent error, and if the wait is longer
/// than the time that is left, or than five minutes if there is no limit. `attempt` counts from one, `random` is from 0 to 1.
pub(super) fn wait(
    error: &ModelError,
    attempt: u32,
    left: Option<Duration>,
    random: f64,
) -> Option<Duration> {
    let asked = match error {
        ModelError::Connect(_) | ModelError::Interrupted(_) => None,
        ModelError::Status { code, retry_after, should_retry, .. } => {
            if !should_retry.unwrap_or_else(|| TRANSIENT.contains(code)) {
                return None;
            }
            *retry_after
        }
        _ => return None,
    };
    let wait = asked.unwrap_or_else(|| {
        let doubled = FIRST.saturating_mul(1_u32.checked_shl(attempt - 1).unwrap_or(u32::MAX));
        doubled.min(LONGEST).mul_f64(random)
    });
    (wait < left.unwrap_or(LONGEST_ASKED)).then_some(wait)
}

/// Returns a random number from 0 to 1.
pub(super) fn random() -> f64 {
    let bits = RandomState::new().hash_one(()) >> 32;
    f64::from(u32::try_from(bits).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16, after: Option<u64>, should_retry: Option<bool>) -> ModelError {
        let retry_after = after.map(Duration::from_millis);
        ModelError::Status { code, text: String::new(), retry_after, should_retry }
    }

    /// Error, attempt, milliseconds left, random, wait in milliseconds.
    #[test]
    fn waits_are_those_of_the_table() {
        let text = String::new;
        for (error, attempt, left, random, expected) in [
            (ModelError::Connect(text()), 1, None, 1.0, Some(500)),
            (ModelError::Connect(text()), 1, None, 0.0, Some(0)),
            (ModelError::Interrupted(text()), 3, None, 0.5, Some(1000)),
            (status(529, None, None), 7, None, 1.0, Some(30_000)),
            (status(503, None, None), 100, None, 1.0, Some(30_000)),
            (status(429, Some(60_000), None), 1, None, 0.5, Some(60_000)),
            (status(429, Some(60_000), None), 1, Some(60_000), 0.5, None),
            (status(429, Some(60_000), None), 1, Some(60_001), 0.5, Some(60_000)),
            (status(429, Some(299_999), None), 1, None, 0.5, Some(299_999)),
            (status(429, Some(300_000), None), 1, None, 0.5, None),
            (status(503, None, None), 1, Some(100), 1.0, None),
            (status(429, None, Some(false)), 1, None, 1.0, None),
            (status(400, None, None), 1, None, 1.0, None),
            (status(400, None, Some(true)), 1, None, 1.0, Some(500)),
            (status(404, Some(10), None), 1, None, 1.0, None),
            (ModelError::Timeout(text()), 1, None, 1.0, None),
            (ModelError::Malformed(text()), 1, None, 1.0, None),
            (ModelError::TooLong(text()), 1, None, 1.0, None),
            (ModelError::StrictRefused(text()), 1, None, 1.0, None),
            (ModelError::TooLargeAGrammar(text()), 1, None, 1.0, None),
            (ModelError::Unsendable(text()), 1, None, 1.0, None),
        ] {
            let left = left.map(Duration::from_millis);
            let found = wait(&error, attempt, left, random);
            assert_eq!(
                found,
                expected.map(Duration::from_millis),
                "{error:?}, {attempt}, {left:?}"
            );
        }
        let transient: Vec<u16> = (100..600)
            .filter(|code| wait(&status(*code, None, None), 1, None, 1.0).is_some())
            .collect();
        assert_eq!(transient, TRANSIENT);
    }

    #[test]
    fn random_numbers_differ_and_stay_in_their_range() {
        let numbers: Vec<f64> = (0..100).map(|_| random()).collect();
        assert!(numbers.iter().all(|number| (0.0..=1.0).contains(number)));
        assert!(numbers.iter().any(|number| (number - numbers[0]).abs() > 0.01));
    }
}
