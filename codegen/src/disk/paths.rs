//! The paths of an output folder and of the files and folders beside it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::failure::OutputError;
use super::tree;

/// An output folder and its siblings.
pub(super) struct OutputPaths {
    /// The folder.
    pub(super) out: PathBuf,
    /// The parent folder.
    pub(super) parent: PathBuf,
    /// The new tree while it is built; after the exchange, the old tree that is removed.
    pub(super) new: PathBuf,
    /// The old tree, moved aside, if the system cannot exchange two trees.
    pub(super) old: PathBuf,
    /// The lock file.
    pub(super) lock: PathBuf,
    /// The record of the last run.
    pub(super) record: PathBuf,
}

impl OutputPaths {
    /// Returns the paths for an output folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder has no name, if something other than a folder is at its path, or if a part of its path
    /// is a symlink.
    pub(super) fn of(out: &Path) -> Result<Self, OutputError> {
        let name = out.file_name().ok_or_else(|| OutputError::Unnamed(out.to_owned()))?;
        let parent = out.parent().unwrap_or(Path::new(""));
        let sibling = |suffix: &str| {
            let mut sibling = OsString::from(".");
            sibling.push(name);
            sibling.push(suffix);
            parent.join(sibling)
        };
        let mut record = name.to_owned();
        record.push(".record");
        let paths = Self {
            // Without the trailing slash of the given path, with which the system would follow a symlink.
            out: parent.join(name),
            new: sibling(".toolwright-new"),
            old: sibling(".toolwright-old"),
            lock: sibling(".toolwright-lock"),
            record: parent.join(".toolwright").join(record),
            parent: parent.to_owned(),
        };
        paths.require_folder()?;
        tree::symlinked_parent(&paths.out)?
            .map_or(Ok(paths), |link| Err(OutputError::Symlink(link)))
    }

    fn require_folder(&self) -> Result<(), OutputError> {
        match tree::kind(&self.out)? {
            Some(kind) if kind.is_symlink() => Err(OutputError::Symlink(self.out.clone())),
            Some(kind) if !kind.is_dir() => Err(OutputError::NotAFolder(self.out.clone())),
            _ => Ok(()),
        }
    }
}
