//! The scripted peer. See `peer.py` for what it does.

use std::time::Duration;

use toolwright_mcp::client::{Client, ClientOptions, ServerCommand};
use toolwright_prerequisites::{Prerequisite, has};

/// Whether there is Python, on which peers run; the skip of the calling test is recorded where there is none.
pub(crate) fn can_run() -> bool {
    has(&[Prerequisite::Python])
}

/// What runs the scripts of peers.
pub(crate) const PYTHON: &str = "python3";

/// The command of a peer with some faults.
pub(crate) fn command(faults: &[&str]) -> ServerCommand {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/peer.py");
    ServerCommand::new(PYTHON).arg(script).args(faults.iter().copied())
}

/// Short deadlines, so that what is slow shows soon.
pub(crate) fn hasty() -> ClientOptions {
    ClientOptions::default()
        .with_call_timeout(Duration::from_secs(5))
        .with_connect_timeout(Duration::from_secs(10))
        .with_probe_timeout(Duration::from_secs(3))
        .with_backoff(Duration::from_millis(20), Duration::from_millis(200))
}

/// A client of a peer with some faults.
pub(crate) fn client(faults: &[&str]) -> Client {
    Client::with_options(command(faults), hasty())
}
