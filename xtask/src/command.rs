//! Runs child processes and prints their command lines.

use std::ffi::OsString;
use std::fmt;
use std::process::{Command, Output, Stdio};

use crate::End;

/// A program and its arguments.
#[derive(Clone)]
pub(crate) struct Invocation {
    program: OsString,
    /// The command line as it is printed, with the program first.
    words: Vec<String>,
    environment: Vec<(&'static str, OsString)>,
}

impl Invocation {
    /// The cargo that runs this task, with these arguments.
    pub(crate) fn cargo(arguments: &[&str]) -> Self {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Self::program("cargo", cargo, arguments)
    }

    /// A program with these arguments, which is printed by this name.
    pub(crate) fn program(name: &str, program: impl Into<OsString>, arguments: &[&str]) -> Self {
        let words = std::iter::once(name).chain(arguments.iter().copied());
        let words = words.map(str::to_owned).collect();
        Self { program: program.into(), words, environment: Vec::new() }
    }

    /// Adds arguments.
    pub(crate) fn with(mut self, arguments: &[String]) -> Self {
        self.words.extend_from_slice(arguments);
        self
    }

    /// Sets an environment variable for the process.
    pub(crate) fn in_environment(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Runs it with the input and output of this process. Returns whether it succeeded.
    pub(crate) fn succeeds(&self) -> std::io::Result<bool> {
        Ok(self.command().status()?.success())
    }

    /// Runs it with the input and output of this process, as the last step of a task.
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

    /// Runs it without output. Returns whether it succeeded, which tells if a program is installed.
    pub(crate) fn is_available(&self) -> bool {
        let status = self.command().stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    /// Runs it and returns its output.
    pub(crate) fn output(&self) -> std::io::Result<Output> {
        self.command().output()
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
