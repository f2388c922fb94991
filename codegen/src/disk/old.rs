//! Removes the old tree after it was exchanged for the new one. Other programs may have changed it while the run built the new
//! one, so the run deletes only what it has seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::failure::{IoError, OutputError};
use super::listing::Stamp;
use super::paths::OutputPaths;
use super::record;
use super::tree::{self, Entry};

/// Files that were moved out of an output folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// The folder that they were moved to.
    pub folder: PathBuf,
    /// Their paths relative to that folder, which are the same as in the output folder.
    pub files: Vec<String>,
}

/// The entries of the old tree that a run has seen. Paths are relative to the tree.
#[derive(Default)]
pub(super) struct Known {
    /// The stamp of each entry.
    pub(super) stamps: BTreeMap<PathBuf, Stamp>,
    /// Those that were not generated.
    pub(super) foreign: BTreeSet<PathBuf>,
    /// The folder that the run has linked some of them to.
    pub(super) set_aside: Option<PathBuf>,
}

impl Known {
    /// Returns what was found in a tree. Nothing of it counts as foreign yet.
    pub(super) fn of(tree: &Path, found: &[Entry]) -> Self {
        let stamps = found.iter().map(|entry| (inside(tree, &entry.real), entry.stamp)).collect();
        Self { stamps, ..Self::default() }
    }
}

/// Returns a path on disk relative to a tree. Unlike a text, it has all bytes of the names.
pub(super) fn inside(tree: &Path, real: &Path) -> PathBuf {
    real.strip_prefix(tree).unwrap_or(real).to_owned()
}

/// The entries of an old tree that were not deleted.
#[derive(Default)]
pub(super) struct Rest {
    /// Files that appeared or changed during the run where the new tree has others.
    pub(super) set_aside: Option<SetAside>,
    /// The path of the old tree, if the system refused to remove it.
    pub(super) kept: Option<PathBuf>,
}

/// Moves everything that is not known from the old tree to the new one, or to a folder `removed-N` if the new tree has another
/// file there, and removes the old tree. If the system refuses one of these steps, the old tree is kept.
pub(super) fn remove(paths: &OutputPaths, old: &Path, new: &Path, known: &Known) -> Rest {
    let mut rest = Rest::default();
    let moved = move_unknown(paths, old, new, known, &mut rest);
    if moved.and_then(|()| Ok(tree::remove(old)?)).is_err() {
        // The next run would remove it as a leftover.
        let moved = removed_folder(paths).and_then(|folder| {
            let kept = folder.join("old");
            fs::rename(old, &kept).map(|()| kept)
        });
        rest.kept = Some(moved.unwrap_or_else(|_| old.to_owned()));
    }
    rest
}

fn move_unknown(
    paths: &OutputPaths,
    old: &Path,
    new: &Path,
    known: &Known,
    rest: &mut Rest,
) -> Result<(), OutputError> {
    for entry in tree::walk(old)? {
        let path = &inside(old, &entry.real);
        let target = new.join(path);
        if is_known(&entry, path, &target, known)? {
            continue;
        }
        // An editor may have replaced a file that was carried over.
        let is_free = known.foreign.contains(path) || tree::stamp(&target)?.is_none();
        if is_free && move_to(&entry.real, &target).is_ok() {
            continue;
        }
        let set_aside = match &mut rest.set_aside {
            Some(set_aside) => set_aside,
            none => {
                let folder = known.set_aside.clone().map_or_else(|| removed_folder(paths), Ok);
                let folder = folder.map_err(IoError::on("make a folder beside", &paths.record))?;
                none.insert(SetAside { folder, files: Vec::new() })
            }
        };
        let target = set_aside.folder.join(path);
        move_to(&entry.real, &target).map_err(IoError::on("move", &entry.real))?;
        set_aside.files.push(entry.path);
    }
    Ok(())
}

/// Returns whether an entry is as the run has seen it, or the same file is also in the new tree or was set aside. A link changes
/// the stamp of a file.
fn is_known(entry: &Entry, path: &Path, target: &Path, known: &Known) -> Result<bool, IoError> {
    let is_at = |path: &Path| Ok(tree::stamp(path)? == Some(entry.stamp));
    Ok(known.stamps.get(path) == Some(&entry.stamp)
        || is_at(target)?
        || known
            .set_aside
            .as_ref()
            .is_some_and(|folder| is_at(&folder.join(path)).unwrap_or(false)))
}

fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::rename(from, to)
}

/// Creates a new folder `removed-N` beside the record.
pub(super) fn removed_folder(paths: &OutputPaths) -> io::Result<PathBuf> {
    let inside = record::make_folder(paths)?;
    let mut number = 1;
    loop {
        let folder = inside.join(format!("removed-{number}"));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| folder),
        }
    }
}
