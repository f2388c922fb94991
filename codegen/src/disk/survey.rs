//! A quick look at an output folder: is everything there that the last run left, and can any of it have been changed
//! since? Reads no generated file; whoever wants to know what is in them compares them ([`super::drift`]).

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use super::failure::{IoFailure, OutputError};
use super::listing::{self, Kind};
use super::place::Place;
use super::sources::read_regular;
use super::{exchange, manifest, tree};
use crate::parallel;

/// What a run in full has to deal with, or to tell of.
#[derive(Debug)]
pub(crate) struct Doubt;

/// What the last run left to be read.
#[derive(Debug)]
pub(crate) struct Notes {
    /// The output folder.
    out: PathBuf,
    /// The path of the record in it.
    name: String,
    /// The text of the record.
    record: String,
    /// The list of generated files.
    list: String,
    /// When the record was written.
    written: SystemTime,
}

/// What a folder that the last run left looks like now.
#[derive(Debug)]
pub(crate) struct Survey<'a> {
    /// The text of the record.
    pub(crate) record: &'a str,
    /// Every generated file there should be, in path order.
    pub(crate) listed: Vec<&'a str>,
    /// Those that are gone, or may have been written to after the record was.
    pub(crate) touched: Vec<&'a str>,
    /// What else is there: not generated, as far as the list goes.
    pub(crate) foreign: Vec<String>,
}

impl Notes {
    /// Reads them from an output folder that a run ended well in.
    pub(crate) fn read(out: &Path, name: &str) -> Result<Self, Doubt> {
        let place = Place::of(out)?;
        if exchange::has_leftovers(&place)? {
            return Err(Doubt);
        }
        let list = read_regular(&place.out.join(manifest::NAME))?.ok_or(Doubt)?;
        let at = place.out.join(name);
        let record = read_regular(&at)?.ok_or(Doubt)?;
        let written = fs::symlink_metadata(at)?.modified()?;
        // A record from the future would be older than nothing that somebody writes.
        if !is_older(written) || written > SystemTime::now() {
            return Err(Doubt);
        }
        Ok(Self { out: place.out, name: name.to_owned(), record, list, written })
    }

    /// Looks at the output folder.
    pub(crate) fn survey(&self) -> Result<Survey<'_>, Doubt> {
        let listed = manifest::parse(&self.list).ok_or(Doubt)?;
        let sound = listed.iter().map(|_| AtomicBool::new(false)).collect();
        let look = Look { listed: &listed, written: self.written, sound };
        let foreign = look.everywhere(&self.out)?;
        let doubtful = listed.iter().zip(look.sound).filter(|(_, sound)| !sound.load(RELAXED));
        // The record is as old as itself.
        let touched = doubtful.map(|(path, _)| *path).filter(|path| *path != self.name).collect();
        Ok(Survey { record: &self.record, listed, touched, foreign })
    }
}

/// Whether the program that runs is older than something: one that was built since may generate other things, under the
/// same version.
fn is_older(than: SystemTime) -> bool {
    let built = std::env::current_exe().and_then(|program| fs::metadata(program)?.modified());
    built.is_ok_and(|built| built < than)
}

/// When a run in full began to look.
pub(crate) struct Moment(SystemTime);

impl Moment {
    pub(crate) fn now() -> Self {
        Self(SystemTime::now())
    }

    /// Makes the record of a folder that was found right as old as this look, so that the next run trusts it: a checkout, and
    /// a build of the generator, leave it older than they are. Where that cannot be, the next run is one in full again.
    pub(crate) fn confirm(&self, out: &Path, record: &str) -> io::Result<()> {
        let at = out.join(record);
        // The clock that files are marked by may be a tick behind.
        let when = self.0.checked_sub(LONGEST_TICK).unwrap_or(self.0);
        let age = fs::symlink_metadata(&at)?.modified()?;
        if age < when || age > self.0 {
            fs::File::options().write(true).open(at)?.set_modified(when)?;
        }
        Ok(())
    }
}

