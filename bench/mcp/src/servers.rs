//! The servers that are compared: the commands that start them and the numbers of calls.

use std::path::Path;
use std::process::{self, Command};
use std::sync::Arc;
use std::{env, io};

use toolwright_prerequisites::{Npm, PyPi};

use crate::driver::{Client, Http, Stdio, Transport};
use crate::process::Served;

/// The folder with the pinned versions and the scripts of the peers.
const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

/// One of the servers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerKind {
    Ours,
    ByHand,
    TypeScript,
    FastMcp,
}

/// The installed packages of the peers.
pub(crate) struct Installed {
    npm: Npm,
    pypi: PyPi,
}

/// A running server with a connected client.
pub(crate) struct Running {
    pub(crate) kind: ServerKind,
    pub(crate) client: Client,
    pub(crate) server: Server,
}

/// The process of a server, which ends when this is dropped.
pub(crate) enum Server {
    Stdio(Arc<Stdio>),
    Http(Served, Transport),
}

impl ServerKind {
    /// Returns its name for tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "toolwright",
            Self::ByHand => "rmcp 3.9, by hand",
            Self::TypeScript => "TypeScript SDK 1.32",
            Self::FastMcp => "FastMCP 4.1",
        }
    }

    /// Returns the target for the ratio of our cost to that of this server.
    pub(crate) fn target(self) -> Option<f64> {
        match self {
            Self::ByHand => Some(1.1),
            Self::FastMcp => Some(0.1),
            Self::Ours | Self::TypeScript => None,
        }
    }

    /// Returns the servers that support a transport. Version 1 of the TypeScript SDK does not support stateless requests.
    pub(crate) fn all(transport: Transport) -> &'static [Self] {
        match transport {
            Transport::Stateless => &[Self::Ours, Self::ByHand, Self::FastMcp],
            _ => &[Self::Ours, Self::ByHand, Self::TypeScript, Self::FastMcp],
        }
    }

    /// Returns the number of calls in a round, which is large enough for the precision of the clock.
    pub(crate) fn calls(self) -> u32 {
        match self {
            Self::Ours | Self::ByHand => 2_000,
            Self::TypeScript => 1_000,
            Self::FastMcp => 200,
        }
    }
}

impl Installed {
    /// Installs the peers below a folder.
    pub(crate) fn under(folder: &Path) -> io::Result<Self> {
        let pins = Path::new(PEERS);
        let (npm, pypi) = (folder.join("mcp-bench-npm"), folder.join("mcp-bench-pypi"));
        Ok(Self { npm: Npm::install(pins, &npm)?, pypi: PyPi::install(pins, &pypi)? })
    }

    /// Starts a server and connects a client.
    pub(crate) async fn start(
        &self,
        kind: ServerKind,
        transport: Transport,
    ) -> io::Result<Running> {
        let server = Server::start(self.command(kind, transport)?, transport).await?;
        Ok(Running { kind, client: server.client().await?, server })
    }

    /// Starts a server with several threads, without a client.
    pub(crate) async fn start_under_load(
        &self,
        kind: ServerKind,
        transport: Transport,
    ) -> io::Result<Server> {
        let mut command = self.command(kind, transport)?;
        if matches!(kind, ServerKind::Ours | ServerKind::ByHand) {
            command.arg("--threads");
        }
        // Errors of the server are intended.
        command.stderr(process::Stdio::null());
        Server::start(command, transport).await
    }

    fn command(&self, kind: ServerKind, transport: Transport) -> io::Result<Command> {
        let mut command = match kind {
            ServerKind::Ours | ServerKind::ByHand => {
                let mut command = Command::new(env::current_exe()?);
                command.args(["serve", if kind == ServerKind::Ours { "ours" } else { "by-hand" }]);
                command
            }
            ServerKind::TypeScript => self.npm.script("typescript_server.mjs")?,
            ServerKind::FastMcp => self.pypi.script("fastmcp_server.py"),
        };
        command.arg(if transport == Transport::Stdio { "stdio" } else { "http" });
        Ok(command)
    }
}

impl Server {
    async fn start(mut command: Command, transport: Transport) -> io::Result<Self> {
        if transport == Transport::Stdio {
            return Ok(Self::Stdio(Arc::new(Stdio::start(command).await?)));
        }
        Ok(Self::Http(Served::start(&mut command)?, transport))
    }

    /// Returns the id of the process.
    pub(crate) fn process(&self) -> io::Result<u32> {
        match self {
            Self::Stdio(stdio) => stdio.id(),
            Self::Http(served, _) => Ok(served.id()),
        }
    }

    /// Returns the URL of an HTTP server.
    pub(crate) fn url(&self) -> Option<&str> {
        match self {
            Self::Stdio(_) => None,
            Self::Http(served, _) => Some(served.url()),
        }
    }

    /// Connects a client. Each has its own connection over HTTP; over standard streams all clients share one.
    pub(crate) async fn client(&self) -> io::Result<Client> {
        Ok(match self {
            Self::Stdio(stdio) => Client::Stdio(Arc::clone(stdio)),
            Self::Http(served, Transport::Stateless) => {
                Client::Http(Http::stateless(served.url()).await?)
            }
            Self::Http(served, _) => Client::Http(Http::session(served.url()).await?),
        })
    }
}
