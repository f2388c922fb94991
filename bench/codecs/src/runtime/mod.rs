//! Area `runtime`: one call of a tool that returns its arguments, from the name and the JSON arguments to the JSON result. Our
//! call includes the registry, validation, hooks and a timeout.

mod ours;
mod peers;

use std::pin::Pin;
use std::time::{Duration, Instant};

use crate::report::Comparison;

/// The arguments of every call.
pub(crate) const ARGS: &str = include_str!("../../payloads/search.json");

/// The name of the tool.
pub(crate) const NAME: &str = "search_incidents";

/// The number of calls that each library makes in a round.
const CALLS: usize = 2_000;
/// The number of rounds. The libraries take turns, so that they run under the same conditions.
const ROUNDS: usize = 50;
/// The number of calls before anything is measured.
const WARM_UP: usize = 5_000;

/// A library that can call the tool.
pub(crate) trait Candidate {
    /// Makes one call; returns the result as text.
    fn call<'a>(&'a self) -> Pin<Box<dyn Future<Output = String> + 'a>>;
}

/// The times of one library's calls.
#[derive(Default)]
struct Times(Vec<Duration>);

/// Runs all comparisons of the area.
///
/// # Errors
///
/// Returns an error if the tokio runtime cannot start.
pub fn run() -> std::io::Result<Vec<Comparison>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(async {
        let ours = ours::Ours::new();
        let rmcp = peers::Rmcp::new();
        let mut all = compare(&ours, &rmcp, "rmcp 3.9 router").await;
        all.extend(compare(&ours, &peers::Rig::new(), "rig-core 0.44 tools").await);
        let validating = peers::Rig::validating();
        all.extend(compare(&ours, &validating, "rig-core 0.44 tools, jsonschema").await);
        all
    }))
}

async fn compare(
    ours: &dyn Candidate,
    peer: &dyn Candidate,
    peer_name: &'static str,
) -> Vec<Comparison> {
    assert_same(ours, peer).await;
    let (mut our_times, mut peer_times) = (Times::default(), Times::default());
    for _ in 0..ROUNDS {
        our_times.measure(ours).await;
        peer_times.measure(peer).await;
    }
    let row = |name: &str, ours: f64, peer: f64, unit, target| Comparison {
        name: format!("runtime/{name}"),
        ours,
        peer,
        peer_name,
        unit,
        ratio: ours / peer,
        target,
    };
    let (p50, p99) = (our_times.at(0.50), our_times.at(0.99));
    let (peer_p50, peer_p99) = (peer_times.at(0.50), peer_times.at(0.99));
    let (rate, peer_rate) = (our_times.per_second(), peer_times.per_second());
    vec![
        row("call, p50", p50, peer_p50, "ns", Some(1.0)),
        row("call, p99", p99, peer_p99, "ns", None),
        row("calls a second (more is better)", rate, peer_rate, "1/s", None),
    ]
}

/// Panics if the results differ. The order of keys may differ.
async fn assert_same(ours: &dyn Candidate, peer: &dyn Candidate) {
    let mut results = Vec::new();
    for candidate in [ours, peer] {
        for _ in 0..WARM_UP {
            candidate.call().await;
        }
        results.push(serde_json::from_str::<serde_json::Value>(&candidate.call().await).ok());
    }
    assert!(results[0].is_some() && results[0] == results[1], "the results differ: {results:?}");
}

impl Times {
    async fn measure(&mut self, candidate: &dyn Candidate) {
        for _ in 0..CALLS {
            let since = Instant::now();
            std::hint::black_box(candidate.call().await);
            self.0.push(since.elapsed());
        }
    }

    /// Returns a quantile of the times in nanoseconds.
    fn at(&self, share: f64) -> f64 {
        let mut times = self.0.clone();
        times.sort_unstable();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a length is an index"
        )]
        let place = ((times.len() - 1) as f64 * share) as usize;
        times[place].as_secs_f64() * 1e9
    }

    fn per_second(&self) -> f64 {
        let calls = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        f64::from(calls) / self.0.iter().sum::<Duration>().as_secs_f64()
    }
}
