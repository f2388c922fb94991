//! Exit codes of commands. Scripts rely on the numbers.

use std::process::{ExitCode, Termination};

use toolwright_codegen::project::Failure;

/// The exit code of a command. clap exits with 2 for a wrong command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0
    Success,
    /// 1: the input has mistakes, or drift was found.
    Rejected,
    /// 3: the disk, the network or the system failed.
    Io,
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        if failure.is_rejection() { Self::Rejected } else { Self::Io }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Success => 0,
            Self::Rejected => 1,
            Self::Io => 3,
        })
    }
}
