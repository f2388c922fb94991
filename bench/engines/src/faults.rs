//! Calls while servers and workers are killed and paused.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use toolwright_restate::{Ingress, RestateToolset};

use crate::lab::{Lab, RestateWorker, call_all};
use crate::proxy::{Balancer, Proxy};
use crate::worker::effect;

/// How long a pause or a cut lasts.
pub(crate) const PAUSE: Duration = Duration::from_secs(5);
/// The part of the calls that have begun when a fault begins.
pub(crate) const BEFORE: usize = 4;
/// The time after the fault in which all calls must have ended.
const HEALED: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    KillNode,
    KillServer,
    PauseServer,
    KillWorker,
    PauseWorker,
    KillBoth,
    DeployWorker,
    CutToServer,
    CutToWorker,
}

const FAULTS: [(Fault, &str); 10] = [
    (Fault::None, "none"),
    (Fault::KillNode, "one node of a cluster of three killed"),
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
    let mut lab = match fault {
        Fault::KillNode => Lab::cluster().await?,
        _ => Lab::start().await?,
    };
    let network = Network::new(fault, &lab).await;
    let ingress = Ingress::new(&format!("http://{}", network.ingress)).expect("it is an address");
    let spec = effect(lab.effects.path()).entry().spec_ref().clone();
    let toolset = RestateToolset::new(&ingress, [spec]);
    let calling = tokio::spawn(async move { call_all(&toolset, calls).await });
    lab.effects.until(calls / BEFORE).await;
    let _second = strike(fault, &mut lab, &network).await;
    let healed = Instant::now();
    let outcomes = calling.await.expect("it does not panic");
    let outcomes: Vec<_> = outcomes.into_iter().map(|(outcome, _)| outcome).collect();
    let after = healed.elapsed();
    if let Some(failure) = outcomes.iter().find_map(|outcome| outcome.as_ref().err()) {
        eprintln!("first failure: {failure:?}");
    }
    let results = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    let attempts = lab.effects.attempts().values().sum();
    let failures = outcomes.len() - results;
    Some(Row { results, failures, effects: lab.effects.count(), attempts, after })
}

/// The network between callers, servers and worker.
struct Network {
    ingress: SocketAddr,
    /// The connection that the fault cuts, if it cuts one.
    proxy: Option<Proxy>,
}

impl Network {
    async fn new(fault: Fault, lab: &Lab) -> Self {
        let address = |url: String| url.trim_start_matches("http://").parse().expect("it is one");
        let ingress = address(lab.server.ingress());
        match fault {
            Fault::CutToServer => {
                let proxy = Proxy::to(ingress).await;
                Self { ingress: proxy.address, proxy: Some(proxy) }
            }
            Fault::CutToWorker => {
                let proxy = Proxy::to(lab.worker.address).await;
                // Announced later than the worker itself, so that calls go through it.
                lab.announce(proxy.address).await;
                Self { ingress, proxy: Some(proxy) }
            }
            Fault::KillNode => {
                let others = lab.nodes.iter().map(|node| address(node.ingress()));
                let ingress = Balancer::over([ingress].into_iter().chain(others).collect()).await;
                Self { ingress, proxy: None }
            }
            _ => Self { ingress, proxy: None },
        }
    }
}

async fn strike(fault: Fault, lab: &mut Lab, network: &Network) -> Option<RestateWorker> {
    let pause = || tokio::time::sleep(PAUSE);
    match fault {
        Fault::None => {}
        Fault::KillNode => lab.server.process.kill(),
        Fault::KillServer => lab.server.process.restart(),
        Fault::PauseServer => {
            lab.server.process.pause();
            pause().await;
            lab.server.process.resume();
        }
        Fault::KillWorker => lab.replace_worker(),
        Fault::PauseWorker => {
            lab.worker.process.signal(Signal::STOP);
            pause().await;
            lab.worker.process.signal(Signal::CONT);
        }
        Fault::KillBoth => {
            lab.server.process.kill();
            lab.replace_worker();
            lab.server.process.restart();
        }
        Fault::DeployWorker => {
            let second = RestateWorker::start(Some(lab.effects.path()));
            lab.announce(second.address).await;
            // Calls that have begun stay on the first worker.
            tokio::time::sleep(Duration::from_secs(1)).await;
            lab.worker.process.signal(Signal::INT);
            return Some(second);
        }
        Fault::CutToServer | Fault::CutToWorker => {
            let proxy = network.proxy.as_ref().expect("the row has one");
            proxy.cut(true);
            pause().await;
            proxy.cut(false);
        }
    }
    None
}
