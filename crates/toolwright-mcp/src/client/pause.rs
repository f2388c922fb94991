//! Pauses before a stream or a subscription that has ended is requested again.

use std::hash::{BuildHasher as _, RandomState};

/// The minimum pause in milliseconds.
const MIN: u64 = 1_000;

/// Returns a pause in milliseconds: the requested one, but at least a second. Up to a quarter is added at random, so that the clients
/// of a server do not all return at once.
pub(super) fn pause(requested: u64) -> u64 {
    let min = requested.max(MIN);
    min.saturating_add(RandomState::new().hash_one(min) % (min / 4))
}

#[cfg(test)]
mod tests {
    use super::pause;

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
