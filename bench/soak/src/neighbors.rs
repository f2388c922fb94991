//! Measures how fast a tool answers while other calls hang or return large results.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use toolwright::{Payload, ToolCall, ToolSpec};
use toolwright_runtime::execute::{OutputCap, Timeout};
use toolwright_runtime::{ExecutionService, FunctionTool, Registry, Runtime};

use tower::ServiceBuilder;

/// The number of calls that are timed in each of the three rounds.
const CALLS: usize = 20_000;
/// The number of calls that hang at the same time.
const HUNG: usize = 1_000;
/// The size of a large result in bytes.
const LARGE: usize = 100 << 20;
/// The maximal ratio of the median times with and without other calls. A larger one means that calls wait for each other.
const MAX_RATIO: f64 = 3.0;

/// The median time of a call: alone, beside hanging calls, and beside calls that return 100 MB one after the other.
pub(crate) struct Neighbors {
    alone: Duration,
    beside_hung: Duration,
    beside_large: Duration,
}

/// Times calls in three rounds.
pub(crate) async fn run() -> Neighbors {
    let runtime = runtime();
    let alone = timed(&runtime).await;
    let hung: Vec<_> = (0..HUNG).map(|_| spawn(&runtime, "hang")).collect();
    let beside_hung = timed(&runtime).await;
    hung.iter().for_each(tokio::task::JoinHandle::abort);
    let stop = Arc::new(AtomicBool::new(false));
    let large = tokio::spawn(keep_calling(runtime.clone(), Arc::clone(&stop)));
    let beside_large = timed(&runtime).await;
    stop.store(true, Ordering::Relaxed);
    // Its results are not needed.
    let _ = large.await;
    Neighbors { alone, beside_hung, beside_large }
}

async fn keep_calling(runtime: Runtime, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        runtime.call(ToolCall::new("large", Payload::new("{}"))).await;
    }
}

fn spawn(runtime: &Runtime, tool: &'static str) -> tokio::task::JoinHandle<()> {
    let runtime = runtime.clone();
    tokio::spawn(async move {
        runtime.call(ToolCall::new(tool, Payload::new("{}"))).await;
    })
}

fn runtime() -> Runtime {
    let tool = |name| ToolSpec::new(name).with_toolset("soak").with_service("soak");
    let quick = FunctionTool::new(tool("quick"), async || true);
    let hang = FunctionTool::new(tool("hang"), std::future::pending::<bool>);
    // Making such a text takes long, so it is done on a thread for blocking work.
    let large = FunctionTool::new(tool("large"), async || {
        tokio::task::spawn_blocking(|| "x".repeat(LARGE)).await
    });
    let registry = Registry::new();
    for tool in [quick, hang, large] {
        registry.register_tool(tool).unwrap_or_else(|error| unreachable!("names differ: {error}"));
    }
    let cap = OutputCap::new(1 << 20);
    let timeout = Timeout::new(Duration::from_mins(10));
    let layers = ServiceBuilder::new().layer(cap).layer(timeout).into_inner();
    Runtime::builder(registry).with_execution_service(ExecutionService::new(layers)).build()
}

/// Returns the median time of a call of the quick tool.
async fn timed(runtime: &Runtime) -> Duration {
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let since = Instant::now();
        runtime.call(ToolCall::new("quick", Payload::new("{}"))).await;
        times.push(since.elapsed());
        tokio::task::yield_now().await;
    }
    times.sort_unstable();
    times[CALLS / 2]
}

impl Neighbors {
    /// Returns whether the other calls do not slow down the quick ones.
    pub(crate) fn is_fair(&self) -> bool {
        self.ratios().iter().all(|ratio| *ratio <= MAX_RATIO)
    }

    fn ratios(&self) -> [f64; 2] {
        [self.beside_hung, self.beside_large]
            .map(|time| time.as_secs_f64() / self.alone.as_secs_f64())
    }
}

impl fmt::Display for Neighbors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [hung, large] = self.ratios();
        writeln!(f, "| median call alone, µs | {:.2} | |", micros(self.alone))?;
        writeln!(f, "| … beside {HUNG} hanging calls, µs | {:.2} | |", micros(self.beside_hung))?;
        writeln!(f, "| … beside a tool of 100 MB, µs | {:.2} | |", micros(self.beside_large))?;
        writeln!(
            f,
            "| slower beside them, times | {hung:.2}, {large:.2} | {MAX_RATIO:.0} at most |"
        )
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
