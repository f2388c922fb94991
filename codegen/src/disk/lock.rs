//! Keeps two runs on one output folder apart. The system drops the lock with the process, however it ends.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::failure::{IoError, OutputError};
use super::place::Place;
use super::tree;

/// Held while a tree is written.
pub(super) struct Lock {
    path: PathBuf,
    /// Closing it gives the lock up.
    _file: File,
}

impl Lock {
    /// Waits for another run to end, then holds the lock.
    ///
    /// # Errors
    ///
    /// When the lock file cannot be made, or a symlink stands in its place.
    pub(super) fn acquire(place: &Place) -> Result<Self, OutputError> {
        loop {
            match tree::kind(&place.lock)? {
                Some(kind) if kind.is_symlink() => {
                    return Err(OutputError::Symlink(place.lock.clone()));
                }
                // Opening a pipe might wait for ever, and giving up the lock would remove it.
                Some(kind) if !kind.is_file() => {
                    return Err(OutputError::Foreign(place.lock.clone()));
                }
                _ => {}
            }
            let file = open_locked(&place.lock).map_err(IoError::on("lock", &place.lock))?;
            // Made only when it is the current one: dropping it removes the file.
            if is_current(&file, &place.lock) {
                return Ok(Self { path: place.lock.clone(), _file: file });
            }
        }
    }
}

/// Whether the file that is locked is still the one others will find.
fn is_current(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(held), Ok(found)) => same_file(&held, &found),
        _ => false,
    }
}

impl Drop for Lock {
    /// Removes the file while it is still locked: a run that waits on it sees that it is gone, and makes a new one.
    fn drop(&mut self) {
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn open_locked(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    file.lock()?;
    Ok(file)
}

#[cfg(unix)]
fn same_file(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere the file stays, so the one that is found is the one that is held.
#[cfg(not(unix))]
fn same_file(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}
