//! Errors of reading and writing files. Mistakes in the text of a schema are diagnostics instead.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::prose::printable;

/// An operation that the operating system refused.
#[derive(Debug)]
pub struct IoError {
    /// The operation, as in "cannot …".
    pub doing: &'static str,
    /// The path that it was applied to.
    pub path: PathBuf,
    /// The error of the system.
    pub source: io::Error,
}

/// An error of comparing or writing a tree. The tree is unchanged.
#[derive(Debug)]
pub enum OutputError {
    /// A generated path leads out of the output folder or is not valid on every system.
    UnsafePath(String),
    /// The output folder has no name of its own, such as `.` or `/`.
    Unnamed(PathBuf),
    /// A part of the path is a symlink.
    Symlink(PathBuf),
    /// Something other than a folder is at the path of the output folder.
    NotAFolder(PathBuf),
    /// A file that was not generated is at the path of a generated file.
    Foreign(PathBuf),
    /// The system refused an operation.
    Io(IoError),
}

/// Returns a path as one line of a message: line breaks and invisible characters are escaped.
pub fn printable_path(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

impl IoError {
    /// Returns a function for `map_err` that adds the operation and the path.
    pub(super) fn on<'a>(
        doing: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| Self { doing, path: path.to_owned(), source }
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.doing, printable_path(&self.path), self.source)
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
                printable_path(path)
            ),
            Self::Symlink(path) => write!(
                f,
                "{} is a symlink, and output is never written through one; remove it, or name the folder it leads to",
                printable_path(path)
            ),
            Self::NotAFolder(path) => {
                write!(
                    f,
                    "{} is not a folder, so nothing can be generated into it",
                    printable_path(path)
                )
            }
            Self::Foreign(path) => {
                write!(
                    f,
                    "{} was not generated but is at the path of a generated file; move or remove it",
                    printable_path(path)
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
