//! Our servers and clients before the official tools, which the tests install. Never decides what is right.

mod inspector;
mod sdks;
mod suite;

use std::path::Path;
use std::process::{Command, Output};

use toolwright_mcp_conformance::PEERS;
use toolwright_mcp_conformance::fixtures::Served;
use toolwright_prerequisites::{Npm, PyPi, or_skip};

/// This package's program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_toolwright-mcp-conformance");

/// Where official tools are installed, for all tests.
const INSTALLED: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/mcp-npm");

/// The official tools and SDKs on npm; none, with the skip recorded, where they cannot be had.
fn npm() -> Option<Npm> {
    or_skip(Npm::install(Path::new(PEERS), Path::new(INSTALLED)))
}

/// The official SDK on PyPI, likewise.
fn pypi() -> Option<PyPi> {
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/mcp-pypi");
    or_skip(PyPi::install(Path::new(PEERS), Path::new(folder)))
}

/// A server over HTTP.
fn served(server: &str) -> Served {
    Served::start(Command::new(PROGRAM).args(["serve", server, "--http", "127.0.0.1:0"])).unwrap()
}

/// What a program printed, with what it complained about where that is asked for.
fn printed(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
