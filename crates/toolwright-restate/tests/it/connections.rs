//! Connections between the server and workers that end while a run goes on.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use toolwright::Payload;
use toolwright_restate::{RestateToolset, Runs, Start};
use toolwright_runtime::{Agent, Registry, Runtime, Script};

use crate::lab::{Lab, Running, call, slow, until};

/// Forwards connections, and can cut them.
struct Proxy {
    address: SocketAddr,
    connections: Arc<Mutex<JoinSet<()>>>,
}

impl Proxy {
    async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(Mutex::new(JoinSet::new()));
        let accepted = Arc::clone(&connections);
        tokio::spawn(async move {
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let mut far = TcpStream::connect(to).await.unwrap();
                accepted.lock().unwrap().spawn(async move {
                    let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                });
            }
        });
        Self { address, connections }
    }

    fn cut(&self) {
        self.connections.lock().unwrap().abort_all();
    }
}

/// Only the connection is lost. The worker itself goes on, and must not take its end for the end of the run.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_connection_is_cut_waits_for_the_calls_that_it_made() {
    let (began, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let made = (Arc::clone(&began), Arc::clone(&ended));
    let time = Duration::from_secs(2);
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tool(slow(&made.0, &made.1, time)).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let ingress = lab.ingress();
    let slow = slow(&began, &ended, time).entry().spec_ref().clone();
    let remote = RestateToolset::new(&ingress, [slow]);
    let caller = move || {
        let registry = Registry::new();
        registry.register_toolset("far", remote.clone()).unwrap();
        let planner = Script::new().call(vec![call("slow", "s", 1)]).finish(Payload::new("0"));
        let agent = Agent::new("caller", "lab").with_toolsets(["far"]);
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    };
    let worker = Running::start(caller, None);
    let proxy = Proxy::start(worker.address).await;
    lab.server.register(&format!("http://{}", proxy.address)).await.unwrap();
    let runs = Runs::new(&ingress, "caller");
    runs.start("r1", &Start::new(&Payload::new("{}")).unwrap()).await.unwrap();
    until(|| async { began.load(Ordering::SeqCst) == 1 }, "the call").await;
    proxy.cut();
    assert_eq!(runs.result("r1").await.unwrap().unwrap().as_str(), "0");
    let log = runs.log("r1").await.unwrap();
    let failures: Vec<_> = log.iter().filter_map(|line| line.failure.as_deref()).collect();
    assert!(failures.is_empty(), "{failures:?}");
    assert_eq!((began.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)), (1, 1));
}
