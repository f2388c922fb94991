//! Tests our servers and clients with the official tools, which the tests install.

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

/// The folder in which all tests install the official tools.
const INSTALLED: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/mcp-npm");

/// Installs the official tools and SDKs from npm. If that is not possible, records the skip and returns `None`.
fn npm() -> Option<Npm> {
    or_skip(Npm::install(Path::new(PEERS), Path::new(INSTALLED)))
}

/// Installs the official SDK from PyPI, in the same way.
fn pypi() -> Option<PyPi> {
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/mcp-pypi");
    or_skip(PyPi::install(Path::new(PEERS), Path::new(folder)))
}

/// Starts a server over HTTP.
fn served(server: &str) -> Served {
    Served::start(Command::new(PROGRAM).args(["serve", server, "--http", "127.0.0.1:0"])).unwrap()
}

/// The standard output and standard error of a program.
fn printed(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
