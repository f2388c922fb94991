//! Calls over NATS while servers and workers are killed and paused.

use std::ffi::OsStr;
use std::time::Duration;

use rustix::process::Signal;
use toolwright::FailureKind;
use toolwright_engines::Nats;
use toolwright_nats::{NatsOptions, NatsToolset, async_nats};

use crate::faults::{BEFORE, PAUSE};
use crate::lab::{Effects, Worker, call_all};
use crate::worker::BRIEF;

/// The longest time between the time limit of a call and its end.
const TOLERANCE: Duration = Duration::from_millis(500);

#[derive(Clone, Copy)]
enum Fault {
    None,
    KillServer,
    PauseServer,
    KillWorker,
    PauseWorker,
    DrainWorker,
}

const FAULTS: [(Fault, &str); 6] = [
    (Fault::None, "none"),
    (Fault::KillServer, "server killed, started again"),
    (Fault::PauseServer, "server paused for 5 s"),
    (Fault::KillWorker, "one of two workers killed"),
    (Fault::PauseWorker, "one of two workers paused for 5 s"),
    (Fault::DrainWorker, "one of two workers drained and ended"),
];

/// Makes the calls of each row, and prints the table. Returns whether all rows are as wanted.
pub(crate) async fn run(calls: usize) -> bool {
    println!(
        "\n| fault | calls | results | unavailable | too late | other failures | effects | effects without a result | \
         longest call, s |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut passed = true;
    for (fault, name) in FAULTS {
        let Some(row) = row(fault, calls).await else { return false };
        passed &= row.is_as_wanted(calls);
        println!(
            "| {name} | {calls} | {} | {} | {} | {} | {} | {} | {:.1} |",
            row.results,
            row.unavailable,
            row.late,
            row.other,
            row.effects,
            row.effects.saturating_sub(row.results),
            row.longest.as_secs_f64()
        );
    }
    passed
}

#[derive(Default)]
struct Row {
    results: usize,
    unavailable: usize,
    late: usize,
    other: usize,
    effects: usize,
    longest: Duration,
}

impl Row {
    /// Each call ends by its deadline, with a result or a failure of these kinds. One with a result has had its effect.
    fn is_as_wanted(&self, calls: usize) -> bool {
        self.longest <= BRIEF + TOLERANCE
            && self.results + self.unavailable + self.late == calls
            && (self.results..=calls).contains(&self.effects)
    }
}

async fn row(fault: Fault, calls: usize) -> Option<Row> {
    let mut server = toolwright_engines::nats()?;
    let effects = Effects::new();
    let start = || {
        let (url, folder) = (server.url(), effects.path().as_os_str());
        Worker::start(&[OsStr::new("nats-worker"), url.as_ref(), folder])
    };
    let (_first, mut second) = (start(), start());
    let client = async_nats::connect(server.url()).await.expect("the server is there");
    let toolset = NatsToolset::connect(&client, "bench", NatsOptions::new()).await;
    let toolset = toolset.expect("the workers are there");
    let calling = tokio::spawn(async move { call_all(&toolset, calls).await });
    effects.until(calls / BEFORE).await;
    strike(fault, &mut server, &mut second).await;
    let mut row = Row::default();
    for (outcome, time) in calling.await.expect("it does not panic") {
        row.longest = row.longest.max(time);
        match outcome {
            Ok(_) => row.results += 1,
            Err(failure) if failure.kind == FailureKind::Unavailable => row.unavailable += 1,
            Err(failure) if failure.kind == FailureKind::Timeout => row.late += 1,
            Err(_) => row.other += 1,
        }
    }
    // What began at the last moment ends by its deadline.
    tokio::time::sleep(BRIEF).await;
    row.effects = effects.count();
    Some(row)
}

async fn strike(fault: Fault, server: &mut Nats, worker: &mut Worker) {
    match fault {
        Fault::None => {}
        Fault::KillServer => server.process.restart(),
        Fault::PauseServer => {
            server.process.pause();
            tokio::time::sleep(PAUSE).await;
            server.process.resume();
        }
        Fault::KillWorker => worker.kill(),
        Fault::PauseWorker => {
            worker.signal(Signal::STOP);
            tokio::time::sleep(PAUSE).await;
            worker.signal(Signal::CONT);
        }
        Fault::DrainWorker => worker.signal(Signal::INT),
    }
}
