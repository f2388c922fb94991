//! Measures the processor time of this process, which other programs change little.

use std::thread::sleep;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::report::Comparison;

/// The number of measurements of each figure. The fastest counts, since other programs on the same cores only make it slower.
const ROUNDS: usize = 41;

/// The pause before a measurement: cores that are shared are slower for seconds at a time.
const PAUSE: Duration = Duration::from_millis(50);

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

/// Returns the time of one call in the fastest round.
pub fn nanoseconds(calls: u32, mut work: impl FnMut()) -> f64 {
    let round = |_| {
        sleep(PAUSE);
        work();
        let start = cpu_seconds();
        (0..calls).for_each(|_| work());
        (cpu_seconds() - start) * 1e9 / f64::from(calls)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}
