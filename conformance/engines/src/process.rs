//! A server in a child process, which ends with it.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tempfile::TempDir;

/// The time in which a server must become healthy.
const START: Duration = Duration::from_mins(1);

/// The number of times that servers are started, as another process may take a port before them, and the system may take a
/// moment to free the ports of a process that was killed.
const ATTEMPTS: usize = 5;

/// The command that starts a server in its folder, and the check of its health.
pub(crate) struct Launch {
    /// The beginning of the folder's name.
    pub(crate) prefix: &'static str,
    pub(crate) command: Box<dyn Fn(&Path) -> Command + Send + Sync>,
    pub(crate) is_healthy: Box<dyn Fn(&Path) -> bool + Send + Sync>,
}

/// The process of a server with a folder of its own. It ends when this is dropped.
pub struct Process {
    child: Child,
    launch: Launch,
    folder: TempDir,
}

impl Process {
    /// Starts a server. It may not be healthy yet.
    pub(crate) fn spawn(launch: Launch) -> io::Result<Self> {
        let folder = TempDir::with_prefix(launch.prefix)?;
        let child = child(&launch, folder.path())?;
        Ok(Self { child, launch, folder })
    }

    /// Waits until the server is healthy.
    ///
    /// # Errors
    ///
    /// It has ended, or is not healthy after a minute.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        let end = Instant::now() + START;
        while !(self.launch.is_healthy)(self.folder.path()) {
            if self.child.try_wait()?.is_some() || Instant::now() > end {
                let log = std::fs::read_to_string(self.folder.path().join(LOG))?;
                let message = format!("a server did not become healthy; its log:\n{log}");
                return Err(io::Error::other(message));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns the id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the folder with its data.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends it at once (SIGKILL).
    pub fn kill(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Stops it until [`Process::resume`] (SIGSTOP), and waits until all its threads have stopped. Its connections stay open.
    ///
    /// # Panics
    ///
    /// Panics if it was killed.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
        let stopped = waitid(WaitId::Pid(Pid::from_child(&self.child)), WaitIdOptions::STOPPED);
        stopped.expect("it is a child of this process");
    }

    /// Continues it (SIGCONT).
    ///
    /// # Panics
    ///
    /// Panics if it was killed.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let signalled = kill_process(Pid::from_child(&self.child), signal);
        signalled.expect("the process is not waited for while it has a handle");
    }

    /// Ends it if it runs, and starts it again with its ports and folder.
    ///
    /// # Panics
    ///
    /// Panics if it does not start.
    pub fn restart(&mut self) {
        attempt(|| {
            self.kill();
            self.child = child(&self.launch, self.folder.path())?;
            self.wait()
        });
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

const LOG: &str = "log";

fn child(launch: &Launch, folder: &Path) -> io::Result<Child> {
    let log = File::create(folder.join(LOG))?;
    let output = log.try_clone()?;
    (launch.command)(folder).stdin(Stdio::null()).stdout(output).stderr(log).spawn()
}

/// Starts servers, several times if that fails.
pub(crate) fn attempt<T>(mut start: impl FnMut() -> io::Result<T>) -> T {
    let mut started = start();
    for _ in 1..ATTEMPTS {
        if started.is_ok() {
            break;
        }
        started = start();
    }
    started.unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn free_ports<const N: usize>() -> [u16; N] {
    // All are bound at once, so that they differ.
    let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let listeners: [TcpListener; N] = std::array::from_fn(bind);
    listeners.map(|listener| listener.local_addr().expect("it is bound").port())
}
