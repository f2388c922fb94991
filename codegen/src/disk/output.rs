//! Compares and writes an output folder. Files in it that were not generated are kept.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::failure::{IoError, OutputError};
use super::listing::Stamp;
use super::old::{self, Known, Rest, SetAside};
use super::open::open_regular;
use super::ownership::{self, MARKER, Ownership, Texts};
use super::paths::OutputPaths;
use super::record::{Expected, LastRun};
use super::sources::{MOST_BYTES, not_regular, read_at_most, slash_path};
use super::tree::{Contents, Entry};
use super::{exchange, lock::Lock, record, tree};
use crate::files::Files;
use crate::parallel;

/// The differences between an output folder and what would be generated. Paths are relative to the folder and sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Files that would be generated but do not exist.
    pub missing: Vec<String>,
    /// Files that exist with other content, and other entries at the path of a generated file.
    pub stale: Vec<String>,
    /// Files that exist but would not be generated.
    pub orphaned: Vec<String>,
}

/// The changes of a run to an output folder. Paths are relative to the folder and sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// New files and files with new content.
    pub written: Vec<String>,
    /// Those of them that are new.
    pub created: Vec<String>,
    /// Generated files whose content was right; they keep their inode and modification time.
    pub unchanged: Vec<String>,
    /// Files that an earlier run generated and this one did not.
    pub removed: Vec<String>,
    /// Removed files that were moved to another folder instead of deleted: they have the banner, but no record proves that a
    /// run wrote this content, so they may be edited copies. Or somebody wrote them during the run, at the path of a generated
    /// file.
    pub set_aside: Option<SetAside>,
    /// The path of the old version of the folder, if the system refused to remove it.
    pub old: Option<PathBuf>,
    /// Files that were not generated and are unchanged.
    pub foreign: Vec<String>,
}

impl Drift {
    /// Returns whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.stale.is_empty() && self.orphaned.is_empty()
    }
}

/// Compares an output folder with the generated files.
///
/// # Errors
///
/// Returns an error if the folder is a symlink or not a folder, or if the system refuses to read it.
pub fn drift(out: &Path, files: &Files) -> Result<Drift, OutputError> {
    let paths = OutputPaths::of(out)?;
    let texts = ownership::with_marker(files)?;
    let mut drift = Drift::default();
    let mut missing: BTreeSet<&str> = texts.keys().copied().collect();
    let found = tree::walk(&paths.out)?;
    for (is_same, entry) in compare(&found, &texts).into_iter().zip(found) {
        missing.remove(entry.path.as_str());
        match is_same? {
            None => drift.orphaned.push(entry.path),
            Some(true) => {}
            Some(false) => drift.stale.push(entry.path),
        }
    }
    drift.missing = missing.into_iter().map(str::to_owned).collect();
    drift.stale.sort();
    drift.orphaned.sort();
    Ok(drift)
}

/// Returns for each entry whether it is a file with the text for its path, or `None` if there is no text for its path.
fn compare(entries: &[Entry], texts: &Texts<'_>) -> Vec<Result<Option<bool>, IoError>> {
    parallel::map(entries, |entry| {
        texts.get(entry.path.as_str()).map(|text| entry.has_text(text)).transpose()
    })
}

/// Writes the generated files to an output folder: builds the whole tree beside the folder and exchanges the two.
///
/// A folder whose content is right is not touched. A run that is killed leaves the old tree or the new one. Only files that the
/// record of the last run lists with the same content are deleted; other files are set aside.
///
/// # Errors
///
/// Returns an [`OutputError`] and leaves the folder as it was.
pub fn write(out: &Path, files: &Files) -> Result<Written, OutputError> {
    write_recorded(out, files, None)
}

