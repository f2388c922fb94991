//! Calls while servers and workers are killed and paused.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use rustix::process::Signal;
use toolwright::{Payload, Scope, ToolCall};
use toolwright_engines::Restate;
use toolwright_restate::{Ingress, RestateToolset};
use toolwright_runtime::Toolset;

use crate::lab::{Lab, WorkerProcess};
use crate::proxy::Proxy;
use crate::worker::effect;

/// How many calls run at once.
const AT_ONCE: usize = 32;
/// How long a pause or a cut lasts.
const PAUSE: Duration = Duration::from_secs(5);
/// The part of the calls that have begun when a fault begins.
const BEFORE: usize = 4;
/// The time after the fault in which all calls must have ended.
const HEALED: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    KillServer,
    PauseServer,
    KillWorker,
    PauseWorker,
    KillBoth,
    DeployWorker,
    CutToServer,
    CutToWorker,
}

const FAULTS: [(Fault, &str); 9] = [
    (Fault::None, "none"),
    (Fault::KillServer, "server killed, started again"),
    (Fault::PauseServer, "server paused for 5 s"),
    (Fault::KillWorker, "worker killed, started again"),
    (Fault::PauseWorker, "worker paused for 5 s"),
    (Fault::KillBoth, "both killed, started again"),
    (Fault::DeployWorker, "another worker announced, the first drained and ended"),
    (Fault::CutToServer, "network from callers to the server cut for 5 s"),
    (Fault::CutToWorker, "network from the server to the worker cut for 5 s"),
];

/// Makes the calls of each row, and prints the table. Returns whether all rows are as wanted.
pub(crate) async fn run(calls: usize) -> bool {
    println!(
        "| fault | calls | results | failures | effects | attempts | effects lost | all done after the heal, s |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    let mut passed = true;
    for (fault, name) in FAULTS {
        let Some(row) = row(fault, calls).await else { return false };
        passed &= row.is_as_wanted(calls);
        println!(
            "| {name} | {calls} | {} | {} | {} | {} | {} | {:.1} |",
            row.results,
            row.failures,
            row.effects,
            row.attempts,
            calls.saturating_sub(row.effects),
            row.after.as_secs_f64()
        );
    }
    passed
}

struct Row {
    results: usize,
    failures: usize,
    effects: usize,
    attempts: usize,
    after: Duration,
}

impl Row {
    fn is_as_wanted(&self, calls: usize) -> bool {
        self.results == calls && self.effects == calls && self.after <= HEALED
    }
}

async fn row(fault: Fault, calls: usize) -> Option<Row> {
    let mut lab = Lab::start().await?;
    let calls_in_all = calls;
    let proxies = Proxies::new(fault, &lab).await;
    let address = proxies
        .server
        .as_ref()
        .map_or_else(|| lab.server.ingress(), |proxy| format!("http://{}", proxy.address));
    let ingress = Ingress::new(&address).expect("it is an address");
    let spec = effect(lab.effects.path()).entry().spec_ref().clone();
    let toolset = RestateToolset::new(&ingress, [spec]);
    let calling = tokio::spawn(async move {
        let calls = (0..calls).map(|n| {
            let toolset = toolset.clone();
            async move {
                let scope = Scope { run_id: Some("torture".to_owned()), ..Scope::default() };
                let args = Payload::new(format!(r#"{{"key":"{n}"}}"#));
                let call = ToolCall::new("effect", args).with_id(format!("{n}")).with_scope(scope);
                toolset.call(&call).await.outcome
            }
        });
        let outcomes = futures_util::stream::iter(calls).buffer_unordered(AT_ONCE);
        outcomes.collect::<Vec<_>>().await
    });
    while lab.attempts().len() < calls_in_all / BEFORE {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let _second = strike(fault, &mut lab, &proxies).await;
    let healed = Instant::now();
    let outcomes = calling.await.expect("it does not panic");
    let after = healed.elapsed();
    if let Some(failure) = outcomes.iter().find_map(|outcome| outcome.as_ref().err()) {
        eprintln!("first failure: {failure:?}");
    }
    let results = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    let attempts = lab.attempts().values().sum();
    let failures = outcomes.len() - results;
    Some(Row { results, failures, effects: lab.effects(), attempts, after })
}

/// The networks that are cut.
struct Proxies {
    server: Option<Proxy>,
    worker: Option<Proxy>,
}

impl Proxies {
    async fn new(fault: Fault, lab: &Lab) -> Self {
        let mut proxies = Self { server: None, worker: None };
        if fault == Fault::CutToServer {
            let address = lab.server.ingress();
            let address = address.trim_start_matches("http://").parse();
            proxies.server = Some(Proxy::to(address.expect("it is an address")).await);
        }
        if fault == Fault::CutToWorker {
            let proxy = Proxy::to(lab.worker.address).await;
            // Announced later than the worker itself, so that calls go through it.
            lab.announce(proxy.address).await;
            proxies.worker = Some(proxy);
        }
        proxies
    }
}

async fn strike(fault: Fault, lab: &mut Lab, proxies: &Proxies) -> Option<WorkerProcess> {
    let pause = || tokio::time::sleep(PAUSE);
    match fault {
        Fault::None => {}
        Fault::KillServer => restart(&mut lab.server),
        Fault::PauseServer => {
            lab.server.pause();
            pause().await;
            lab.server.resume();
        }
        Fault::KillWorker => lab.replace_worker().await,
        Fault::PauseWorker => {
            lab.worker.signal(Signal::STOP);
            pause().await;
            lab.worker.signal(Signal::CONT);
        }
        Fault::KillBoth => {
            lab.server.kill();
            lab.replace_worker().await;
            lab.server.restart();
        }
        Fault::DeployWorker => {
            let second = WorkerProcess::start(Some(lab.effects.path()), None).await;
            lab.announce(second.address).await;
            // Calls that have begun stay on the first worker.
            tokio::time::sleep(Duration::from_secs(1)).await;
            lab.worker.signal(Signal::INT);
            return Some(second);
        }
        Fault::CutToServer | Fault::CutToWorker => {
            let proxy = proxies.server.as_ref().or(proxies.worker.as_ref());
            let proxy = proxy.expect("the row has one");
            proxy.cut(true);
            pause().await;
            proxy.cut(false);
        }
    }
    None
}

fn restart(server: &mut Restate) {
    server.kill();
    server.restart();
}
