//! Many tasks that call many tools, and what came back. Never retries.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use toolwright::{FailureKind, Payload, ToolCall, ToolResult};
use toolwright_runtime::Runtime;

use crate::memory::resident;
use crate::tools::{Fate, name, registry};

/// What the load found.
pub(crate) struct Load {
    calls: u64,
    tasks: u64,
    /// Results by what they were, and those that were not what their call is to get.
    results: BTreeMap<&'static str, u64>,
    wrong: u64,
    reached: u64,
    took: Duration,
    /// Resident bytes after a tenth of the calls, and after all.
    memory: Option<(u64, u64)>,
}

/// What one task counted.
#[derive(Default)]
struct Tally {
    results: BTreeMap<&'static str, u64>,
    wrong: u64,
}

/// Makes so many calls from so many tasks.
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

/// Lets tasks take the next number each until all are taken.
async fn spread(runtime: &Runtime, numbers: std::ops::Range<u64>, tasks: u64) -> Tally {
    let next = Arc::new(AtomicU64::new(numbers.start));
    let working: Vec<_> = (0..tasks)
        .map(|_| tokio::spawn(work(runtime.clone(), Arc::clone(&next), numbers.end)))
        .collect();
    let mut tally = Tally::default();
    for task in working {
        match task.await {
            Ok(done) => tally.add(done),
            // A task that dies loses results, which is what is looked for.
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
        let (what, is_right) = match (&result.outcome, Fate::of(number)) {
            (Ok(payload), fate) => {
                ("payload", fate == Fate::Succeed && payload.as_str() == (number + 1).to_string())
            }
            (Err(failure), fate) => (failure.kind.as_str(), expected(fate) == Some(failure.kind)),
        };
        *self.results.entry(what).or_default() += 1;
        self.wrong += u64::from(!is_right || result.call_id != id);
    }

    fn add(&mut self, other: Self) {
        for (what, count) in other.results {
            *self.results.entry(what).or_default() += count;
        }
        self.wrong += other.wrong;
    }
}

fn expected(fate: Fate) -> Option<FailureKind> {
    match fate {
        Fate::Succeed => None,
        Fate::Fail => Some(FailureKind::DomainRejection),
        Fate::Panic => Some(FailureKind::Internal),
        Fate::Hang => Some(FailureKind::Timeout),
    }
}

impl Load {
    /// Whether every call reached its tool once and got its own result once.
    pub(crate) fn is_exact(&self) -> bool {
        let results: u64 = self.results.values().sum();
        self.wrong == 0 && results == self.calls && self.reached == self.calls
    }

    /// By how much memory grew after the first tenth, in percent; not at all where nobody knows.
    pub(crate) fn growth(&self) -> f64 {
        self.memory.map_or(0.0, |(early, late)| (float(late) / float(early) - 1.0) * 100.0)
    }
}

/// Counts and bytes here are far below where doubles lose whole numbers.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn float(number: u64) -> f64 {
    number as f64
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.took.as_secs_f64();
        writeln!(f, "| what | found | wanted |\n|---|--:|--:|")?;
        writeln!(f, "| calls, from {} tasks | {} | |", self.tasks, self.calls)?;
        writeln!(f, "| calls that reached a tool | {} | {} |", self.reached, self.calls)?;
        for (what, count) in &self.results {
            writeln!(f, "| results: {what} | {count} | |")?;
        }
        writeln!(f, "| results lost, doubled or another call's | {} | 0 |", self.wrong)?;
        if let Some((early, late)) = self.memory {
            let mib = |bytes: u64| float(bytes) / f64::from(1 << 20);
            writeln!(f, "| memory after a tenth, MiB | {:.1} | |", mib(early))?;
            writeln!(f, "| memory at the end, MiB | {:.1} | |", mib(late))?;
        }
        writeln!(f, "| growth, % | {:.1} | 5.0 at most |", self.growth())?;
        writeln!(f, "| seconds | {seconds:.1} | |")?;
        writeln!(f, "| calls a second | {:.0} | |", float(self.calls) / seconds)
    }
}
