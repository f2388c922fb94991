//! Lists folders without following symlinks. Never changes them.

use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::failure::IoError;

/// Something below a folder that is not itself a folder.
pub(super) struct Entry {
    /// Relative to the folder, with `/` between its parts.
    pub(super) path: String,
    /// Where it is.
    pub(super) real: PathBuf,
    /// What it is; a symlink is one, whatever it leads to.
    pub(super) kind: FileType,
}

/// What a folder holds directly, in name order.
pub(super) fn entries(folder: &Path) -> Result<Vec<(PathBuf, FileType)>, IoError> {
    let read = || -> io::Result<Vec<_>> {
        let listed = fs::read_dir(folder)?;
        listed.map(|entry| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))).collect()
    };
    let mut found = read().map_err(IoError::on("read folder", folder))?;
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// Everything below a folder that is not a folder; nothing when the folder is missing.
pub(super) fn walk(root: &Path) -> Result<Vec<Entry>, IoError> {
    let mut found = Vec::new();
    if kind(root)?.is_some() {
        walk_into(root, "", &mut found)?;
    }
    Ok(found)
}

fn walk_into(folder: &Path, prefix: &str, found: &mut Vec<Entry>) -> Result<(), IoError> {
    for (real, kind) in entries(folder)? {
        let name = real.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            walk_into(&real, &format!("{path}/"), found)?;
        } else {
            found.push(Entry { path, real, kind });
        }
    }
    Ok(())
}

/// What stands at a path, if anything does; a symlink is not followed.
pub(super) fn kind(path: &Path) -> Result<Option<FileType>, IoError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(IoError::on("look at", path)(error)),
    }
}

/// The first folder on the way to a path that is a link, if the path is relative: a link inside a project may lead
/// anywhere, and whoever sent the project chose where. What leads to an absolute path is the host's own: on some systems
/// the folder of temporary files is behind a link.
pub(super) fn linked_parent(path: &Path) -> Result<Option<PathBuf>, IoError> {
    let parent = path.parent().filter(|_| path.is_relative()).unwrap_or(Path::new(""));
    let mut at = PathBuf::new();
    for part in parent.components() {
        at.push(part);
        if kind(&at)?.is_some_and(|kind| kind.is_symlink()) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

impl Entry {
    /// Whether it is a regular file of exactly this text.
    pub(super) fn holds(&self, text: &str) -> Result<bool, IoError> {
        if !self.kind.is_file() {
            return Ok(false);
        }
        let same = || -> io::Result<bool> {
            let mut bytes = Vec::with_capacity(text.len() + 1);
            // A byte more than there should be tells that the file is longer, without a look at its length.
            let file = fs::File::open(&self.real)?;
            file.take(text.len() as u64 + 1).read_to_end(&mut bytes)?;
            Ok(bytes == text.as_bytes())
        };
        same().map_err(IoError::on("read", &self.real))
    }

    /// Whether it is a regular file without a text to lose, such as a machine that loses its power leaves.
    pub(super) fn is_empty(&self) -> Result<bool, IoError> {
        let len = || Ok(fs::metadata(&self.real)?.len());
        Ok(self.kind.is_file() && len().map_err(IoError::on("look at", &self.real))? == 0)
    }
}
