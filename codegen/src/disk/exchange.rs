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
    tree::remove(&paths.new)?;
    Ok(tree::remove(&paths.old)?)
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

#[cfg(all(test, unix))]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::disk::tree::Entry;

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
                fs::hard_link(paths.out.join(path), &target).unwrap();
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
            super::exchange(&self.paths, &self.known).unwrap()
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

    #[test]
    fn a_file_in_a_folder_that_becomes_a_file_is_set_aside() {
        let mut trees = Trees::new(&[], &["a"], &[]);
        fs::remove_file(trees.paths.out.join("a")).unwrap();
        fs::create_dir(trees.paths.out.join("a")).unwrap();
        fs::write(trees.paths.out.join("a/x"), "mine").unwrap();
        trees.known = Known::default();
        let rest = trees.exchange();
        assert_eq!(trees.found(), ["a: new"]);
        let set_aside = rest.set_aside.unwrap();
        assert_eq!(fs::read_to_string(set_aside.folder.join("a/x")).unwrap(), "mine");
        assert_eq!(rest.kept, None);
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
