//! Programs of others that chores run, installed by cargo when they are first needed. Never decides what they check.

use std::env;
use std::path::{Path, PathBuf};

use crate::command::Invocation;

/// A program at the version that this repository was tried with.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

pub(crate) const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };

pub(crate) const CARGO_CYCLONEDX: Tool = Tool { name: "cargo-cyclonedx", version: "0.5.9" };

/// Where cargo puts what it builds, and chores what they make.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from)
}

impl Tool {
    /// Returns a run of the program with these arguments. It is installed before, unless an earlier chore did that.
    ///
    /// # Errors
    ///
    /// When it cannot be installed, which is told in words.
    pub(crate) fn with(&self, arguments: &[&str]) -> Result<Invocation, String> {
        let Self { name, version } = self;
        // By version, so that another one is installed when the version changes.
        let root = target().join("tools").join(format!("{name}-{version}"));
        let program = root.join("bin").join(format!("{name}{}", env::consts::EXE_SUFFIX));
        if !program.is_file() {
            self.install(&root)?;
        }
        let program = std::path::absolute(&program).unwrap_or(program);
        Ok(Invocation::program(name, program, arguments))
    }

    fn install(&self, root: &Path) -> Result<(), String> {
        let Self { name, version } = self;
        let install = Invocation::cargo(&["install", name, "--version", version, "--locked"]);
        let install = install.with(&["--root".to_owned(), root.display().to_string()]);
        println!("\n== {install}");
        match install.succeeds() {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("`{install}` failed; what it said stands above")),
            Err(error) => Err(format!("`{install}` did not start: {error}")),
        }
    }
}
