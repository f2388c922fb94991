//! Times two functions in turns.
//!
//! On a shared machine, other programs slow everything down for seconds at a time. A round is so short that both functions run
//! under the same conditions, so the median of the ratios of all rounds is reliable although single times are not.

use std::time::{Duration, Instant};

/// The number of rounds: odd, so that one of them is the median.
const ROUNDS: usize = 201;
/// The minimal time of each function in a round.
const MIN_TIME: Duration = Duration::from_micros(500);

/// The medians of all rounds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The time of one call of our function in nanoseconds.
    pub ours: f64,
    /// The time of one call of the peer's function in nanoseconds.
    pub peer: f64,
    /// The median of the ratios of each round, not the ratio of the two medians.
    pub ratio: f64,
}

/// Times both functions in turns.
pub fn compare(ours: &mut dyn FnMut(), peer: &mut dyn FnMut()) -> Times {
    let (our_turns, peer_turns) = (turns(ours), turns(peer));
    let rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|round| {
            // The first function of a round may leave the caches in a better or worse state, so the order alternates.
            if round % 2 == 0 {
                let ours = time(ours, our_turns);
                (ours, time(peer, peer_turns))
            } else {
                let peer = time(peer, peer_turns);
                (time(ours, our_turns), peer)
            }
        })
        .collect();
    Times {
        ours: median(rounds.iter().map(|(ours, _)| *ours)),
        peer: median(rounds.iter().map(|(_, peer)| *peer)),
        ratio: median(rounds.iter().map(|(ours, peer)| ours / peer)),
    }
}

/// Returns the number of calls that take at least [`MIN_TIME`].
fn turns(work: &mut dyn FnMut()) -> u32 {
    let mut turns = 1;
    loop {
        let start = Instant::now();
        (0..turns).for_each(|_| work());
        if start.elapsed() >= MIN_TIME {
            return turns;
        }
        turns *= 2;
    }
}

/// Returns the time of one call in nanoseconds.
fn time(work: &mut dyn FnMut(), turns: u32) -> f64 {
    let start = Instant::now();
    (0..turns).for_each(|_| work());
    start.elapsed().as_secs_f64() * 1e9 / f64::from(turns)
}

/// Returns the median, or zero if there are no values.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_value() {
        assert!((median([3.0, 1.0, 2.0].into_iter()) - 2.0).abs() < f64::EPSILON);
        assert!(median([].into_iter()).abs() < f64::EPSILON);
    }
}
