//! A server, and workers in processes of their own.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use toolwright_engines::Restate;
use toolwright_restate::Ingress;

pub(crate) struct WorkerProcess {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl WorkerProcess {
    /// Starts a worker, and waits until it listens.
    pub(crate) async fn start(effects: Option<&Path>, port: Option<u16>) -> Self {
        let port = port.unwrap_or_else(|| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
            listener.local_addr().expect("it is bound").port()
        });
        let program = std::env::current_exe().expect("the program has a path");
        let child = Command::new(program)
            .args(["worker", &port.to_string()])
            .args(effects)
            .stdin(Stdio::null())
            .spawn()
            .expect("this program can be started");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        while TcpStream::connect(address).is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Self { child, address }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // It runs until it is killed.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A server with one worker.
pub(crate) struct Lab {
    pub(crate) server: Restate,
    pub(crate) worker: WorkerProcess,
    pub(crate) effects: TempDir,
}

impl Lab {
    pub(crate) async fn start() -> Option<Self> {
        let server = toolwright_engines::restate()?;
        let effects = TempDir::with_prefix("effects-").expect("a temporary folder can be created");
        let worker = WorkerProcess::start(Some(effects.path()), None).await;
        let lab = Self { server, worker, effects };
        lab.announce(lab.worker.address).await;
        Some(lab)
    }

    pub(crate) async fn announce(&self, worker: SocketAddr) {
        let announced = self.server.register(&format!("http://{worker}")).await;
        announced.expect("the worker is there");
    }

    pub(crate) fn ingress(&self) -> Ingress {
        Ingress::new(&self.server.ingress()).expect("it is an address")
    }

    pub(crate) async fn replace_worker(&mut self) {
        self.worker.kill();
        let port = self.worker.address.port();
        self.worker = WorkerProcess::start(Some(self.effects.path()), Some(port)).await;
    }

    /// Returns how often each effect was attempted.
    pub(crate) fn attempts(&self) -> BTreeMap<String, usize> {
        let text = std::fs::read_to_string(self.effects.path().join("attempts"));
        let mut attempts = BTreeMap::new();
        for key in text.unwrap_or_default().lines() {
            *attempts.entry(key.to_owned()).or_default() += 1;
        }
        attempts
    }

    /// Returns the number of effects.
    pub(crate) fn effects(&self) -> usize {
        let entries = std::fs::read_dir(self.effects.path()).expect("the folder is there");
        // One is the list of attempts.
        entries.count().saturating_sub(1)
    }
}