/// Does the same as [`write`]. If there is a record of the compiler, also writes a record for the next run.
pub(crate) fn write_recorded(
    out: &Path,
    files: &Files,
    compiler_record: Option<&str>,
) -> Result<Written, OutputError> {
    let began = SystemTime::now();
    let paths = OutputPaths::of(out)?;
    let texts = ownership::with_marker(files)?;
    // Errors are ignored: without a record the next run is a full one.
    let write_record = |plan: &Plan<'_>| {
        let Some(compiler_record) = compiler_record else { return };
        let texts: Vec<_> = texts.iter().collect();
        let expected = parallel::map(&texts, |(path, text)| {
            let hash = Cow::Owned(record::hash(text.as_bytes()));
            (**path, Expected { hash, seen: plan.keep.get(**path).map(|(_, stamp)| *stamp) })
        });
        let has_changed = !plan.changes_nothing();
        let expected = expected.into_iter().collect();
        let _ = record::write(&paths, &expected, compiler_record, began, has_changed);
    };
    // The first attempt is made without the lock, since the lock file would change the parent folder. If another run disturbs
    // it, the second attempt under the lock decides.
    match Plan::new(&paths, &texts) {
        Ok(plan) if plan.changes_nothing() && !exchange::has_leftovers(&paths)? => {
            write_record(&plan);
            Ok(plan.into_written())
        }
        _ => write_locked(&paths, &texts, write_record),
    }
}

fn write_locked(
    paths: &OutputPaths,
    texts: &Texts<'_>,
    write_record: impl FnOnce(&Plan<'_>),
) -> Result<Written, OutputError> {
    fs::create_dir_all(&paths.parent).map_err(IoError::on("make folder", &paths.parent))?;
    let _lock = Lock::acquire(paths)?;
    exchange::remove_leftovers(paths)?;
    // A new plan, since another run may have written while this one waited for the lock.
    let mut plan = Plan::new(paths, texts)?;
    let mut written = Written { set_aside: plan.set_aside(paths)?, ..Written::default() };
    if !plan.changes_nothing() {
        let set_aside = written.set_aside.as_ref();
        plan.known.set_aside = set_aside.map(|set_aside| set_aside.folder.clone());
        let done = plan.build(paths).and_then(|()| exchange::exchange(paths, &plan.known));
        // After a failure, the unfinished tree is removed; the error to report is that of the failure.
        let rest = done.inspect_err(|_| drop(exchange::remove_leftovers(paths)))?;
        written.add_rest(rest);
    }
    // The lock is still held, so that another run cannot write its tree before this record.
    write_record(&plan);
    Ok(Written { set_aside: written.set_aside, old: written.old, ..plan.into_written() })
}

/// The action for each file, by path.
#[derive(Default)]
struct Plan<'a> {
    /// The texts of files to write.
    write: BTreeMap<&'a str, &'a str>,
    /// The paths of those that exist, with another text.
    replace: BTreeSet<String>,
    /// Generated files whose content is right, with their stamps from before it was compared.
    keep: BTreeMap<String, (PathBuf, Stamp)>,
    /// Files that were not generated, which are kept, too. Paths that are not UTF-8 may have the same text.
    foreign: Vec<(String, PathBuf)>,
    /// Generated files to remove.
    remove: Vec<(String, PathBuf)>,
    /// Folders with nothing in them, which are kept.
    empty: Vec<PathBuf>,
    /// All entries that were found.
    known: Known,
}

