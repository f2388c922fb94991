//! How a command ends, as scripts see it. The numbers are relied on by others.

use std::process::{ExitCode, Termination};

use toolwright_codegen::project::Failure;

/// An exit code. 2, for a wrong command line, is clap's to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// 0
    Done,
    /// 1: the input is wrong, or drift was found.
    Rejected,
    /// 3: the system refused, or the disk is not as it must be.
    Io,
}

impl From<&Failure> for End {
    fn from(failure: &Failure) -> Self {
        if failure.is_rejection() { Self::Rejected } else { Self::Io }
    }
}

impl Termination for End {
    fn report(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Rejected => 1,
            Self::Io => 3,
        })
    }
}
