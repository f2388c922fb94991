//! A NATS server.

use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::{Launch, Process, attempt, free_ports};

/// A NATS server with `JetStream`, which ends when this is dropped.
pub struct Nats {
    /// Its process.
    pub process: Process,
    port: u16,
}

impl Nats {
    pub(crate) fn start(program: &Path) -> Self {
        attempt(|| {
            let [port] = free_ports();
            let mut process = Process::spawn(launch(program.to_owned(), port))?;
            process.wait()?;
            Ok(Self { process, port })
        })
    }

    /// Returns its address for clients.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

fn launch(program: PathBuf, port: u16) -> Launch {
    let command = move |folder: &Path| {
        let mut command = Command::new(&program);
        command.args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream"]);
        command.args(["--server_name", name(folder)]).arg("--store_dir").arg(folder);
        command
    };
    let is_healthy = move |folder: &Path| is_healthy(port, folder);
    Launch { prefix: "nats-", command: Box::new(command), is_healthy: Box::new(is_healthy) }
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
