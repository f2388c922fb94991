//! Who is compared: how each server is started and how many calls it gets. Measures nothing.

use std::path::Path;
use std::process::{self, Command};
use std::sync::Arc;
use std::{env, io};

use toolwright_prerequisites::{Npm, PyPi};

use crate::driver::{Client, Http, Stdio, Way};
use crate::process::Served;

/// Where the pins and the scripts of the peers stand.
const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

/// One of the servers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Ours,
    ByHand,
    TypeScript,
    FastMcp,
}

/// What the peers are run from.
pub(crate) struct Installed {
    npm: Npm,
    pypi: PyPi,
}

/// A server at work, with a client that has met it.
pub(crate) struct Running {
    pub(crate) side: Side,
    pub(crate) client: Client,
    pub(crate) server: Server,
}

/// The process of a server, which ends when this is dropped.
pub(crate) enum Server {
    Stdio(Arc<Stdio>),
    Http(Served, Way),
}

impl Side {
    /// How it is named in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "toolwright",
            Self::ByHand => "rmcp 3.9, by hand",
            Self::TypeScript => "TypeScript SDK 1.32",
            Self::FastMcp => "FastMCP 4.1",
        }
    }

    /// What we want to stay under, as a multiple of it.
    pub(crate) fn target(self) -> Option<f64> {
        match self {
            Self::ByHand => Some(1.1),
            Self::FastMcp => Some(0.1),
            Self::Ours | Self::TypeScript => None,
        }
    }

    /// Those that serve in this way. Version 1 of the TypeScript SDK knows no requests that stand alone.
    pub(crate) fn all(way: Way) -> &'static [Self] {
        match way {
            Way::Stateless => &[Self::Ours, Self::ByHand, Self::FastMcp],
            _ => &[Self::Ours, Self::ByHand, Self::TypeScript, Self::FastMcp],
        }
    }

    /// How many calls one round has: enough for a time that is long beside the clock's steps.
    pub(crate) fn calls(self) -> u32 {
        match self {
            Self::Ours | Self::ByHand => 2_000,
            Self::TypeScript => 1_000,
            Self::FastMcp => 200,
        }
    }
}

impl Installed {
    /// Installs the peers under a folder.
    pub(crate) fn under(folder: &Path) -> io::Result<Self> {
        let pins = Path::new(PEERS);
        let (npm, pypi) = (folder.join("mcp-bench-npm"), folder.join("mcp-bench-pypi"));
        Ok(Self { npm: Npm::install(pins, &npm)?, pypi: PyPi::install(pins, &pypi)? })
    }

    /// Starts a server and meets it.
    pub(crate) async fn start(&self, side: Side, way: Way) -> io::Result<Running> {
        let server = Server::start(self.command(side, way)?, way).await?;
        Ok(Running { side, client: server.client().await?, server })
    }

    /// Starts a server that may use as many threads as it likes.
    pub(crate) async fn start_under_load(&self, side: Side, way: Way) -> io::Result<Server> {
        let mut command = self.command(side, way)?;
        if matches!(side, Side::Ours | Side::ByHand) {
            command.arg("--threads");
        }
        // What fails there is meant to.
        command.stderr(process::Stdio::null());
        Server::start(command, way).await
    }

    fn command(&self, side: Side, way: Way) -> io::Result<Command> {
        let mut command = match side {
            Side::Ours | Side::ByHand => {
                let mut command = Command::new(env::current_exe()?);
                command.args(["serve", if side == Side::Ours { "ours" } else { "by-hand" }]);
                command
            }
            Side::TypeScript => self.npm.script("typescript_server.mjs")?,
            Side::FastMcp => self.pypi.script("fastmcp_server.py"),
        };
        command.arg(if way == Way::Stdio { "stdio" } else { "http" });
        Ok(command)
    }
}

impl Server {
    async fn start(mut command: Command, way: Way) -> io::Result<Self> {
        if way == Way::Stdio {
            return Ok(Self::Stdio(Arc::new(Stdio::start(command).await?)));
        }
        Ok(Self::Http(Served::start(&mut command)?, way))
    }

    /// The process's id.
    pub(crate) fn process(&self) -> io::Result<u32> {
        match self {
            Self::Stdio(stdio) => stdio.id(),
            Self::Http(served, _) => Ok(served.id()),
        }
    }

    /// Where it listens, if it does.
    pub(crate) fn url(&self) -> Option<&str> {
        match self {
            Self::Stdio(_) => None,
            Self::Http(served, _) => Some(served.url()),
        }
    }

    /// A client that has met it: on a connection of its own, but for standard streams, which all share.
    pub(crate) async fn client(&self) -> io::Result<Client> {
        Ok(match self {
            Self::Stdio(stdio) => Client::Stdio(Arc::clone(stdio)),
            Self::Http(served, Way::Stateless) => {
                Client::Http(Http::stateless(served.url()).await?)
            }
            Self::Http(served, _) => Client::Http(Http::session(served.url()).await?),
        })
    }
}
