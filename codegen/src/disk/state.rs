//! Checks an output folder against the record of the last run by file metadata: are all files there, and may any of them have
//! changed since? It does not read generated files; [`super::drift`] compares their content.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::exchange;
use super::listing::{self, EntryKind};
use super::ownership::Ownership;
use super::paths::OutputPaths;
use super::record::LastRun;
use crate::parallel;

/// The state of an output folder since the last run.
pub(crate) struct OutputState<'r> {
    /// The record of the last run.
    pub(super) last: &'r LastRun<'r>,
    /// The generated files that are missing or may have changed.
    pub(crate) touched: Vec<&'r str>,
    /// Files that were not generated.
    pub(super) foreign: Vec<String>,
    /// The time when this check began.
    pub(super) began: SystemTime,
}

impl<'r> OutputState<'r> {
    /// Checks the files of an output folder that the record lists. Returns `None` if a full run is needed: a killed run left
    /// something, or the folder contains something that has to be removed or rejected.
    pub(crate) fn read(out: &Path, last: &'r LastRun<'r>) -> Option<Self> {
        let began = SystemTime::now();
        let paths = OutputPaths::of(out).ok()?;
        if exchange::has_leftovers(&paths).ok()? {
            return None;
        }
        let untouched = last.paths.iter().map(|_| AtomicBool::new(false)).collect();
        let scan = Scan { last, untouched, ownership: Mutex::default() };
        let foreign = scan.scan_all(&paths.out).ok()?;
        let of_files = last.paths.iter().zip(scan.untouched);
        let touched = of_files.filter(|(_, untouched)| !untouched.load(RELAXED));
        let touched = touched.map(|(path, _)| *path).collect();
        Some(Self { last, touched, foreign, began })
    }
}

/// Returns the modification time of the running program; `None` if it tells nothing, as package stores such as that of Nix give
/// all files the first second of 1970.
pub(crate) fn build_time() -> Option<SystemTime> {
    let program = std::env::current_exe().and_then(fs::metadata).ok()?;
    let modified = program.modified().ok()?;
    (modified > SystemTime::UNIX_EPOCH + Duration::from_hours(24)).then_some(modified)
}

/// The results of the threads are read after all of them have ended.
const RELAXED: Ordering = Ordering::Relaxed;

/// A number of folders that is enough to keep all threads busy.
const ENOUGH_FOLDERS: usize = 64;

struct Scan<'a> {
    last: &'a LastRun<'a>,
    /// For each recorded file, whether it exists with the recorded stamp.
    untouched: Vec<AtomicBool>,
    /// One for all folders, so that code beside them is read once.
    ownership: Mutex<Ownership>,
}

/// A folder to scan.
struct Folder {
    /// Its path on disk.
    real: PathBuf,
    /// The prefix of recorded paths in it.
    prefix: String,
    /// The indices of the recorded paths with this prefix.
    listed: Range<usize>,
}

/// Folders and files that are not recorded.
#[derive(Default)]
struct Found {
    folders: Vec<Folder>,
    foreign: Vec<String>,
}

impl Scan<'_> {
    /// Scans all folders; returns the files that are not recorded.
    fn scan_all(&self, out: &Path) -> io::Result<Vec<String>> {
        let all = Folder {
            real: out.to_owned(),
            prefix: String::new(),
            listed: 0..self.last.paths.len(),
        };
        let mut found = Found { folders: vec![all], ..Found::default() };
        while !found.folders.is_empty() && found.folders.len() < ENOUGH_FOLDERS {
            for folder in std::mem::take(&mut found.folders) {
                self.scan(&folder, &mut found)?;
            }
        }
        for foreign in parallel::map(&found.folders, |folder| self.scan_below(folder)) {
            found.foreign.extend(foreign?);
        }
        found.foreign.sort_unstable();
        Ok(found.foreign)
    }

    fn scan_below(&self, folder: &Folder) -> io::Result<Vec<String>> {
        let mut found = Found::default();
        self.scan(folder, &mut found)?;
        while let Some(folder) = found.folders.pop() {
            self.scan(&folder, &mut found)?;
        }
        Ok(found.foreign)
    }

    /// Scans the entries of one folder. Returns an error for links, pipes and devices, and for generated files that are not
    /// recorded.
    fn scan(&self, folder: &Folder, found: &mut Found) -> io::Result<()> {
        listing::for_each_entry(&folder.real, |entry| {
            let name = entry.name().to_string_lossy();
            match entry.kind()? {
                EntryKind::Folder => {
                    found.folders.push(self.subfolder(folder, entry.name(), &name));
                }
                EntryKind::File => match self.find(folder, &name) {
                    Some(at) => {
                        let stamp = Some(entry.stamp()?);
                        self.untouched[at].store(self.last.files[at].stamp == stamp, RELAXED);
                    }
                    None if self
                        .ownership
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .is_generated(&folder.real.join(entry.name()))
                        .map_err(|failure| failure.source)? =>
                    {
                        return Err(io::Error::other("an earlier run generated it"));
                    }
                    None => found.foreign.push(format!("{}{name}", folder.prefix)),
                },
                EntryKind::Other => return Err(io::Error::other("it is not a file")),
            }
            Ok(())
        })
    }

    /// Returns the index of the recorded path for a name in a folder.
    fn find(&self, folder: &Folder, name: &str) -> Option<usize> {
        let name_of = |path: &&str| path[folder.prefix.len()..].cmp(name);
        let found = self.last.paths[folder.listed.clone()].binary_search_by(name_of);
        found.ok().map(|at| folder.listed.start + at)
    }

    fn subfolder(&self, folder: &Folder, real: &OsStr, name: &str) -> Folder {
        let prefix = format!("{}{name}/", folder.prefix);
        let around = &self.last.paths[folder.listed.clone()];
        let start = folder.listed.start + around.partition_point(|path| *path < prefix.as_str());
        let inside = self.last.paths[start..folder.listed.end]
            .partition_point(|path| path.starts_with(&prefix));
        Folder { real: folder.real.join(real), prefix, listed: start..start + inside }
    }
}
