//! Compares and writes an output folder. What is not generated there is carried over and never read into the result.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::failure::{IoError, OutputError};
use super::ownership::{self, MARKER, Ownership, Texts};
use super::place::Place;
use super::record::LastRun;
use super::tree::Entry;
use super::{exchange, lock::Lock, record, tree};
use crate::files::Files;
use crate::parallel;

/// How an output folder differs from what would be generated; paths are relative to it, in path order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Would be generated and is not there.
    pub missing: Vec<String>,
    /// Is there with another content, or is not a file.
    pub stale: Vec<String>,
    /// Is there and would not be generated.
    pub orphaned: Vec<String>,
}

/// What a run did to an output folder; paths are relative to it, in path order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// New files and files with new content.
    pub written: Vec<String>,
    /// Generated files that were already right; they keep inode and modification time.
    pub unchanged: Vec<String>,
    /// Files an earlier run had generated and this one did not.
    pub removed: Vec<String>,
    /// Where those of the removed files are now that may hold something else than a run generated: nothing is deleted for the
    /// banner alone, which a copy has too.
    pub set_aside: Option<SetAside>,
    /// Files that are not generated and were left as they are.
    pub foreign: Vec<String>,
}

/// Files that were moved out of an output folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// The folder they are in.
    pub folder: PathBuf,
    /// Their paths, in the output folder as in that one.
    pub files: Vec<String>,
}

impl Drift {
    /// Whether the folder is exactly what would be generated.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.stale.is_empty() && self.orphaned.is_empty()
    }
}

