//! Starts the scripted server `peer.py`.

use std::time::Duration;

use toolwright_mcp::client::{Client, ClientOptions, ServerCommand};
use toolwright_prerequisites::{Prerequisite, has};

/// Returns whether Python is installed. If it is not, records that the calling test is skipped.
pub(crate) fn can_run() -> bool {
    has(&[Prerequisite::Python])
}

/// The program that runs the scripts.
pub(crate) const PYTHON: &str = "python3";

/// The command of a server with some faults.
pub(crate) fn command(faults: &[&str]) -> ServerCommand {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/peer.py");
    ServerCommand::new(PYTHON).arg(script).args(faults.iter().copied())
}

/// Options with short timeouts.
pub(crate) fn short_timeouts() -> ClientOptions {
    ClientOptions::default()
        .with_call_timeout(Duration::from_secs(5))
        .with_connect_timeout(Duration::from_secs(10))
        .with_probe_timeout(Duration::from_secs(3))
        .with_backoff(Duration::from_millis(20), Duration::from_millis(200))
}

/// A client of a server with some faults.
pub(crate) fn client(faults: &[&str]) -> Client {
    Client::with_options(command(faults), short_timeouts())
}
