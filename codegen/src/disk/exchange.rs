//! Replaces the output folder by a new tree, and removes the old tree, or the leftovers of a killed run.

use std::fs;
use std::io;
use std::path::Path;

use super::failure::{IoError, OutputError};
use super::old::{self, Known, Rest};
use super::paths::OutputPaths;
use super::tree;

/// Removes the leftovers of a killed run. If the run had moved the old tree aside, it is moved back first.
pub(super) fn remove_leftovers(paths: &OutputPaths) -> Result<(), OutputError> {
    if tree::kind(&paths.out)?.is_none()
        && tree::kind(&paths.old)?.is_some_and(|kind| kind.is_dir())
    {
        fs::rename(&paths.old, &paths.out).map_err(IoError::on("put back", &paths.old))?;
    }
    remove(&paths.new)?;
    remove(&paths.old)
}

/// Returns whether a killed run left something behind. On Unix this includes the lock file, which other runs remove when they
/// end; on other systems the lock file always stays.
pub(super) fn has_leftovers(paths: &OutputPaths) -> Result<bool, OutputError> {
    let has_lock = cfg!(unix) && tree::kind(&paths.lock)?.is_some_and(|kind| kind.is_file());
    Ok(has_lock || tree::kind(&paths.new)?.is_some() || tree::kind(&paths.old)?.is_some())
}

/// Replaces the output folder by the new tree, in one step if the system can, and removes of the old tree what is `known`.
/// Returns an error only if the folder is as it was.
pub(super) fn exchange(paths: &OutputPaths, known: &Known) -> Result<Rest, OutputError> {
    if tree::kind(&paths.out)?.is_none() {
        fs::rename(&paths.new, &paths.out).map_err(IoError::on("move into place", &paths.new))?;
        return Ok(Rest::default());
    }
    let old = if swap(&paths.new, &paths.out).is_ok() {
        &paths.new
    } else {
        move_aside(paths)?;
        &paths.old
    };
    Ok(old::remove(paths, old, &paths.out, known))
}

/// Replaces a folder inside the output folder by the new tree, in one step. Returns `None`, and changes nothing, if the system
/// cannot: a later run could not tell a folder that was moved aside from a whole tree.
pub(super) fn exchange_part(paths: &OutputPaths, folder: &Path, known: &Known) -> Option<Rest> {
    let whole = folder.as_os_str().is_empty();
    let part = if whole { paths.out.clone() } else { paths.out.join(folder) };
    swap(&paths.new, &part).ok()?;
    Some(old::remove(paths, &paths.new, &part, known))
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

/// Replaces the output folder by two renames, for systems that cannot exchange folders. A run that is killed in between has
/// done only the first.
fn move_aside(paths: &OutputPaths) -> Result<(), OutputError> {
    fs::rename(&paths.out, &paths.old).map_err(IoError::on("move aside", &paths.out))?;
    Ok(fs::rename(&paths.new, &paths.out).map_err(IoError::on("move into place", &paths.new))?)
}

/// Removes a file or a tree, if there is one.
pub(super) fn remove(path: &Path) -> Result<(), OutputError> {
    let removed = match tree::kind(path)? {
        None => Ok(()),
        Some(kind) if kind.is_dir() => remove_tree(path),
        Some(_) => fs::remove_file(path),
    };
    Ok(removed.map_err(IoError::on("remove", path))?)
}

/// Removes a tree, including read-only folders.
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

/// Other systems can remove read-only folders.
#[cfg(not(unix))]
fn make_writable(_: &Path) -> io::Result<()> {
    Ok(())
}
