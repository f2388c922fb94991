//! Child processes: how they are shown and run. Never decides which.

use std::ffi::OsString;
use std::fmt;
use std::process::{Command, Stdio};

use crate::End;

/// A program and its arguments.
pub(crate) struct Invocation {
    program: OsString,
    /// How it is shown, the program first.
    words: Vec<String>,
    environment: Vec<(&'static str, OsString)>,
}

impl Invocation {
    /// `cargo` with these arguments: the cargo that runs this chore.
    pub(crate) fn cargo(arguments: &[&str]) -> Self {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Self::program("cargo", cargo, arguments)
    }

    /// A program with these arguments, and the name it is shown by.
    pub(crate) fn program(name: &str, program: impl Into<OsString>, arguments: &[&str]) -> Self {
        let words = std::iter::once(name).chain(arguments.iter().copied());
        let words = words.map(str::to_owned).collect();
        Self { program: program.into(), words, environment: Vec::new() }
    }

    /// Adds arguments given by the user.
    pub(crate) fn with(mut self, arguments: &[String]) -> Self {
        self.words.extend_from_slice(arguments);
        self
    }

    /// Sets a variable for it.
    pub(crate) fn in_environment(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Runs it on our own input and output, and says whether it succeeded.
    pub(crate) fn succeeds(&self) -> std::io::Result<bool> {
        Ok(self.command().status()?.success())
    }

    /// Runs it on our own input and output as the last step of a chore.
    pub(crate) fn run(&self) -> End {
        match self.succeeds() {
            Ok(true) => End::Done,
            Ok(false) => End::Failed,
            Err(error) => {
                eprintln!("error: cannot run `{self}`: {error}");
                End::Io
            }
        }
    }

    /// Runs it unseen, and says whether it succeeded: for asking what is installed.
    pub(crate) fn is_available(&self) -> bool {
        let status = self.command().stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.words[1..]).envs(self.environment.iter().cloned());
        command
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}
