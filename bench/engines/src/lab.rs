//! A server, and workers in processes of their own.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use toolwright::{Outcome, Payload, Scope, ToolCall};
use toolwright_engines::Restate;
use toolwright_restate::Ingress;
use toolwright_runtime::Toolset;

/// The number of calls at once.
pub(crate) const AT_ONCE: usize = 32;

/// This program as another process, which ends when this is dropped.
pub(crate) struct Worker(Child);

impl Worker {
    /// Starts a subcommand, and waits until it writes a line, as it does when it serves.
    pub(crate) fn start(arguments: &[&OsStr]) -> Self {
        let program = std::env::current_exe().expect("the program has a path");
        let mut command = Command::new(program);
        let starting = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut worker = Self(starting.expect("this program can be started"));
        let output = worker.0.stdout.take().expect("it is piped");
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        assert!(read.is_ok_and(|length| length > 0), "a worker did not start");
        worker
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn kill(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // It runs until it is killed.
        let _ = kill_process(Pid::from_child(&self.0), signal);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A worker of Restate.
pub(crate) struct RestateWorker {
    pub(crate) process: Worker,
    pub(crate) address: SocketAddr,
}

impl RestateWorker {
    /// Starts one with the tools of the bench, or without a folder for effects, one with the handler by the SDK alone.
    pub(crate) fn start(effects: Option<&Path>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        drop(listener);
        Self::start_at(address, effects)
    }

    fn start_at(address: SocketAddr, effects: Option<&Path>) -> Self {
        let port = address.port().to_string();
        let mut arguments = vec![OsStr::new("worker"), port.as_ref()];
        arguments.extend(effects.map(Path::as_os_str));
        Self { process: Worker::start(&arguments), address }
    }
}

/// A folder with the effects of calls.
pub(crate) struct Effects(TempDir);

impl Effects {
    pub(crate) fn new() -> Self {
        Self(TempDir::with_prefix("effects-").expect("a temporary folder can be created"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns how often each effect was attempted.
    pub(crate) fn attempts(&self) -> BTreeMap<String, usize> {
        let text = std::fs::read_to_string(self.path().join("attempts"));
        let mut attempts = BTreeMap::new();
        for key in text.unwrap_or_default().lines() {
            *attempts.entry(key.to_owned()).or_default() += 1;
        }
        attempts
    }

    /// Waits until this many effects were attempted.
    pub(crate) async fn until(&self, attempts: usize) {
        while self.attempts().len() < attempts {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Returns the number of effects.
    pub(crate) fn count(&self) -> usize {
        let entries = std::fs::read_dir(self.path()).expect("the folder is there");
        // One is the list of attempts.
        entries.count().saturating_sub(1)
    }
}

/// Calls the tool `effect` with as many keys, and returns how each call ended and how long it took.
pub(crate) async fn call_all(toolset: &impl Toolset, calls: usize) -> Vec<(Outcome, Duration)> {
    let calls = (0..calls).map(|n| async move {
        let scope = Scope { run_id: Some("torture".to_owned()), ..Scope::default() };
        let args = Payload::new(format!(r#"{{"key":"{n}"}}"#));
        let call = ToolCall::new("effect", args).with_id(format!("{n}")).with_scope(scope);
        let began = Instant::now();
        (toolset.call(&call).await.outcome, began.elapsed())
    });
    futures_util::stream::iter(calls).buffer_unordered(AT_ONCE).collect().await
}

/// A server with one worker.
pub(crate) struct Lab {
    pub(crate) server: Restate,
    /// The other nodes of a cluster.
    pub(crate) nodes: Vec<Restate>,
    pub(crate) worker: RestateWorker,
    pub(crate) effects: Effects,
}

impl Lab {
    /// Starts a server of one node.
    pub(crate) async fn start() -> Option<Self> {
        Some(Self::of(toolwright_engines::restate()?, Vec::new()).await)
    }

    /// Starts a cluster of three nodes.
    pub(crate) async fn cluster() -> Option<Self> {
        let [server, second, third] = toolwright_engines::restate_cluster()?;
        Some(Self::of(server, vec![second, third]).await)
    }

    async fn of(server: Restate, nodes: Vec<Restate>) -> Self {
        let effects = Effects::new();
        let worker = RestateWorker::start(Some(effects.path()));
        let lab = Self { server, nodes, worker, effects };
        lab.announce(lab.worker.address).await;
        lab
    }

    pub(crate) async fn announce(&self, worker: SocketAddr) {
        let announced = self.server.register(&format!("http://{worker}")).await;
        announced.expect("the worker is there");
    }

    pub(crate) fn ingress(&self) -> Ingress {
        Ingress::new(&self.server.ingress()).expect("it is an address")
    }

    pub(crate) fn replace_worker(&mut self) {
        self.worker.process.kill();
        self.worker = RestateWorker::start_at(self.worker.address, Some(self.effects.path()));
    }
}
