//! A server in a child process, which ends with it.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// The time in which a server must become healthy.
const START: Duration = Duration::from_mins(1);

/// How often another port is tried, if another process took a port before the server.
const ATTEMPTS: usize = 5;

pub(crate) struct Process {
    child: Child,
}

impl Process {
    /// Starts a server on free ports, and returns it with the ports.
    pub(crate) fn on_free_ports<const N: usize>(
        command: impl Fn([u16; N]) -> Command,
        is_healthy: impl Fn([u16; N]) -> bool,
        log: &Path,
    ) -> (Self, [u16; N]) {
        let started = (0..ATTEMPTS).find_map(|_| {
            let ports = free_ports();
            Some((Self::start(&mut command(ports), || is_healthy(ports)).ok()?, ports))
        });
        started.unwrap_or_else(|| panic!("{}", not_started(log)))
    }

    /// Starts a server again, on the ports it had.
    pub(crate) fn again(mut command: Command, is_healthy: impl Fn() -> bool, log: &Path) -> Self {
        // The system may take a moment to free the ports of a process that was killed.
        let started = (0..ATTEMPTS).find_map(|_| Self::start(&mut command, &is_healthy).ok());
        started.unwrap_or_else(|| panic!("{}", not_started(log)))
    }

    fn start(command: &mut Command, is_healthy: impl Fn() -> bool) -> io::Result<Self> {
        let mut process = Self { child: command.spawn()? };
        let end = Instant::now() + START;
        while !is_healthy() {
            if process.child.try_wait()?.is_some() || Instant::now() > end {
                return Err(io::ErrorKind::NotConnected.into());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(process)
    }

    /// Ends it at once (SIGKILL).
    pub(crate) fn kill(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Stops it until [`Process::resume`] (SIGSTOP), and waits until all its threads have stopped.
    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
        let stopped = waitid(WaitId::Pid(Pid::from_child(&self.child)), WaitIdOptions::STOPPED);
        stopped.expect("it is a child of this process");
    }

    /// Continues it (SIGCONT).
    pub(crate) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let signalled = kill_process(Pid::from_child(&self.child), signal);
        signalled.expect("the process is not waited for while it has a handle");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_ports<const N: usize>() -> [u16; N] {
    // All are bound at once, so that they differ.
    let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let listeners: [TcpListener; N] = std::array::from_fn(bind);
    listeners.map(|listener| listener.local_addr().expect("it is bound").port())
}

fn not_started(log: &Path) -> String {
    let written = std::fs::read_to_string(log).unwrap_or_default();
    format!("a server did not become healthy; its log:\n{written}")
}
