//! What can go wrong on disk, as values. Mistakes in schema text are diagnostics, not these.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::prose::printable;

/// The operating system refused something.
#[derive(Debug)]
pub struct IoError {
    /// What was tried, as in "cannot …".
    pub doing: &'static str,
    /// On which path.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Why a tree could not be compared or written. Nothing has been changed.
#[derive(Debug)]
pub enum OutputError {
    /// A generated path would leave the output folder or is not one this system can hold.
    UnsafePath(String),
    /// The output folder has no name to put a sibling beside, such as `.` or `/`.
    Unnamed(PathBuf),
    /// Something on the way is a symlink.
    Symlink(PathBuf),
    /// The output folder's path is taken by something else.
    NotAFolder(PathBuf),
    /// A generated path is taken by a file that was not generated.
    Foreign(PathBuf),
    /// The system refused.
    Io(IoError),
}

/// A path in a message, which stays one line whatever the path holds.
pub fn named(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

impl IoError {
    /// For `map_err`: names what was tried and where.
    pub(super) fn on<'a>(
        doing: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| Self { doing, path: path.to_owned(), source }
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.doing, named(&self.path), self.source)
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsafePath(path) => {
                write!(f, "generated path {path:?} is not a plain path inside the output folder")
            }
            Self::Unnamed(path) => write!(
                f,
                "output folder `{}` has no name of its own; name a folder such as gen",
                named(path)
            ),
            Self::Symlink(path) => write!(
                f,
                "{} is a symlink, and output is never written through one; remove it, or name the folder it leads to",
                named(path)
            ),
            Self::NotAFolder(path) => {
                write!(f, "{} is not a folder, so nothing can be generated into it", named(path))
            }
            Self::Foreign(path) => {
                write!(
                    f,
                    "{} was not generated and stands where a generated file belongs; move or remove it",
                    named(path)
                )
            }
            Self::Io(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for IoError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl std::error::Error for OutputError {}

impl From<IoError> for OutputError {
    fn from(failure: IoError) -> Self {
        Self::Io(failure)
    }
}
