//! A NATS server.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::process::Process;

/// A NATS server with `JetStream`, which ends when this is dropped.
pub struct Nats {
    // Dropped before the folder.
    process: Process,
    program: PathBuf,
    port: u16,
    folder: TempDir,
}

impl Nats {
    pub(crate) fn start(program: &Path) -> Self {
        let folder = TempDir::with_prefix("nats-").expect("a temporary folder can be created");
        let (process, [port]) = Process::on_free_ports(
            |[port]| command(program, port, folder.path()),
            |[port]| is_healthy(port, folder.path()),
            &log(folder.path()),
        );
        Self { process, program: program.to_owned(), port, folder }
    }

    /// Returns its address for clients.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Ends it at once (SIGKILL).
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Stops its process (SIGSTOP) until [`Nats::resume`]. Its connections stay open.
    pub fn pause(&self) {
        self.process.pause();
    }

    /// Continues its process (SIGCONT).
    pub fn resume(&self) {
        self.process.resume();
    }

    /// Ends it if it runs, and starts it again with its port and folder.
    ///
    /// # Panics
    ///
    /// Panics if it does not start.
    pub fn restart(&mut self) {
        self.process.kill();
        let (port, folder) = (self.port, self.folder.path());
        let command = command(&self.program, port, folder);
        self.process = Process::again(command, || is_healthy(port, folder), &log(folder));
    }
}

fn command(program: &Path, port: u16, folder: &Path) -> Command {
    let log = File::create(log(folder)).expect("the folder is writable");
    let mut command = Command::new(program);
    command.args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream"]);
    command.args(["--server_name", name(folder)]).arg("--store_dir").arg(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command
}

/// Returns whether the server of this folder, and no other, listens on the port. A server begins with its name.
fn is_healthy(port: u16, folder: &Path) -> bool {
    let first_line = || {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).map(|_| line)
    };
    first_line().is_ok_and(|line: String| line.contains(name(folder)))
}

fn name(folder: &Path) -> &str {
    folder.file_name().and_then(|name| name.to_str()).expect("its name is random letters")
}

fn log(folder: &Path) -> PathBuf {
    folder.join("log")
}
