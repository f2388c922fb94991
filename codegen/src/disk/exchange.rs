//! Puts a finished tree in the place of an old one, and clears what a killed run left. Never looks into trees.

use std::fs;
use std::io;
use std::path::Path;

use super::failure::{IoError, OutputError};
use super::place::Place;
use super::tree;

/// Removes what a killed run left beside the output folder, putting the old tree back where it had been moved aside.
pub(super) fn sweep(place: &Place) -> Result<(), OutputError> {
    if tree::kind(&place.out)?.is_none()
        && tree::kind(&place.old)?.is_some_and(|kind| kind.is_dir())
    {
        fs::rename(&place.old, &place.out).map_err(IoError::on("put back", &place.old))?;
    }
    remove(&place.new)?;
    remove(&place.old)
}

/// Whether a killed run left something to sweep. Its lock is gone with it, but the file of the lock is not; elsewhere than
/// on Unix that file always stays.
pub(super) fn has_leftovers(place: &Place) -> Result<bool, OutputError> {
    let has_lock = cfg!(unix) && tree::kind(&place.lock)?.is_some_and(|kind| kind.is_file());
    Ok(has_lock || tree::kind(&place.new)?.is_some() || tree::kind(&place.old)?.is_some())
}

/// Makes the new tree the output folder in one step and removes the old one.
pub(super) fn exchange(place: &Place) -> Result<(), OutputError> {
    if tree::kind(&place.out)?.is_none() {
        return Ok(fs::rename(&place.new, &place.out)
            .map_err(IoError::on("move into place", &place.new))?);
    }
    if swap(&place.new, &place.out).is_err() {
        move_aside(place)?;
    }
    remove(&place.new)?;
    remove(&place.old)
}

/// Exchanges the new tree for a folder of the old one in one step; false, and nothing done, where the system cannot: a
/// folder moved aside could not be told from the whole tree.
pub(super) fn exchange_part(place: &Place, folder: &Path) -> Result<bool, OutputError> {
    let whole = folder.as_os_str().is_empty();
    let part = if whole { place.out.clone() } else { place.out.join(folder) };
    if swap(&place.new, &part).is_err() {
        return Ok(false);
    }
    remove(&place.new).map(|()| true)
}

#[cfg(target_os = "linux")]
fn swap(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn swap(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// For systems and file systems that cannot exchange: two renames, of which a killed run may leave the first.
fn move_aside(place: &Place) -> Result<(), OutputError> {
    fs::rename(&place.out, &place.old).map_err(IoError::on("move aside", &place.out))?;
    Ok(fs::rename(&place.new, &place.out).map_err(IoError::on("move into place", &place.new))?)
}

fn remove(path: &Path) -> Result<(), OutputError> {
    let removed = match tree::kind(path)? {
        None => Ok(()),
        Some(kind) if kind.is_dir() => remove_tree(path),
        Some(_) => fs::remove_file(path),
    };
    Ok(removed.map_err(IoError::on("remove", path))?)
}

/// Removes a tree, read-only folders too: they were exchanged for new ones, and stand where nobody would look for them.
fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(path)?;
            fs::remove_dir_all(path)
        }
        done => done,
    }
}

#[cfg(unix)]
fn make_writable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

/// Elsewhere a folder that is read-only can be removed.
#[cfg(not(unix))]
fn make_writable(_: &Path) -> io::Result<()> {
    Ok(())
}
