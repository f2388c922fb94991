//! Measures the processor time of this process, which other programs change little.

use rustix::time::{ClockId, clock_gettime};

use crate::report::Comparison;

/// The number of measurements of each figure; the median counts.
const ROUNDS: usize = 11;

/// Returns the processor time of this process so far.
#[expect(clippy::cast_precision_loss, reason = "a run takes no years")]
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Compares a figure with a goal.
pub fn goal(name: &str, ours: f64, goal: f64, unit: &'static str) -> Comparison {
    Comparison {
        name: name.to_owned(),
        ours,
        peer: goal,
        peer_name: "the goal",
        unit,
        ratio: ours / goal,
        target: Some(1.0),
    }
}

/// Returns the time of one call: the median of the rounds.
pub fn nanoseconds(calls: u32, mut work: impl FnMut()) -> f64 {
    let round = |_| {
        let start = cpu_seconds();
        (0..calls).for_each(|_| work());
        (cpu_seconds() - start) * 1e9 / f64::from(calls)
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(round).collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}
