//! A Restate server of one node.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::http;
use crate::process::Process;

/// A Restate server of one node with four partitions, which ends when this is dropped.
pub struct Restate {
    // Dropped before the folder.
    process: Process,
    program: PathBuf,
    ports: Ports,
    folder: TempDir,
}

/// The ports of the ingress, of the admin interface, and for other nodes.
type Ports = [u16; 3];

impl Restate {
    pub(crate) fn start(program: &Path) -> Self {
        let folder = TempDir::with_prefix("restate-").expect("a temporary folder can be created");
        let (process, ports) = Process::on_free_ports(
            |ports| command(program, ports, folder.path()),
            is_healthy,
            &log(folder.path()),
        );
        Self { process, program: program.to_owned(), ports, folder }
    }

    /// Returns the URL at which services are called.
    pub fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    /// Returns the URL of the admin interface.
    pub fn admin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[1])
    }

    /// Announces a worker, which the server asks for its services.
    ///
    /// # Errors
    ///
    /// The server cannot be reached or does not accept the worker.
    pub async fn register(&self, worker: &str) -> io::Result<()> {
        let (port, body) = (self.ports[1], serde_json::json!({ "uri": worker }).to_string());
        let asking = spawn_blocking(move || http::request(port, "POST", "/deployments", &body));
        match asking.await.map_err(io::Error::other)?? {
            (200..300, _) => Ok(()),
            (_, answer) => Err(io::Error::other(format!("the worker is not accepted: {answer}"))),
        }
    }

    /// Ends it at once (SIGKILL).
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Stops its process (SIGSTOP) until [`Restate::resume`]. Its connections stay open.
    pub fn pause(&self) {
        self.process.pause();
    }

    /// Continues its process (SIGCONT).
    pub fn resume(&self) {
        self.process.resume();
    }

    /// Ends it if it runs, and starts it again with its ports and folder.
    ///
    /// # Panics
    ///
    /// Panics if it does not start.
    pub fn restart(&mut self) {
        self.process.kill();
        let (ports, folder) = (self.ports, self.folder.path());
        let command = command(&self.program, ports, folder);
        self.process = Process::again(command, || is_healthy(ports), &log(folder));
    }
}

fn command(program: &Path, [ingress, admin, fabric]: Ports, folder: &Path) -> Command {
    let log = File::create(log(folder)).expect("the folder is writable");
    let output = log.try_clone().expect("a file can be opened twice");
    let mut command = Command::new(program);
    command.args(["--listen-mode", "tcp", "--bind-ip", "127.0.0.1", "--node-name", "n1"]);
    command.args(["--no-logo", "--default-num-partitions", "4", "--bind-port"]);
    command.arg(fabric.to_string()).arg("--base-dir").arg(folder);
    command.env("RESTATE_INGRESS__BIND_PORT", ingress.to_string());
    command.env("RESTATE_ADMIN__BIND_PORT", admin.to_string());
    command.env("RESTATE_DISABLE_TELEMETRY", "true").env("DO_NOT_TRACK", "1");
    command.stdin(Stdio::null()).stdout(output).stderr(log);
    command
}

/// Returns whether both interfaces are healthy. The ingress only is once the partitions have leaders.
fn is_healthy([ingress, admin, _]: Ports) -> bool {
    let is_healthy =
        |port, path| http::request(port, "GET", path, "").is_ok_and(|(status, _)| status == 200);
    is_healthy(admin, "/health") && is_healthy(ingress, "/restate/health")
}

fn log(folder: &Path) -> PathBuf {
    folder.join("log")
}
