//! Measures calls and runs.

use std::fs::DirEntry;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use toolwright::{Payload, Scope, ToolCall};
use toolwright_prerequisites::PyPi;
use toolwright_restate::{RestateToolset, Runs, Start};
use toolwright_runtime::Toolset;

use crate::lab::{AT_ONCE, Lab, RestateWorker};
use crate::worker::echo;

const CALLS: u32 = 500;
const RUNS: u32 = 200;
/// The number of times that as many runs are made, to measure their costs.
const ROUNDS: u32 = 5;

pub(crate) async fn run() -> bool {
    let Some(lab) = Lab::start().await else { return false };
    let bare_worker = RestateWorker::start(None);
    lab.announce(bare_worker.address).await;
    let toolset = RestateToolset::new(&lab.ingress(), [echo().entry().spec_ref().clone()]);
    let ours = async |n: u32| {
        let scope = Scope { run_id: Some("bench".to_owned()), ..Scope::default() };
        let args = Payload::new(format!(r#"{{"key":"{n}"}}"#));
        let call = ToolCall::new("echo", args).with_id(format!("{n}")).with_scope(scope);
        toolset.call(&call).await.outcome.expect("it cannot fail");
    };
    let http = BareClient::new(&lab.server.ingress());
    let bare = async |n: u32| http.call(n).await;
    for n in 0..50 {
        ours(n).await;
        bare(n).await;
    }
    // In turns, so that both meet the same other load.
    let (mut times, mut bare_times) = (Vec::new(), Vec::new());
    for n in 1000..1000 + CALLS {
        let began = Instant::now();
        ours(n).await;
        times.push(began.elapsed());
        let began = Instant::now();
        bare(n).await;
        bare_times.push(began.elapsed());
    }
    let (median, bare_median) = (median(times), median(bare_times));
    println!("| what | ours | the SDK alone | difference |\n|---|--:|--:|--:|");
    println!(
        "| a call, one at a time, median | {:.2} ms | {:.2} ms | {:+.2} ms, {:+.1} % |",
        millis(median),
        millis(bare_median),
        millis(median) - millis(bare_median),
        (median.as_secs_f64() / bare_median.as_secs_f64() - 1.0) * 100.0
    );
    let many = at_once(10_000, &ours).await;
    let many_bare = at_once(10_000, &bare).await;
    println!("| calls a second, {AT_ONCE} at once | {many:.0} | {many_bare:.0} | |");
    drop(lab);
    println!(
        "\n| workers | runs a second of 3 steps with 2 calls each, {AT_ONCE} at once |\n|--:|--:|"
    );
    for workers in 1..=3 {
        let Some(rate) = runs_per_second(workers).await else { return false };
        println!("| {workers} | {rate:.0} |");
    }
    let (Some(alone), Some(cluster)) = (Lab::start().await, Lab::cluster().await) else {
        return false;
    };
    let (alone, cluster) = (per_run(&alone).await, per_run(&cluster).await);
    println!(
        "\n| for each of these runs | one node | three nodes, which store everything twice |\n|---|--:|--:|"
    );
    for (what, alone, cluster) in [
        ("time of a processor in the server, ms", alone.server, cluster.server),
        ("time of a processor in the worker, ms", alone.worker, cluster.worker),
        ("written by the server, KiB", alone.written, cluster.written),
        ("growth of the server's folder, KiB", alone.stored, cluster.stored),
    ] {
        println!("| {what} | {alone:.1} | {cluster:.1} |");
    }
    match peer() {
        Ok(rate) => println!(
            "\npydantic-ai 2.68 with DBOS 3.4 on SQLite, in one process: {rate:.0} of these runs a second."
        ),
        Err(error) => {
            eprintln!("error: pydantic-ai does not run: {error}");
            return false;
        }
    }
    let Some(memory) = memory_in_flight().await else { return false };
    println!(
        "\nA run in flight takes {memory:.0} KiB of its worker's memory ({RUNS} runs, each waiting for a call)."
    );
    true
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

async fn at_once(first: u32, call: &impl AsyncFn(u32)) -> f64 {
    let began = Instant::now();
    let calls = (first..first + 4 * CALLS).map(|n| call(n));
    futures_util::stream::iter(calls).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    4.0 * f64::from(CALLS) / began.elapsed().as_secs_f64()
}

async fn runs_per_second(workers: usize) -> Option<f64> {
    let lab = Lab::start().await?;
    // The later workers replace the first for new runs, so each has agents of the same names only behind one address. Restate
    // balances over what listens there.
    let mut others = Vec::new();
    for _ in 1..workers {
        others.push(RestateWorker::start(Some(lab.effects.path())));
    }
    let addresses = others.iter().map(|worker| worker.address).chain([lab.worker.address]);
    let balancer = crate::proxy::Balancer::over(addresses.collect()).await;
    lab.announce(balancer).await;
    let began = Instant::now();
    run_all(&lab, "quick").await;
    Some(f64::from(RUNS) / began.elapsed().as_secs_f64())
}

async fn run_all(lab: &Lab, prefix: &str) {
    let runs = Runs::new(&lab.ingress(), "quick");
    let start = Start::new(&Payload::new("{}")).expect("it is JSON");
    let running = (0..RUNS).map(|n| {
        let (runs, start) = (&runs, &start);
        async move {
            let id = format!("{prefix}{n}");
            runs.start(&id, start).await.expect("it is the first run of this id");
            runs.result(&id).await.expect("there is such a run").expect("it cannot fail");
        }
    });
    futures_util::stream::iter(running).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}

/// Returns how many of these runs pydantic-ai makes a second, with the durable execution of DBOS.
fn peer() -> io::Result<f64> {
    let here = |path| Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let python = PyPi::install(&here("peers"), &here("../../target/engines-peers"));
    let python = python.map_err(io::Error::other)?;
    let mut command = Command::new(python.program("python"));
    let output = command.arg(here("peers/run.py")).arg(RUNS.to_string()).output()?;
    let rate = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
    rate.ok_or_else(|| io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// The time and the space that servers and their worker have taken.
struct Usage {
    server: f64,
    worker: f64,
    written: f64,
    stored: f64,
}

impl Usage {
    fn of(lab: &Lab) -> Self {
        let servers: Vec<_> = lab.nodes.iter().chain([&lab.server]).map(|it| &it.process).collect();
        Self {
            server: servers.iter().map(|server| processor_millis(server.id())).sum(),
            worker: processor_millis(lab.worker.process.id()),
            written: servers.iter().map(|server| written(server.id())).sum(),
            stored: servers.iter().map(|server| stored(server.folder())).sum(),
        }
    }
}

/// Returns what a run uses, all nodes together.
async fn per_run(lab: &Lab) -> Usage {
    run_all(lab, "first").await;
    let before = Usage::of(lab);
    for n in 0..ROUNDS {
        run_all(lab, &format!("{n}.")).await;
    }
    let after = Usage::of(lab);
    let of = |after, before| (after - before) / f64::from(RUNS * ROUNDS);
    Usage {
        server: of(after.server, before.server),
        worker: of(after.worker, before.worker),
        written: of(after.written, before.written),
        stored: of(after.stored, before.stored),
    }
}

/// Returns the time that a process had a processor.
fn processor_millis(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program, which may have blanks, ends with the last bracket.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    // A tick is a hundredth of a second (proc_pid_stat(5)).
    ticks.sum::<f64>() * 10.0
}

/// Returns what a process wrote to disks in KiB.
fn written(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|bytes| bytes.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

/// Returns the size of the files in a folder in KiB. Those that vanish meanwhile do not count.
fn stored(folder: &Path) -> f64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => stored(&entry.path()),
        #[expect(clippy::cast_precision_loss, reason = "files are smaller")]
        Ok(metadata) => metadata.len() as f64 / 1024.0,
        Err(_) => 0.0,
    };
    entries.map(size).sum()
}

async fn memory_in_flight() -> Option<f64> {
    let lab = Lab::start().await?;
    let runs = Runs::new(&lab.ingress(), "resting");
    let start = Start::new(&Payload::new("{}")).expect("it is JSON");
    runs.start("first", &start).await.expect("it is the first run of this id");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = resident(lab.worker.process.id());
    let ids: Vec<_> = (0..RUNS).map(|n| format!("resting{n}")).collect();
    join_all(ids.iter().map(|id| runs.start(id, &start))).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let after = resident(lab.worker.process.id());
    Some((after - before) / f64::from(RUNS))
}

/// Returns the resident memory of a process in KiB.
fn resident(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    number.unwrap_or_default()
}

/// Calls the SDK's handler by the same requests as our toolset.
struct BareClient {
    http: reqwest::Client,
    address: String,
}

impl BareClient {
    fn new(ingress: &str) -> Self {
        let address = format!("{ingress}/restate/call/bare/echo");
        Self { http: reqwest::Client::new(), address }
    }

    async fn call(&self, n: u32) {
        let request = self
            .http
            .post(&self.address)
            .header("content-type", "application/json")
            .header("idempotency-key", format!("bare.{n}"))
            .body(format!(r#""{n}""#));
        let response = request.send().await.expect("the server is there");
        assert!(response.status().is_success(), "{response:?}");
        response.bytes().await.expect("it has a body");
    }
}
