//! What tests need of the machine beside Rust: programs of others, the corpora, the right to mount. A test that lacks
//! something is skipped and the skip is recorded, the same way everywhere. Never decides what a test proves.
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
    /// `/proc`, which tells what a process uses: proc(5).
    Proc,
    /// `python3`.
    Python,
    /// `taskset`, which keeps a process on some of the processors.
    Taskset,
    /// `python3` with the modules that make an environment: `venv` and `ensurepip`.
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

    /// Whether this machine has it. Programs are started, as one that lies on the path need not work.
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

    /// What is said of a test where it is missing.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Corpora => "the corpora are not beside this checkout, in ../shared/corpus",
            Self::Git => "git does not run",
            Self::Mounts => "this system lets nobody mount in a user name space",
            Self::Node => "node with npm does not run",
            Self::Proc => "there is no /proc, which says what a process uses",
            Self::Python => "python3 does not run",
            Self::Taskset => "taskset does not run, so processors cannot be chosen",
            Self::Venv => "python3 with venv and ensurepip does not run",
        }
    }
}

/// Says whether all of these are there. Each that is not is recorded as a reason why the calling test is skipped.
#[must_use = "a test that lacks something has to return, or to leave a part out"]
pub fn has(needed: &[Prerequisite]) -> bool {
    let missing = needed.iter().filter(|prerequisite| !prerequisite.is_there());
    missing.map(|prerequisite| skip(prerequisite.reason())).count() == 0
}

/// Where the corpora are: the official JSON Schema suite, the tools of real servers and payloads for them. They are no
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
