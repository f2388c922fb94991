//! Lists folders without following symlinks.

use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io::{self, Read as _};
#[cfg(feature = "project")]
use std::path::Component;
use std::path::{Path, PathBuf};

use super::failure::IoError;
use super::listing::Stamp;

/// An entry below a folder, at any depth, that is not a folder.
pub(super) struct Entry {
    /// Its path relative to the folder, with `/` between its parts.
    pub(super) path: String,
    /// Its path on disk.
    pub(super) real: PathBuf,
    /// Its type; symlinks are not followed.
    pub(super) kind: FileType,
    /// Its stamp, from before anything of it was read.
    pub(super) stamp: Stamp,
}

/// The contents of a folder, at any depth.
#[derive(Default)]
pub(super) struct Contents {
    /// The entries that are not folders.
    pub(super) entries: Vec<Entry>,
    /// The paths on disk of folders with nothing in them.
    pub(super) empty: Vec<PathBuf>,
}

/// Returns the entries of a folder in name order.
pub(super) fn entries(folder: &Path) -> Result<Vec<(PathBuf, FileType)>, IoError> {
    let read = || -> io::Result<Vec<_>> {
        let listed = fs::read_dir(folder)?;
        listed.map(|entry| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))).collect()
    };
    let mut found = read().map_err(IoError::on("read folder", folder))?;
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// Returns all entries below a folder that are not folders; none if the folder is missing.
pub(super) fn walk(root: &Path) -> Result<Vec<Entry>, IoError> {
    contents(root).map(|contents| contents.entries)
}

/// Returns the contents of a folder; none if it is missing.
pub(super) fn contents(root: &Path) -> Result<Contents, IoError> {
    let mut found = Contents::default();
    if kind(root)?.is_some() {
        walk_into(root, "", &mut found)?;
    }
    Ok(found)
}

fn walk_into(folder: &Path, prefix: &str, found: &mut Contents) -> Result<(), IoError> {
    let entries = entries(folder)?;
    if entries.is_empty() && !prefix.is_empty() {
        found.empty.push(folder.to_owned());
    }
    for (real, kind) in entries {
        let name = real.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            walk_into(&real, &format!("{path}/"), found)?;
        } else if let Some(stamp) = stamp(&real)? {
            found.entries.push(Entry { path, real, kind, stamp });
        }
    }
    Ok(())
}

/// Returns the type of the entry at a path, if there is one; symlinks are not followed.
pub(super) fn kind(path: &Path) -> Result<Option<FileType>, IoError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found.file_type())),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(IoError::on("look at", path)(error)),
    }
}

/// Returns the stamp of the entry at a path, if there is one; symlinks are not followed.
pub(super) fn stamp(path: &Path) -> Result<Option<Stamp>, IoError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(Stamp::of(&found))),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(IoError::on("look at", path)(error)),
    }
}

/// Returns the first symlink among the parents of a relative path. The author of a project chooses where its links lead, so
/// it must not contain one on the way to the output. The parents of an absolute path belong to the host: on some systems the
/// folder of temporary files is behind a symlink.
pub(super) fn symlinked_parent(path: &Path) -> Result<Option<PathBuf>, IoError> {
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

/// Returns the first symlink among the parts of an absolute path that are below a folder.
#[cfg(feature = "project")]
pub(crate) fn symlink_below(folder: &Path, path: &Path) -> Result<Option<PathBuf>, IoError> {
    let mut at = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            at.pop();
        } else {
            at.push(part);
        }
        let is_below = at != folder && at.starts_with(folder);
        if is_below && kind(&at)?.is_some_and(|kind| kind.is_symlink()) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Returns an absolute path in which the links of all parts that exist are followed.
#[cfg(feature = "project")]
pub(crate) fn real(path: &Path) -> Result<PathBuf, IoError> {
    for ancestor in path.ancestors() {
        match fs::canonicalize(ancestor) {
            Ok(real) => return Ok(real.join(path.strip_prefix(ancestor).unwrap_or(path))),
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(IoError::on("look at", ancestor)(error)),
        }
    }
    Ok(path.to_owned())
}

/// Returns true if nothing can be at a path, also because one of its parents is a file.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Entry {
    /// Returns whether it is a regular file with exactly this text.
    pub(super) fn has_text(&self, text: &str) -> Result<bool, IoError> {
        if !self.kind.is_file() {
            return Ok(false);
        }
        let same = || -> io::Result<bool> {
            let mut bytes = Vec::with_capacity(text.len() + 1);
            // Reading one more byte than expected shows whether the file is longer.
            let file = fs::File::open(&self.real)?;
            file.take(text.len() as u64 + 1).read_to_end(&mut bytes)?;
            Ok(bytes == text.as_bytes())
        };
        same().map_err(IoError::on("read", &self.real))
    }

    /// Returns whether it is an empty regular file, which a power failure can leave behind.
    pub(super) fn is_empty(&self) -> Result<bool, IoError> {
        let len = || Ok(fs::metadata(&self.real)?.len());
        Ok(self.kind.is_file() && len().map_err(IoError::on("look at", &self.real))? == 0)
    }
}

/// Removes a file or a tree, if there is one.
pub(super) fn remove(path: &Path) -> Result<(), IoError> {
    let removed = match kind(path)? {
        None => Ok(()),
        Some(kind) if kind.is_dir() => remove_tree(path),
        Some(_) => fs::remove_file(path),
    };
    removed.map_err(IoError::on("remove", path))
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
