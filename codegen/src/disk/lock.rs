//! A lock on an output folder, so that only one run writes it at a time. The system releases the lock when the process ends,
//! also when it is killed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::failure::{IoError, OutputError};
use super::paths::OutputPaths;
use super::tree;

/// The lock, which is held until it is dropped.
pub(super) struct Lock {
    path: PathBuf,
    /// Closing this file releases the lock.
    _file: File,
}

impl Lock {
    /// Waits until no other run holds the lock, then takes it.
    ///
    /// # Errors
    ///
    /// Returns an error if the lock file cannot be created, or if something other than a file is at its path.
    pub(super) fn acquire(paths: &OutputPaths) -> Result<Self, OutputError> {
        loop {
            match tree::kind(&paths.lock)? {
                Some(kind) if kind.is_symlink() => {
                    return Err(OutputError::Symlink(paths.lock.clone()));
                }
                // Opening a pipe might block forever, and dropping the lock would remove it.
                Some(kind) if !kind.is_file() => {
                    return Err(OutputError::Foreign(paths.lock.clone()));
                }
                _ => {}
            }
            let file = open_locked(&paths.lock).map_err(IoError::on("lock", &paths.lock))?;
            // Another run may have removed the file between the two calls; then this lock protects nothing.
            if is_current(&file, &paths.lock) {
                return Ok(Self { path: paths.lock.clone(), _file: file });
            }
        }
    }
}

/// Returns whether the locked file is still the one at the path.
fn is_current(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(held), Ok(found)) => same_file(&held, &found),
        _ => false,
    }
}

impl Drop for Lock {
    /// Removes the file while it is still locked. A run that waits for it then notices that it is gone and creates a new one.
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

/// On other systems the file is never removed, so it is always the same.
#[cfg(not(unix))]
fn same_file(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}