impl<'a> Plan<'a> {
    fn new(paths: &OutputPaths, texts: &'a Texts<'_>) -> Result<Self, OutputError> {
        let mut plan = Self {
            write: texts.iter().map(|(path, text)| (*path, text.as_ref())).collect(),
            ..Self::default()
        };
        let Contents { entries: found, empty } = tree::contents(&paths.out)?;
        plan.known = Known::of(&paths.out, &found);
        // A folder with a marker of its own is the output of another project, so its generated files are not removed.
        let markers = found.iter().filter_map(|entry| entry.path.strip_suffix(MARKER));
        let others: Vec<String> =
            markers.filter(|folder| folder.ends_with('/')).map(str::to_owned).collect();
        let mut ownership = Ownership::default();
        for (is_same, entry) in compare(&found, texts).into_iter().zip(found) {
            let is_others = others.iter().any(|folder| entry.path.starts_with(folder.as_str()));
            plan.add(entry, is_same?, is_others, &mut ownership)?;
        }
        plan.check_collisions(texts)?;
        let is_free = |folder: &PathBuf| {
            let path = slash_path(folder.strip_prefix(&paths.out).unwrap_or(folder));
            !texts.contains_key(&*path)
                && !folders_of(&path).any(|folder| texts.contains_key(folder))
        };
        plan.empty = empty.into_iter().filter(is_free).collect();
        let foreign = plan.foreign.iter().map(|(_, real)| old::inside(&paths.out, real));
        plan.known.foreign = foreign.collect();
        Ok(plan)
    }

    fn add(
        &mut self,
        entry: Entry,
        is_same: Option<bool>,
        is_others: bool,
        ownership: &mut Ownership,
    ) -> Result<(), OutputError> {
        if entry.kind.is_symlink() {
            return Err(OutputError::Symlink(entry.real));
        }
        if is_same == Some(true) {
            self.write.remove(entry.path.as_str());
            self.keep.insert(entry.path, (entry.real, entry.stamp));
            return Ok(());
        }
        // Pipes and devices are never generated.
        let is_generated =
            entry.kind.is_file() && !is_others && ownership.is_generated(&entry.real)?;
        match is_same {
            Some(_) if is_generated || entry.is_empty()? => drop(self.replace.insert(entry.path)),
            Some(_) => return Err(OutputError::Foreign(entry.real)),
            None if is_generated => self.remove.push((entry.path, entry.real)),
            None => self.foreign.push((entry.path, entry.real)),
        }
        Ok(())
    }

    /// Returns an error if a foreign file is at the path of a generated folder, or a foreign folder at that of a generated
    /// file.
    fn check_collisions(&self, texts: &Texts<'_>) -> Result<(), OutputError> {
        let folders: BTreeSet<&str> = texts.keys().flat_map(|path| folders_of(path)).collect();
        let mut foreign = self.foreign.iter();
        let taken = foreign.find(|(path, _)| {
            folders.contains(path.as_str())
                || folders_of(path).any(|folder| texts.contains_key(folder))
        });
        taken.map_or(Ok(()), |(_, real)| Err(OutputError::Foreign(real.clone())))
    }

    fn changes_nothing(&self) -> bool {
        self.write.is_empty() && self.remove.is_empty()
    }

    fn build(&self, paths: &OutputPaths) -> Result<(), OutputError> {
        let new = &paths.new;
        fs::create_dir(new).map_err(IoError::on("make folder", new))?;
        let mut folders = Folders::default();
        let kept = self.keep.values().map(|(real, _)| real);
        for real in kept.chain(self.foreign.iter().map(|(_, real)| real)) {
            // From the path on disk, since the path as text may have lost bytes that are not UTF-8.
            let target = new.join(real.strip_prefix(&paths.out).unwrap_or(real));
            link(real, folders.create_parent(&target)?)?;
        }
        for folder in &self.empty {
            let target = new.join(folder.strip_prefix(&paths.out).unwrap_or(folder));
            fs::create_dir_all(&target).map_err(IoError::on("make folder", &target))?;
        }
        for (path, text) in &self.write {
            let target = new.join(path);
            fs::write(folders.create_parent(&target)?, text)
                .map_err(IoError::on("write", &target))?;
        }
        Ok(())
    }