/// Writes a file that tells of others, and does so in a later tick of the clock than the last of them, or they would all
/// be looked at again. Some clocks tick in seconds: for those nobody waits.
pub(super) fn write_note(last: Option<&Path>, path: &Path, text: &str) -> io::Result<()> {
    let Some(last) = last else { return fs::write(path, text) };
    let modified = |path: &Path| fs::symlink_metadata(path)?.modified();
    let last = modified(last)?;
    for _ in 0..LONGEST_TICK.as_millis() {
        fs::write(path, text)?;
        if modified(path)? > last {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Longer than a tick of the clocks that systems have for their files.
const LONGEST_TICK: Duration = Duration::from_millis(20);

/// What one thread finds is read after all of them ended.
const RELAXED: Ordering = Ordering::Relaxed;

/// With so many folders to look into, there are enough for every thread.
const MANY: usize = 64;

struct Look<'a> {
    listed: &'a [&'a str],
    written: SystemTime,
    /// Whether each of them is there and older than the record: what was written in the same tick of the clock may have
    /// been written after it.
    sound: Vec<AtomicBool>,
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

/// What comes of looking into folders.
#[derive(Default)]
struct Seen {
    folders: Vec<Folder>,
    foreign: Vec<String>,
}

impl Look<'_> {
    /// Looks into all folders; what is there and not listed.
    fn everywhere(&self, out: &Path) -> Result<Vec<String>, Doubt> {
        let all =
            Folder { real: out.to_owned(), prefix: String::new(), listed: 0..self.listed.len() };
        let mut seen = Seen { folders: vec![all], ..Seen::default() };
        while !seen.folders.is_empty() && seen.folders.len() < MANY {
            for folder in std::mem::take(&mut seen.folders) {
                self.look_into(&folder, &mut seen)?;
            }
        }
        for foreign in parallel::map(&seen.folders, |folder| self.below(folder)) {
            seen.foreign.extend(foreign?);
        }
        seen.foreign.sort_unstable();
        Ok(seen.foreign)
    }

    fn below(&self, folder: &Folder) -> Result<Vec<String>, Doubt> {
        let mut seen = Seen::default();
        self.look_into(folder, &mut seen)?;
        while let Some(folder) = seen.folders.pop() {
            self.look_into(&folder, &mut seen)?;
        }
        Ok(seen.foreign)
    }

    /// Looks at what a folder holds directly: a file has to be one, and nothing that an earlier run generated may be left.
    fn look_into(&self, folder: &Folder, seen: &mut Seen) -> Result<(), Doubt> {
        listing::each(&folder.real, |entry| {
            let name = entry.name().to_string_lossy();
            match entry.kind()? {
                Kind::Folder => seen.folders.push(self.inside(folder, entry.name(), &name)),
                Kind::File => match self.find(folder, &name) {
                    Some(at) => {
                        self.sound[at].store(entry.modified()? < self.written, RELAXED);
                    }
                    None if folder.prefix.is_empty() && name == manifest::NAME => {}
                    None if tree::has_banner(&folder.real.join(entry.name()))? => {
                        return Err(Doubt);
                    }
                    None => seen.foreign.push(format!("{}{name}", folder.prefix)),
                },
                Kind::Other => return Err(Doubt),
            }
            Ok(())
        })
    }

    /// Which of the listed paths a name in a folder stands for.
    fn find(&self, folder: &Folder, name: &str) -> Option<usize> {
        let name_of = |path: &&str| path[folder.prefix.len()..].cmp(name);
        let found = self.listed[folder.listed.clone()].binary_search_by(name_of);
        found.ok().map(|at| folder.listed.start + at)
    }

    fn inside(&self, folder: &Folder, real: &OsStr, name: &str) -> Folder {
        let prefix = format!("{}{name}/", folder.prefix);
        let around = &self.listed[folder.listed.clone()];
        let start = folder.listed.start + around.partition_point(|path| *path < prefix.as_str());
        let inside =
            self.listed[start..folder.listed.end].partition_point(|path| path.starts_with(&prefix));
        Folder { real: folder.real.join(real), prefix, listed: start..start + inside }
    }
}

impl From<io::Error> for Doubt {
    fn from(_: io::Error) -> Self {
        Self
    }
}

impl From<IoFailure> for Doubt {
    fn from(_: IoFailure) -> Self {
        Self
    }
}

impl From<OutputError> for Doubt {
    fn from(_: OutputError) -> Self {
        Self
    }
}

/// The deepest folder that all these paths are in, relative to what they are relative to; empty for that itself.
pub(super) fn shared_folder<'a>(mut paths: impl Iterator<Item = &'a str>) -> PathBuf {
    let parent = |path: &'a str| Path::new(path).parent().unwrap_or(Path::new(""));
    let Some(first) = paths.next() else { return PathBuf::new() };
    paths.map(parent).fold(parent(first).to_owned(), |shared, folder| {
        let both = shared.components().zip(folder.components());
        both.take_while(|(a, b)| a == b)
            .map(|(a, _)| AsRef::<OsStr>::as_ref(&a).to_owned())
            .collect()
    })
}
