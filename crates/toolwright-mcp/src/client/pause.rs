//! Pauses before a stream or a subscription that has ended is requested again.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// The minimum pause in milliseconds.
const MIN: u64 = 1_000;

/// The longest of [`Pauses`] in milliseconds.
const LAST: u64 = 60_000;

/// Pauses of which each is twice as long as the one before, from a second to a minute.
#[derive(Debug, Default)]
pub(super) struct Pauses(u64);

impl Pauses {
    /// Returns the next pause. Begins anew after a stream that lasted longer than the longest pause.
    pub(super) fn next(&mut self, lasted: Duration) -> Duration {
        let is_new = lasted.as_millis() > u128::from(LAST);
        self.0 = if is_new { MIN } else { (2 * self.0).clamp(MIN, LAST) };
        Duration::from_millis(pause(self.0))
    }
}

/// Returns a pause in milliseconds: the requested one, but at least a second. Up to a quarter is added at random, so that the clients
/// of a server do not all return at once.
pub(super) fn pause(requested: u64) -> u64 {
    let min = requested.max(MIN);
    min.saturating_add(RandomState::new().hash_one(min) % (min / 4))
}

#[cfg(test)]
mod tests {
    use super::{Duration, Pauses, pause};

    #[test]
    fn pauses_grow_until_a_stream_has_lasted() {
        let mut pauses = Pauses::default();
        let mut next = |lasted| pauses.next(Duration::from_secs(lasted)).as_secs();
        assert_eq!([next(0), next(0), next(0)], [1, 2, 4]);
        let later: Vec<u64> = (0..10).map(|_| next(60)).collect();
        assert!((60..=75).contains(&later[9]), "{later:?}");
        assert_eq!(next(61), 1);
    }

    #[test]
    fn a_pause_has_a_random_part() {
        for (requested, min) in [(0, 1_000), (60_000, 60_000)] {
            let pauses: Vec<u64> = (0..100).map(|_| pause(requested)).collect();
            assert!(pauses.iter().all(|pause| (min..min + min / 4).contains(pause)), "{pauses:?}");
            assert!(pauses.iter().any(|pause| *pause != pauses[0]), "{pauses:?}");
        }
        assert_eq!(pause(u64::MAX), u64::MAX);
    }
}
