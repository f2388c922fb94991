//! Restate servers.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tokio::task::spawn_blocking;

use crate::http;
use crate::process::{Launch, Process, attempt, free_ports};

/// A node of Restate with four partitions, which ends when this is dropped.
pub struct Restate {
    /// Its process.
    pub process: Process,
    ports: Ports,
}

/// The ports of the ingress, of the admin interface, and for other nodes.
type Ports = [u16; 3];

impl Restate {
    /// Starts a server of one node.
    pub(crate) fn start(program: &Path) -> Self {
        let [node] = Self::cluster(program);
        node
    }

    /// Starts nodes that store everything twice, if there are several.
    pub(crate) fn cluster<const N: usize>(program: &Path) -> [Self; N] {
        let nodes = attempt(|| {
            let ports: Vec<Ports> = (0..N).map(|_| free_ports()).collect();
            let spawn = |node| {
                let process = Process::spawn(launch(program.to_owned(), ports.clone(), node))?;
                Ok(Self { process, ports: ports[node] })
            };
            // Nodes become healthy together.
            let mut nodes = (0..N).map(spawn).collect::<io::Result<Vec<_>>>()?;
            nodes.iter_mut().try_for_each(|node| node.process.wait())?;
            Ok(nodes)
        });
        nodes.try_into().unwrap_or_else(|_| unreachable!("there are as many as wanted"))
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
}

/// Returns how to start a node of those with these ports.
fn launch(program: PathBuf, nodes: Vec<Ports>, node: usize) -> Launch {
    let [ingress, admin, fabric] = nodes[node];
    let command = move |folder: &Path| {
        let mut command = Command::new(&program);
        command.args(["--listen-mode", "tcp", "--bind-ip", "127.0.0.1", "--no-logo"]);
        command.args(["--node-name", &format!("n{node}"), "--bind-port", &fabric.to_string()]);
        command.args(["--default-num-partitions", "4", "--base-dir"]).arg(folder);
        command.env("RESTATE_INGRESS__BIND_PORT", ingress.to_string());
        command.env("RESTATE_ADMIN__BIND_PORT", admin.to_string());
        command.env("RESTATE_DISABLE_TELEMETRY", "true").env("DO_NOT_TRACK", "1");
        if nodes.len() > 1 {
            let address = |[.., fabric]: &Ports| format!("http://127.0.0.1:{fabric}");
            let addresses: Vec<_> = nodes.iter().map(address).collect();
            let addresses = serde_json::json!(addresses).to_string();
            command.env("RESTATE_METADATA_CLIENT__ADDRESSES", addresses);
            command.env("RESTATE_AUTO_PROVISION", (node == 0).to_string());
            command.env("RESTATE_DEFAULT_REPLICATION", "2");
        }
        command
    };
    let is_healthy = move |_: &Path| is_healthy(ingress, admin);
    Launch { prefix: "restate-", command: Box::new(command), is_healthy: Box::new(is_healthy) }
}

/// Returns whether both interfaces are healthy. The ingress only is once the partitions have leaders.
fn is_healthy(ingress: u16, admin: u16) -> bool {
    let is_healthy =
        |port, path| http::request(port, "GET", path, "").is_ok_and(|(status, _)| status == 200);
    is_healthy(admin, "/health") && is_healthy(ingress, "/restate/health")
}
