//! A quick look at an output folder: is everything there that the last run left, and can any of it have been changed
//! since? Reads no generated file; whoever wants to know what is in them compares them ([`super::drift`]).

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use super::exchange;
use super::listing::{self, Kind};
use super::ownership::Ownership;
use super::place::Place;
use super::record::LastRun;
use crate::parallel;

/// What the last run left, and what has become of it.
pub(crate) struct OutputState<'r> {
    /// What it left.
    pub(super) last: &'r LastRun<'r>,
    /// The generated files that are gone, or that somebody did something to since.
    pub(crate) touched: Vec<&'r str>,
    /// The other files.
    pub(super) foreign: Vec<String>,
    /// When the look at the folder began.
    pub(super) began: SystemTime,
}

impl<'r> OutputState<'r> {
    /// Looks at an output folder for the files that the record lists. Returns `None` if a full run has to deal with it: a
    /// killed run left something, or the folder holds something that has to be removed or refused.
    pub(crate) fn read(out: &Path, last: &'r LastRun<'r>) -> Option<Self> {
        let began = SystemTime::now();
        let place = Place::of(out).ok()?;
        if exchange::has_leftovers(&place).ok()? {
            return None;
        }
        let untouched = last.paths.iter().map(|_| AtomicBool::new(false)).collect();
        let scan = Scan { last, untouched };
        let foreign = scan.everywhere(&place.out).ok()?;
        let of_files = last.paths.iter().zip(scan.untouched);
        let touched = of_files.filter(|(_, untouched)| !untouched.load(RELAXED));
        let touched = touched.map(|(path, _)| *path).collect();
        Some(Self { last, touched, foreign, began })
    }
}

/// When the program that runs was built.
pub(crate) fn built() -> Option<SystemTime> {
    std::env::current_exe().and_then(fs::metadata).and_then(|program| program.modified()).ok()
}

/// What one thread finds is read after all of them ended.
const RELAXED: Ordering = Ordering::Relaxed;

/// With so many folders to look into, there are enough for every thread.
const MANY: usize = 64;

struct Scan<'a> {
    last: &'a LastRun<'a>,
    /// For each file, set if it exists with the stamp in the record.
    untouched: Vec<AtomicBool>,
}

/// A folder to look into.
struct Folder {
    /// Where it is.
    real: PathBuf,
    /// How paths in it begin.
    prefix: String,
    /// Which of the listed paths begin like that.
    listed: Range<usize>,
}

/// What stands in folders, besides the listed files.
#[derive(Default)]
struct Found {
    folders: Vec<Folder>,
    foreign: Vec<String>,
}

impl Scan<'_> {
    /// Looks into all folders; returns the files that are not listed.
    fn everywhere(&self, out: &Path) -> io::Result<Vec<String>> {
        let all = Folder {
            real: out.to_owned(),
            prefix: String::new(),
            listed: 0..self.last.paths.len(),
        };
        let mut found = Found { folders: vec![all], ..Found::default() };
        while !found.folders.is_empty() && found.folders.len() < MANY {
            for folder in std::mem::take(&mut found.folders) {
                self.scan(&folder, &mut found)?;
            }
        }
        for foreign in parallel::map(&found.folders, |folder| self.below(folder)) {
            found.foreign.extend(foreign?);
        }
        found.foreign.sort_unstable();
        Ok(found.foreign)
    }

    fn below(&self, folder: &Folder) -> io::Result<Vec<String>> {
        let mut found = Found::default();
        self.scan(folder, &mut found)?;
        while let Some(folder) = found.folders.pop() {
            self.scan(&folder, &mut found)?;
        }
        Ok(found.foreign)
    }

    /// Looks at what a folder holds directly: a file has to be one, and nothing that an earlier run generated may be left.
    fn scan(&self, folder: &Folder, found: &mut Found) -> io::Result<()> {
        listing::each(&folder.real, |entry| {
            let name = entry.name().to_string_lossy();
            match entry.kind()? {
                Kind::Folder => found.folders.push(self.inside(folder, entry.name(), &name)),
                Kind::File => match self.find(folder, &name) {
                    Some(at) => {
                        let stamp = Some(entry.stamp()?);
                        self.untouched[at].store(self.last.files[at].stamp == stamp, RELAXED);
                    }
                    None if Ownership::default()
                        .is_ours(&folder.real.join(entry.name()))
                        .map_err(|failure| failure.source)? =>
                    {
                        return Err(io::Error::other("it was generated once"));
                    }
                    None => found.foreign.push(format!("{}{name}", folder.prefix)),
                },
                Kind::Other => return Err(io::Error::other("it is no file")),
            }
            Ok(())
        })
    }

    /// Which of the listed paths a name in a folder stands for.
    fn find(&self, folder: &Folder, name: &str) -> Option<usize> {
        let name_of = |path: &&str| path[folder.prefix.len()..].cmp(name);
        let found = self.last.paths[folder.listed.clone()].binary_search_by(name_of);
        found.ok().map(|at| folder.listed.start + at)
    }

    fn inside(&self, folder: &Folder, real: &OsStr, name: &str) -> Folder {
        let prefix = format!("{}{name}/", folder.prefix);
        let around = &self.last.paths[folder.listed.clone()];
        let start = folder.listed.start + around.partition_point(|path| *path < prefix.as_str());
        let inside = self.last.paths[start..folder.listed.end]
            .partition_point(|path| path.starts_with(&prefix));
        Folder { real: folder.real.join(real), prefix, listed: start..start + inside }
    }
}
