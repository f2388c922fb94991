//! Timing of two pieces of work in turns. Knows nothing of what they do.
//!
//! Other programs slow a shared machine down by half for seconds on end. Rounds are so short that both sides of one
//! meet the same conditions; the median of the rounds' ratios then says what no single time can.

use std::time::{Duration, Instant};

/// How many rounds there are: odd, so that one of them is the median.
const ROUNDS: usize = 201;
/// How long one side of a round takes.
const SIDE: Duration = Duration::from_micros(500);

/// What the rounds found: medians.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Nanoseconds of one piece of our work.
    pub ours: f64,
    /// Nanoseconds of one piece of the peer's.
    pub peer: f64,
    /// Of the rounds' ratios, not of the two times above.
    pub ratio: f64,
}

/// Times both sides in turns.
pub fn compare(ours: &mut dyn FnMut(), peer: &mut dyn FnMut()) -> Times {
    let (our_turns, peer_turns) = (turns(ours), turns(peer));
    let rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|round| {
            // Whoever comes second finds the caches as the other left them, so they swap.
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

/// How often the work is done on one side of a round.
fn turns(work: &mut dyn FnMut()) -> u32 {
    let mut turns = 1;
    loop {
        let start = Instant::now();
        (0..turns).for_each(|_| work());
        if start.elapsed() >= SIDE {
            return turns;
        }
        turns *= 2;
    }
}

/// Nanoseconds of one turn.
fn time(work: &mut dyn FnMut(), turns: u32) -> f64 {
    let start = Instant::now();
    (0..turns).for_each(|_| work());
    start.elapsed().as_secs_f64() * 1e9 / f64::from(turns)
}

/// The middle value; zero if there is none.
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
