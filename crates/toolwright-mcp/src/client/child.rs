//! Starts a server as a child process, and ends it together with the processes that it has started.

use std::env;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use toolwright::untrusted::Redactor;

use super::address::{Inherited, PLAIN_VARIABLES, ServerCommand, Stderr, redactor};

/// How long a server may take to exit after its standard input is closed, and again after SIGTERM.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The number of bytes after which a line of standard error is cut.
const MAX_LINE: u64 = 64 * 1024;

/// A running server, which is killed when it is dropped.
#[derive(Debug)]
pub(super) struct ServerProcess(Child);

/// Starts a server. Returns the process, its standard output and its standard input.
pub(super) fn start(
    command: &ServerCommand,
) -> io::Result<(ServerProcess, ChildStdout, ChildStdin)> {
    let mut child = process_command(command).spawn()?;
    if let (Stderr::Sink(sink), Some(stderr)) = (&command.stderr, child.stderr.take()) {
        tokio::spawn(forward_stderr(stderr, sink.clone(), redactor(&command.secrets)));
    }
    let streams = child.stdout.take().zip(child.stdin.take());
    let (stdout, stdin) =
        streams.ok_or_else(|| io::Error::other("the child process has no standard streams"))?;
    Ok((ServerProcess(child), stdout, stdin))
}

fn process_command(command: &ServerCommand) -> Command {
    let mut process = Command::new(&command.program);
    if !matches!(command.inherited, Inherited::All) {
        process.env_clear();
    }
    if matches!(command.inherited, Inherited::Plain) {
        let known = PLAIN_VARIABLES.iter().filter_map(|name| Some((name, env::var_os(name)?)));
        process.envs(known);
    }
    process.args(&command.args).envs(command.envs.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = &command.cwd {
        process.current_dir(folder);
    }
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(match command.stderr {
        Stderr::Null => Stdio::null(),
        Stderr::Inherit => Stdio::inherit(),
        Stderr::Sink(_) => Stdio::piped(),
    });
    process.kill_on_drop(true);
    // In its own process group, the server's children can be killed with it, and Ctrl-C reaches only this process.
    #[cfg(unix)]
    process.process_group(0);
    process
}

/// Passes standard error to a function, so that the server never blocks on writing it.
async fn forward_stderr(
    stderr: ChildStderr,
    sink: Arc<dyn Fn(&str) + Send + Sync>,
    redactor: Redactor,
) {
    let mut stderr = BufReader::new(stderr);
    let (mut line, mut is_rest) = (Vec::new(), false);
    while let Ok(read) = (&mut stderr).take(MAX_LINE).read_until(b'\n', &mut line).await {
        if read == 0 {
            return;
        }
        let is_cut = read as u64 == MAX_LINE && !line.ends_with(b"\n");
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\r', '\n']);
        match (is_rest, is_cut) {
            (true, _) => {}
            (false, true) => sink(&(redactor.redacted_beginning(text) + "…")),
            (false, false) => sink(&redactor.redacted(text)),
        }
        is_rest = is_cut;
        line.clear();
    }
}

impl ServerProcess {
    /// Ends the server as MCP requires. The caller has closed its standard input. If the server does not exit, it gets
    /// SIGTERM and then SIGKILL.
    pub(super) async fn end(&mut self) {
        if timeout(EXIT_TIMEOUT, self.exited()).await.is_err() {
            self.signal(Signal::Term);
            let _ = timeout(EXIT_TIMEOUT, self.exited()).await;
        }
        // Processes that the server started may still run. Its id, which is that of the group, is not reused before it is waited for.
        self.signal(Signal::Kill);
        if let Err(error) = self.0.wait().await {
            tracing::warn!("cannot wait for an MCP server to exit: {error}");
        }
    }

    /// Waits until the server has exited, without reaping it.
    #[cfg(unix)]
    async fn exited(&self) {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        use tokio::signal::unix::{SignalKind, signal};
        let Some(id) = group(self.0.id()) else { return };
        // Created before the server is looked at, so that no signal is missed.
        let Ok(mut child_signals) = signal(SignalKind::child()) else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while let Ok(None) = waitid(WaitId::Pid(id), options) {
            child_signals.recv().await;
        }
    }

    #[cfg(not(unix))]
    async fn exited(&mut self) {
        let _ = self.0.wait().await;
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

/// Returns the id of a process, which is that of its group.
#[cfg(unix)]
fn group(id: Option<u32>) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(id?).ok()?)
}

/// Sends a signal to a process group, if it still exists.
#[cfg(unix)]
fn signal(id: Option<u32>, which: Signal) {
    use rustix::process::kill_process_group;
    let which = match which {
        Signal::Term => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
    };
    if let Some(group) = group(id)
        && let Err(error) = kill_process_group(group, which)
    {
        tracing::trace!("a process group is gone: {error}");
    }
}

/// Does nothing: on this platform only the child itself is killed, when it is dropped.
#[cfg(not(unix))]
fn signal(_: Option<u32>, _: Signal) {}
