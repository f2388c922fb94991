//! Third-party programs that tasks run. Cargo installs them when they are first needed.

use std::env;
use std::path::{Path, PathBuf};

use crate::command::Invocation;

/// A program and the version that this repository uses.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

pub(crate) const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };

pub(crate) const CARGO_CYCLONEDX: Tool = Tool { name: "cargo-cyclonedx", version: "0.5.9" };

pub(crate) const CARGO_SEMVER_CHECKS: Tool =
    Tool { name: "cargo-semver-checks", version: "0.51.0" };

/// The target folder, in which cargo and the tasks write their files.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from)
}

impl Tool {
    /// Returns the program with these arguments. Installs it first, unless it is already installed.
    ///
    /// # Errors
    ///
    /// Returns a message if it cannot be installed.
    pub(crate) fn with(&self, arguments: &[&str]) -> Result<Invocation, String> {
        let program = self.program();
        if !program.is_file() {
            self.install(&self.root())?;
        }
        let program = std::path::absolute(&program).unwrap_or(program);
        Ok(Invocation::program(self.name, program, arguments))
    }

    /// Returns whether it is installed.
    pub(crate) fn is_installed(&self) -> bool {
        self.program().is_file()
    }

    /// Returns its folder. There is one for each version, so that a changed version is installed.
    fn root(&self) -> PathBuf {
        target().join("tools").join(format!("{}-{}", self.name, self.version))
    }

    fn program(&self) -> PathBuf {
        self.root().join("bin").join(format!("{}{}", self.name, env::consts::EXE_SUFFIX))
    }

    fn install(&self, root: &Path) -> Result<(), String> {
        let Self { name, version } = self;
        let install = Invocation::cargo(&["install", name, "--version", version, "--locked"]);
        let install = install.with(&["--root".to_owned(), root.display().to_string()]);
        println!("\n== {install}");
        match install.succeeds() {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("`{install}` failed; see its output above")),
            Err(error) => Err(format!("`{install}` did not start: {error}")),
        }
    }
}
