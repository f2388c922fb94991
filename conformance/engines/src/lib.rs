//! Starts a NATS server and a Restate server for tests and demos, on free ports of the loopback interface, each with a
//! temporary folder. Dropping a server ends it.

mod http;
mod install;
mod nats;
mod process;
mod restate;

use std::path::Path;

use toolwright_prerequisites::skip;

pub use install::install;
pub use nats::Nats;
pub use process::Process;
pub use restate::Restate;

/// Starts a NATS server. If it is not installed, records a skip and returns `None`.
///
/// # Panics
///
/// Panics if it does not start.
pub fn nats() -> Option<Nats> {
    let program = install::nats_server();
    is_installed("the NATS server", &program).then(|| Nats::start(&program))
}

/// Starts a Restate server of one node. If it is not installed, records a skip and returns `None`.
///
/// # Panics
///
/// Panics if it does not start.
pub fn restate() -> Option<Restate> {
    let program = install::restate_server();
    is_installed("the Restate server", &program).then(|| Restate::start(&program))
}

/// Starts a cluster of three nodes of Restate, of which one may fail. If it is not installed, records a skip and returns `None`.
///
/// # Panics
///
/// Panics if it does not start.
pub fn restate_cluster() -> Option<[Restate; 3]> {
    let program = install::restate_server();
    is_installed("the Restate server", &program).then(|| Restate::cluster(&program))
}

fn is_installed(name: &str, program: &Path) -> bool {
    let is_there = program.is_file();
    if !is_there {
        skip(&format!("{name} is not installed; run `cargo xtask engines`"));
    }
    is_there
}
