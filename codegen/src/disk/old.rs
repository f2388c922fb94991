//! Removes the old tree after it was exchanged for the new one. Other programs may have changed it while the run built the new
//! one, so the run deletes only what it has seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::failure::{IoError, OutputError};
use super::listing::Stamp;
use super::output::SetAside;
use super::paths::OutputPaths;
use super::tree::{self, Entry};
use super::{exchange, record};

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
    if moved.and_then(|()| exchange::remove(old)).is_err() {
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::disk::output::link;

    /// A folder with an output folder `gen` of some files, each of which has its name as its text.
    struct Trees {
        _folder: tempfile::TempDir,
        paths: OutputPaths,
        known: Known,
    }

    impl Trees {
        /// Carries some files over to a new tree, and replaces or removes the others.
        fn new(kept: &[&str], replaced: &[&str], removed: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let paths = OutputPaths::of(&folder.path().join("gen")).unwrap();
            let put = |file: PathBuf, text: &str| {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            };
            let all = [kept, replaced, removed].concat();
            for path in all {
                put(paths.out.join(path), path);
            }
            let mut known = Known::of(&paths.out, &tree::walk(&paths.out).unwrap());
            known.foreign = kept.iter().map(PathBuf::from).collect();
            for path in replaced {
                put(paths.new.join(path), "new");
            }
            for path in kept {
                let target = paths.new.join(path);
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                link(&paths.out.join(path), &target).unwrap();
            }
            Self { _folder: folder, paths, known }
        }

        /// Replaces a file as editors do.
        fn replace(&self, path: &str) {
            let new = self.paths.parent.join("edited");
            fs::write(&new, "edited").unwrap();
            fs::rename(new, self.paths.out.join(path)).unwrap();
        }

        fn exchange(&self) -> Rest {
            exchange::exchange(&self.paths, &self.known).unwrap()
        }

        /// Returns the paths and texts of the files in the output folder.
        fn found(&self) -> Vec<String> {
            let found = tree::walk(&self.paths.out).unwrap().into_iter();
            let text = |entry: Entry| {
                format!("{}: {}", entry.path, fs::read_to_string(entry.real).unwrap())
            };
            found.map(text).collect()
        }
    }

    #[test]
    fn files_that_others_write_during_a_run_are_kept() {
        let trees = Trees::new(&["mine/a", "mine/b"], &["c", "d"], &["e", "f"]);
        for path in ["mine/b", "d", "f"] {
            trees.replace(path);
        }
        fs::create_dir(trees.paths.out.join("more")).unwrap();
        fs::write(trees.paths.out.join("more/g"), "more").unwrap();
        // Of a file that is carried over, both trees have the text.
        fs::write(trees.paths.out.join("mine/a"), "same").unwrap();
        let rest = trees.exchange();
        let expected =
            ["c: new", "d: new", "f: edited", "mine/a: same", "mine/b: edited", "more/g: more"];
        assert_eq!(trees.found(), expected);
        let set_aside = rest.set_aside.unwrap();
        assert_eq!(set_aside.files, ["d"]);
        assert_eq!(fs::read_to_string(set_aside.folder.join("d")).unwrap(), "edited");
        assert!(rest.kept.is_none() && !trees.paths.new.exists());
    }

    /// A file at the path of the folder of the record makes it impossible to set anything aside.
    #[test]
    fn an_old_tree_that_cannot_be_removed_is_no_error() {
        let trees = Trees::new(&[], &["a"], &[]);
        trees.replace("a");
        fs::write(trees.paths.record.parent().unwrap(), "mine").unwrap();
        let kept = trees.exchange().kept.unwrap();
        assert_eq!(trees.found(), ["a: new"]);
        assert_eq!(fs::read_to_string(kept.join("a")).unwrap(), "edited");
    }
}
