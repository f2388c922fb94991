//! Calls many tools from many tasks and counts the results.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use toolwright::{FailureKind, Payload, ToolCall, ToolResult};
use toolwright_runtime::Runtime;

use crate::MAX_GROWTH;
use crate::memory::resident;
use crate::tools::{Behavior, name, registry};

/// The results of the load.
pub(crate) struct Load {
    calls: u64,
    tasks: u64,
    /// The numbers of results by kind.
    results: BTreeMap<&'static str, u64>,
    /// The number of results that are not the expected result of their call.
    wrong: u64,
    /// The number of calls that reached a tool.
    reached: u64,
    took: Duration,
    /// Resident bytes after a tenth of the calls and after all calls.
    memory: Option<(u64, u64)>,
}

/// The counts of one task.
#[derive(Default)]
struct Tally {
    results: BTreeMap<&'static str, u64>,
    wrong: u64,
}

/// Makes `calls` calls from `tasks` tasks.
pub(crate) async fn run(calls: u64, tasks: u64) -> Load {
    let (registry, reached) =
        registry().unwrap_or_else(|error| unreachable!("names differ: {error}"));
    let runtime = Runtime::new(registry);
    let since = Instant::now();
    let mut tally = spread(&runtime, 0..calls / 10, tasks).await;
    let early = resident();
    let rest = spread(&runtime, calls / 10..calls, tasks).await;
    let late = resident();
    tally.add(rest);
    let Tally { results, wrong } = tally;
    let (took, memory) = (since.elapsed(), early.zip(late));
    Load { calls, tasks, results, wrong, reached: reached.load(Ordering::Relaxed), took, memory }
}

/// Lets each task take the next number until all are taken.
async fn spread(runtime: &Runtime, numbers: std::ops::Range<u64>, tasks: u64) -> Tally {
    let next = Arc::new(AtomicU64::new(numbers.start));
    let working: Vec<_> = (0..tasks)
        .map(|_| tokio::spawn(work(runtime.clone(), Arc::clone(&next), numbers.end)))
        .collect();
    let mut tally = Tally::default();
    for task in working {
        match task.await {
            Ok(done) => tally.add(done),
            // A task that panics has lost results.
            Err(_) => tally.wrong += 1,
        }
    }
    tally
}

async fn work(runtime: Runtime, next: Arc<AtomicU64>, end: u64) -> Tally {
    let mut tally = Tally::default();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= end {
            return tally;
        }
        let call = ToolCall::new(name(number), Payload::new(format!("{{\"number\":{number}}}")));
        let id = call.id().to_owned();
        let result = runtime.call(call).await;
        tally.take(number, &id, &result);
    }
}

impl Tally {
    fn take(&mut self, number: u64, id: &str, result: &ToolResult) {
        let (kind, is_right) = match (&result.outcome, Behavior::of(number)) {
            (Ok(payload), behavior) => {
                let is_next = payload.as_str() == (number + 1).to_string();
                ("payload", behavior == Behavior::Succeed && is_next)
            }
            (Err(failure), behavior) => {
                (failure.kind.as_str(), expected(behavior) == Some(failure.kind))
            }
        };
        *self.results.entry(kind).or_default() += 1;
        self.wrong += u64::from(!is_right || result.call_id != id);
    }

    fn add(&mut self, other: Self) {
        for (kind, count) in other.results {
            *self.results.entry(kind).or_default() += count;
        }
        self.wrong += other.wrong;
    }
}

fn expected(behavior: Behavior) -> Option<FailureKind> {
    match behavior {
        Behavior::Succeed => None,
        Behavior::Fail => Some(FailureKind::DomainRejection),
        Behavior::Panic => Some(FailureKind::Internal),
        Behavior::Hang => Some(FailureKind::Timeout),
    }
}

impl Load {
    /// Returns whether every call reached its tool once and got its own result once.
    pub(crate) fn is_exact(&self) -> bool {
        let results: u64 = self.results.values().sum();
        self.wrong == 0 && results == self.calls && self.reached == self.calls
    }

    /// Returns the growth of memory after the first tenth of the calls in MiB; zero if it is unknown.
    pub(crate) fn growth(&self) -> f64 {
        self.memory.map_or(0.0, |(early, late)| mib(late) - mib(early))
    }
}

/// Converts counts and bytes, which are far below the limit where an `f64` is inexact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn float(number: u64) -> f64 {
    number as f64
}

fn mib(bytes: u64) -> f64 {
    float(bytes) / f64::from(1 << 20)
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.took.as_secs_f64();
        writeln!(f, "| what | found | wanted |\n|---|--:|--:|")?;
        writeln!(f, "| calls, from {} tasks | {} | |", self.tasks, self.calls)?;
        writeln!(f, "| calls that reached a tool | {} | {} |", self.reached, self.calls)?;
        for (kind, count) in &self.results {
            writeln!(f, "| results: {kind} | {count} | |")?;
        }
        writeln!(f, "| results lost, doubled or another call's | {} | 0 |", self.wrong)?;
        if let Some((early, late)) = self.memory {
            writeln!(f, "| memory after a tenth, MiB | {:.1} | |", mib(early))?;
            writeln!(f, "| memory at the end, MiB | {:.1} | |", mib(late))?;
        }
        writeln!(f, "| growth, MiB | {:.1} | {MAX_GROWTH:.1} at most |", self.growth())?;
        writeln!(f, "| seconds | {seconds:.1} | |")?;
        writeln!(f, "| calls a second | {:.0} | |", float(self.calls) / seconds)
    }
}