/// Compares an output folder with what would be generated. Changes nothing.
///
/// # Errors
///
/// When the folder is a symlink or not a folder, or the system refuses to read it.
pub fn drift(out: &Path, files: &Files) -> Result<Drift, OutputError> {
    let place = Place::of(out)?;
    let texts = ownership::complete(files)?;
    let mut drift = Drift::default();
    let mut missing: BTreeSet<&str> = texts.keys().copied().collect();
    let found = tree::walk(&place.out)?;
    for (holds, entry) in compare(&found, &texts).into_iter().zip(found) {
        missing.remove(entry.path.as_str());
        match holds? {
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

/// Whether each entry is a file of exactly the text that belongs to its path; none where no text does.
fn compare(entries: &[Entry], texts: &Texts<'_>) -> Vec<Result<Option<bool>, IoError>> {
    parallel::map(entries, |entry| {
        texts.get(entry.path.as_str()).map(|text| entry.holds(text)).transpose()
    })
}

/// Makes an output folder hold the generated files, by building the whole tree beside it and exchanging the two.
///
/// A folder that is already right is not touched at all. A run that is killed leaves the old tree or the new one.
///
/// # Errors
///
/// See [`OutputError`]; the folder is then as it was.
pub fn write(out: &Path, files: &Files) -> Result<Written, OutputError> {
    write_recorded(out, files, None)
}

/// Does what [`write`] does, and leaves a record for the next run if there is one to leave. Only files that the record of the
/// last run has with the same text are then deleted, others are set aside.
pub(crate) fn write_recorded(
    out: &Path,
    files: &Files,
    compiled: Option<&str>,
) -> Result<Written, OutputError> {
    let began = SystemTime::now();
    let place = Place::of(out)?;
    let texts = ownership::complete(files)?;
    // Without a record the next run is one in full, so a failure to write it is no failure of this run.
    let remember = |plan: &Plan<'_>| {
        let Some(compiled) = compiled else { return };
        let texts: Vec<_> = texts.iter().collect();
        let hashes = parallel::map(&texts, |(path, text)| {
            (**path, Cow::Owned(record::hash(text.as_bytes())))
        });
        let found_right = plan.changes_nothing().then_some(began);
        let _ = record::write(&place, &hashes.into_iter().collect(), compiled, found_right);
    };
    // Looked at without the lock, which would itself touch the parent folder. Whatever another run, writing meanwhile,
    // makes this look fail on is looked at again under the lock.
    match Plan::new(&place, &texts) {
        Ok(plan) if plan.changes_nothing() && !exchange::has_leftovers(&place)? => {
            remember(&plan);
            Ok(plan.into_written(None))
        }
        _ => write_locked(&place, &texts, compiled.is_some(), remember),
    }
}

fn write_locked(
    place: &Place,
    texts: &Texts<'_>,
    is_recorded: bool,
    remember: impl FnOnce(&Plan<'_>),
) -> Result<Written, OutputError> {
    fs::create_dir_all(&place.parent).map_err(IoError::on("make folder", &place.parent))?;
    let _lock = Lock::acquire(place)?;
    exchange::sweep(place)?;
    // Looked at again: another run may have written while this one waited.
    let plan = Plan::new(place, texts)?;
    let set_aside = if is_recorded { plan.set_aside(place)? } else { None };
    if !plan.changes_nothing() {
        let done = plan.build(place).and_then(|()| exchange::exchange(place));
        // A tree that could not be finished is of no use to anyone; its own failure is the one to report.
        done.inspect_err(|_| drop(exchange::sweep(place)))?;
    }
    // While the lock is held: another run may be waiting to write another tree and its record.
    remember(&plan);
    Ok(plan.into_written(set_aside))
}

/// What becomes of each file, decided before anything is touched.
#[derive(Default)]
struct Plan<'a> {
    write: BTreeMap<&'a str, &'a str>,
    keep: BTreeMap<String, PathBuf>,
    carry: BTreeMap<String, PathBuf>,
    remove: BTreeMap<String, PathBuf>,
}

impl<'a> Plan<'a> {
    fn new(place: &Place, texts: &'a Texts<'_>) -> Result<Self, OutputError> {
        let mut plan = Self {
            write: texts.iter().map(|(path, text)| (*path, text.as_ref())).collect(),
            ..Self::default()
        };
        let found = tree::walk(&place.out)?;
        // A folder with a marker of its own belongs to another project, whatever its files say of themselves.
        let markers = found.iter().filter_map(|entry| entry.path.strip_suffix(MARKER));
        let others: Vec<String> =
            markers.filter(|folder| folder.ends_with('/')).map(str::to_owned).collect();
        let mut ownership = Ownership::default();
        for (holds, entry) in compare(&found, texts).into_iter().zip(found) {
            let is_others = others.iter().any(|folder| entry.path.starts_with(folder.as_str()));
            plan.place(entry, holds?, is_others, &mut ownership)?;
        }
        plan.refuse_collisions(texts)?;
        Ok(plan)
    }

    fn place(
        &mut self,
        entry: Entry,
        holds: Option<bool>,
        is_others: bool,
        ownership: &mut Ownership,
    ) -> Result<(), OutputError> {
        if entry.kind.is_symlink() {
            return Err(OutputError::Symlink(entry.real));
        }
        if holds == Some(true) {
            self.write.remove(entry.path.as_str());
            self.keep.insert(entry.path, entry.real);
            return Ok(());
        }
        // A pipe or a device at a path of ours was put there by somebody else.
        let ours = entry.kind.is_file() && !is_others && ownership.is_ours(&entry.real)?;
        match holds {
            Some(_) if ours || entry.is_empty()? => {}
            Some(_) => return Err(OutputError::Foreign(entry.real)),
            None if ours => drop(self.remove.insert(entry.path, entry.real)),
            None => drop(self.carry.insert(entry.path, entry.real)),
        }
        Ok(())
    }

    /// A foreign file may not stand where a generated folder must be, nor the other way round.
    fn refuse_collisions(&self, texts: &Texts<'_>) -> Result<(), OutputError> {
        let folders: BTreeSet<&str> = texts.keys().flat_map(|path| folders_of(path)).collect();
        let mut carried = self.carry.iter();
        let taken = carried.find(|(path, _)| {
            folders.contains(path.as_str())
                || folders_of(path).any(|folder| texts.contains_key(folder))
        });
        taken.map_or(Ok(()), |(_, real)| Err(OutputError::Foreign(real.clone())))
    }

    fn changes_nothing(&self) -> bool {
        self.write.is_empty() && self.remove.is_empty()
    }

    fn build(&self, place: &Place) -> Result<(), OutputError> {
        let new = &place.new;
        fs::create_dir(new).map_err(IoError::on("make folder", new))?;
        let mut folders = Folders::default();
        for real in self.keep.values().chain(self.carry.values()) {
            // Taken from the name on disk, as the shown path may have lost odd bytes.
            let target = new.join(real.strip_prefix(&place.out).unwrap_or(real));
            link(real, folders.make_room(&target)?)?;
        }
        for (path, text) in &self.write {
            let target = new.join(path);
            fs::write(folders.make_room(&target)?, text).map_err(IoError::on("write", &target))?;
        }
        Ok(())
    }

    /// Gives those of the files to be removed that the last run did not leave as they are a second name beside the record.
    fn set_aside(&self, place: &Place) -> Result<Option<SetAside>, OutputError> {
        let record = record::read(place);
        let last = record.as_deref().and_then(LastRun::parse);
        let mut unproven = Vec::new();
        for (path, real) in &self.remove {
            let text = fs::read(real).map_err(IoError::on("read", real))?;
            if last.as_ref().is_none_or(|last| !last.left(path, &text)) {
                unproven.push((path, real));
            }
        }
        if unproven.is_empty() {
            return Ok(None);
        }
        let folder = record::make_folder(place).and_then(|folder| free_folder(&folder));
        let folder = folder.map_err(IoError::on("make a folder beside", &place.record))?;
        let mut folders = Folders::default();
        for (path, real) in &unproven {
            link(real, folders.make_room(&folder.join(path))?)?;
        }
        let files = unproven.into_iter().map(|(path, _)| path.clone()).collect();
        Ok(Some(SetAside { folder, files }))
    }

    fn into_written(self, set_aside: Option<SetAside>) -> Written {
        Written {
            written: self.write.into_keys().map(str::to_owned).collect(),
            unchanged: self.keep.into_keys().collect(),
            removed: self.remove.into_keys().collect(),
            set_aside,
            foreign: self.carry.into_keys().collect(),
        }
    }
}

/// Makes a folder that was not there.
fn free_folder(inside: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let folder = inside.join(format!("removed-{number}"));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| folder),
        }
    }
}

/// The folders a path leads through, deepest first.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/'), |(folder, _)| folder.rsplit_once('/'))
        .map(|(folder, _)| folder)
}

/// Makes the folders that files go into. Files come in path order, so each folder is asked for once.
#[derive(Default)]
pub(super) struct Folders {
    last: PathBuf,
}

impl Folders {
    pub(super) fn make_room<'t>(&mut self, target: &'t Path) -> Result<&'t Path, OutputError> {
        let folder = target.parent().unwrap_or(target);
        if folder != self.last {
            fs::create_dir_all(folder).map_err(IoError::on("make folder", folder))?;
            folder.clone_into(&mut self.last);
        }
        Ok(target)
    }
}

/// A second name for a file; where the file system has no such thing, a copy.
pub(super) fn link(from: &Path, to: &Path) -> Result<(), OutputError> {
    if fs::hard_link(from, to).is_err() {
        copy(from, to).map_err(IoError::on("carry over", from))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let times = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    fs::File::options().write(true).open(to)?.set_modified(times)
}