    /// Links those files to a folder beside the record that are to be removed but are not as the last run wrote them.
    fn set_aside(&self, paths: &OutputPaths) -> Result<Option<SetAside>, OutputError> {
        let record = record::read(paths);
        let last = record.as_deref().and_then(LastRun::parse);
        let mut unproven = Vec::new();
        for (path, real) in &self.remove {
            // Of a longer file, only the beginning is read, which has another hash.
            let text = read_at_most(real, MOST_BYTES).map_err(IoError::on("read", real))?;
            if last.as_ref().is_none_or(|last| !last.has_recorded(path, &text)) {
                unproven.push((path, real));
            }
        }
        if unproven.is_empty() {
            return Ok(None);
        }
        let folder = old::removed_folder(paths);
        let folder = folder.map_err(IoError::on("make a folder beside", &paths.record))?;
        let mut folders = Folders::default();
        for (_, real) in &unproven {
            let target = folder.join(real.strip_prefix(&paths.out).unwrap_or(real));
            link(real, folders.create_parent(&target)?)?;
        }
        let files = unproven.into_iter().map(|(path, _)| path.clone()).collect();
        Ok(Some(SetAside { folder, files }))
    }

    fn into_written(self) -> Written {
        let is_new = |path: &&&str| !self.replace.contains(**path);
        let created = self.write.keys().filter(is_new).map(|path| (*path).to_owned()).collect();
        Written {
            created,
            written: self.write.into_keys().map(str::to_owned).collect(),
            unchanged: self.keep.into_keys().collect(),
            removed: paths_of(self.remove),
            foreign: paths_of(self.foreign),
            ..Written::default()
        }
    }
}

impl Written {
    /// Adds the rest of the old tree.
    pub(super) fn add_rest(&mut self, rest: Rest) {
        if let Some(SetAside { folder, files }) = rest.set_aside {
            let known = self.set_aside.get_or_insert(SetAside { folder, files: Vec::new() });
            known.files.extend(files);
            known.files.sort_unstable();
        }
        self.old = rest.kept;
    }
}

fn paths_of(files: Vec<(String, PathBuf)>) -> Vec<String> {
    let mut paths: Vec<String> = files.into_iter().map(|(path, _)| path).collect();
    paths.sort_unstable();
    paths
}

/// Returns the parents of a path, deepest first.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/'), |(folder, _)| folder.rsplit_once('/'))
        .map(|(folder, _)| folder)
}

/// Creates the parent folders of files. It remembers the last one: files come in path order, so most share it.
#[derive(Default)]
pub(super) struct Folders {
    last: PathBuf,
}

impl Folders {
    pub(super) fn create_parent<'t>(&mut self, target: &'t Path) -> Result<&'t Path, OutputError> {
        let folder = target.parent().unwrap_or(target);
        if folder != self.last {
            fs::create_dir_all(folder).map_err(IoError::on("make folder", folder))?;
            folder.clone_into(&mut self.last);
        }
        Ok(target)
    }
}

/// Makes a hard link to a file, or a copy if the file system has no hard links.
pub(super) fn link(from: &Path, to: &Path) -> Result<(), OutputError> {
    if fs::hard_link(from, to).is_err() {
        copy(from, to).map_err(IoError::on("carry over", from))?;
    }
    Ok(())
}

/// Copies a file with its times and permissions. Returns an error for a pipe, which could block.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = open_regular(from)?.ok_or_else(not_regular)?;
    let found = source.metadata()?;
    let mut target = fs::File::create_new(to)?;
    io::copy(&mut source, &mut target)?;
    target.set_modified(found.modified()?)?;
    target.set_permissions(found.permissions())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// On a file system without hard links, files are copied.
    #[test]
    fn a_pipe_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, file, copied] = ["pipe", "file", "copied"].map(|name| folder.path().join(name));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let error = copy(&pipe, &copied).unwrap_err().to_string();
        assert_eq!(error, "it is not a regular file");
        fs::write(&file, "mine").unwrap();
        copy(&file, &copied).unwrap();
        assert_eq!(fs::read_to_string(&copied).unwrap(), "mine");
        let modified = |path| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(modified(&copied), modified(&file));
    }
}
