//! Where an output folder is and what stands beside it while it is written. Never what is in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::failure::OutputError;
use super::tree;

/// An output folder and its siblings.
pub(super) struct Place {
    /// The folder.
    pub(super) out: PathBuf,
    /// The folder it is in.
    pub(super) parent: PathBuf,
    /// The tree being built; after the exchange, the tree being removed.
    pub(super) new: PathBuf,
    /// The tree moved aside, where the system cannot exchange two.
    pub(super) old: PathBuf,
    /// The lock file.
    pub(super) lock: PathBuf,
    /// The record of the last run.
    pub(super) record: PathBuf,
}

impl Place {
    /// Works out the siblings.
    ///
    /// # Errors
    ///
    /// When the folder has no name, or its path is taken by a symlink or by something that is not a folder.
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
        let place = Self {
            // Built from the name, since a trailing slash would make the system follow a symlink.
            out: parent.join(name),
            new: sibling(".toolwright-new"),
            old: sibling(".toolwright-old"),
            lock: sibling(".toolwright-lock"),
            record: parent.join(".toolwright").join(record),
            parent: parent.to_owned(),
        };
        place.require_folder()?;
        tree::linked_parent(&place.out)?.map_or(Ok(place), |link| Err(OutputError::Symlink(link)))
    }

    fn require_folder(&self) -> Result<(), OutputError> {
        match tree::kind(&self.out)? {
            Some(kind) if kind.is_symlink() => Err(OutputError::Symlink(self.out.clone())),
            Some(kind) if !kind.is_dir() => Err(OutputError::NotAFolder(self.out.clone())),
            _ => Ok(()),
        }
    }
}
