//! Checks for everything that tests need besides Rust: third-party programs, the corpora, the right to mount file systems. If a
//! test needs something that is missing, it is skipped, and the skip is recorded.
//!
//! ```ignore
//! if !has(&[Prerequisite::Git]) {
//!     return;
//! }
//! ```

mod install;
mod record;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use install::{NotInstalled, Npm, PyPi, or_skip};
pub use record::{RECORD, Skip, read, skip};

/// Something a test may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prerequisite {
    /// The folder of [`corpora`].
    Corpora,
    /// `git`.
    Git,
    /// A user name space in which a file system may be mounted: user_namespaces(7).
    Mounts,
    /// `node` with `npm`.
    Node,
    /// `/proc`, which shows the resources of a process: proc(5).
    Proc,
    /// `python3`.
    Python,
    /// `taskset`, which limits a process to some processors.
    Taskset,
    /// `python3` with the modules `venv` and `ensurepip`.
    Venv,
}

impl Prerequisite {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Corpora,
        Self::Git,
        Self::Mounts,
        Self::Node,
        Self::Proc,
        Self::Python,
        Self::Taskset,
        Self::Venv,
    ];

    /// Returns whether this machine has it. Programs are started, as a program on the path need not work.
    pub fn is_there(self) -> bool {
        match self {
            Self::Corpora => corpora().is_dir(),
            Self::Git => succeeds("git", &["--version"]),
            Self::Mounts => {
                let mount = ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs"];
                succeeds("unshare", &[&mount[..], &["tmpfs", "/tmp"]].concat())
            }
            Self::Node => succeeds("node", &["--version"]) && succeeds("npm", &["--version"]),
            Self::Proc => Path::new("/proc/self/status").exists(),
            Self::Python => succeeds("python3", &["--version"]),
            Self::Taskset => succeeds("taskset", &["-c", "0", "true"]),
            Self::Venv => succeeds("python3", &["-c", "import ensurepip, venv"]),
        }
    }

    /// The reason of a skip if it is missing.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Corpora => "the corpora are not beside this checkout, in ../shared/corpus",
            Self::Git => "git does not run",
            Self::Mounts => "this system does not allow mounts in a user name space",
            Self::Node => "node with npm does not run",
            Self::Proc => "there is no /proc, which shows the resources of a process",
            Self::Python => "python3 does not run",
            Self::Taskset => "taskset does not run, so processors cannot be chosen",
            Self::Venv => "python3 with venv and ensurepip does not run",
        }
    }
}

/// Returns whether this machine has all of these. Each missing one is recorded as a reason why the calling test is skipped.
#[must_use = "a test must return, or skip a part, if something is missing"]
pub fn has(needed: &[Prerequisite]) -> bool {
    let missing = needed.iter().filter(|prerequisite| !prerequisite.is_there());
    missing.map(|prerequisite| skip(prerequisite.reason())).count() == 0
}

/// The folder of the corpora: the official JSON Schema suite, the tools of real servers and payloads for them. They are not
/// part of this repository.
pub fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus")
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let command = command.args(arguments).stdin(Stdio::null());
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
