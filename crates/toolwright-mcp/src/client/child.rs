//! A server as a child process: started, and ended with all that it started. Never reads what it says.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::address::{ServerCommand, Stderr};

/// How long a server may take to end once its standard input is closed, and again once it is told to.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest line of standard error that is handed on whole.
const LONGEST_LINE: u64 = 8 * 1024;

/// A running server. Dropped, it is killed.
#[derive(Debug)]
pub(super) struct ServerProcess(Child);

/// Starts a server: the process, what it says and what it hears.
pub(super) fn start(
    command: &ServerCommand,
) -> io::Result<(ServerProcess, ChildStdout, ChildStdin)> {
    let mut child = prepared(command).spawn()?;
    if let (Stderr::Sink(sink), Some(stderr)) = (&command.stderr, child.stderr.take()) {
        tokio::spawn(drain(stderr, sink.clone()));
    }
    let streams = child.stdout.take().zip(child.stdin.take());
    let (stdout, stdin) = streams.ok_or_else(|| io::Error::other("it has no standard streams"))?;
    Ok((ServerProcess(child), stdout, stdin))
}

fn prepared(command: &ServerCommand) -> Command {
    let mut prepared = Command::new(&command.program);
    if !command.inherits_env {
        prepared.env_clear();
    }
    prepared.args(&command.args).envs(command.envs.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = &command.cwd {
        prepared.current_dir(folder);
    }
    prepared.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(match command.stderr {
        Stderr::Null => Stdio::null(),
        Stderr::Inherit => Stdio::inherit(),
        Stderr::Sink(_) => Stdio::piped(),
    });
    prepared.kill_on_drop(true);
    // A group of its own: what it starts ends with it, and a Ctrl-C on our terminal is ours alone.
    #[cfg(unix)]
    prepared.process_group(0);
    prepared
}

/// Hands standard error on, so that the server never waits for it to be read.
async fn drain(stderr: ChildStderr, sink: std::sync::Arc<dyn Fn(&str) + Send + Sync>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    while let Ok(read) = (&mut stderr).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
        if read == 0 {
            return;
        }
        sink(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
        line.clear();
    }
}

impl ServerProcess {
    /// Ends it as the protocol asks: its standard input is closed already; if that is not enough it is told to end, and
    /// at last it is killed.
    pub(super) async fn end(&mut self) {
        if !self.ends_soon().await {
            self.signal(Signal::Term);
            if !self.ends_soon().await {
                self.signal(Signal::Kill);
                if let Err(error) = self.0.wait().await {
                    tracing::warn!("a server could not be waited for: {error}");
                }
            }
        }
    }

    async fn ends_soon(&mut self) -> bool {
        let group = self.0.id();
        let ended = tokio::time::timeout(PATIENCE, self.0.wait()).await.is_ok();
        if ended {
            // What it had started and left behind.
            signal(group, Signal::Kill);
        }
        ended
    }

    fn signal(&self, which: Signal) {
        signal(self.0.id(), which);
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
    }
}

#[derive(Clone, Copy)]
enum Signal {
    Term,
    Kill,
}

/// Sends a signal to a group of processes, if it is there still.
#[cfg(unix)]
fn signal(group: Option<u32>, which: Signal) {
    use rustix::process::{Pid, kill_process_group};
    let group = group.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let which = match which {
        Signal::Term => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
    };
    if let Some(group) = group
        && let Err(error) = kill_process_group(group, which)
    {
        tracing::trace!("a group of processes is gone: {error}");
    }
}

/// Only the child itself can be ended here: it is, when it is dropped.
#[cfg(not(unix))]
fn signal(_: Option<u32>, _: Signal) {}
