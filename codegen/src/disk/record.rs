//! The record of the last run, beside the output folder: `.toolwright/gen.record` for `gen`. Its folder keeps itself out of
//! git, and a record that is lost or cannot be written costs a run in full, nothing else.
//!
//! It is a line for each generated file, with a hash of its text and the stamp that the system gave it, then what the compiler
//! wants to know again, then a hash of it all. By hand, because a JSON library would be all that a build script compiles
//! for this.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use xxhash_rust::xxh3::xxh3_128;

use super::listing::Stamp;
use super::place::Place;
use super::sources::read_regular;
use super::tree;
use crate::parallel;

/// Longer than a tick of the clocks that systems have for their files.
const LONGEST_TICK: Duration = Duration::from_millis(20);

/// The state that the last run left.
pub(crate) struct LastRun<'r> {
    /// The whole record.
    pub(super) text: &'r str,
    /// Every generated file, in path order.
    pub(crate) paths: Vec<&'r str>,
    /// What each of them was.
    pub(super) files: Vec<LeftFile<'r>>,
    /// What the compiler wants to know again.
    pub(crate) compiled: &'r str,
}

/// A file as the last run left it.
pub(super) struct LeftFile<'r> {
    /// The hash of its text.
    pub(super) hash: &'r str,
    /// None where somebody may have changed it before the record was written.
    pub(super) stamp: Option<Stamp>,
}

/// The hash of a text, as a record says it.
pub(super) fn hash(text: &[u8]) -> String {
    format!("{:x}", xxh3_128(text))
}

/// Reads the record of the last run on an output folder, if there is one.
pub(crate) fn read_record(out: &Path) -> Option<String> {
    read(&Place::of(out).ok()?)
}

pub(super) fn read(place: &Place) -> Option<String> {
    let is_ours = |path, is_kind: fn(&fs::FileType) -> bool| matches!(tree::kind(path), Ok(Some(kind)) if is_kind(&kind));
    if !is_ours(place.record.parent()?, fs::FileType::is_dir)
        || !is_ours(&place.record, fs::FileType::is_file)
    {
        return None;
    }
    read_regular(&place.record).ok()?
}

impl<'r> LastRun<'r> {
    /// Parses a record; returns `None` if it is damaged.
    pub(crate) fn parse(text: &'r str) -> Option<Self> {
        let end = text.strip_suffix('\n')?.rfind('\n')? + 1;
        let (body, total) = text.split_at(end);
        if total.trim_end() != hash(body.as_bytes()) {
            return None;
        }
        let (count, mut rest) = body.split_once('\n')?;
        let (mut paths, mut files) = (Vec::new(), Vec::new());
        for _ in 0..count.parse().ok()? {
            let (line, others) = rest.split_once('\n')?;
            let mut parts = line.splitn(4, ' ');
            let (hash, inode, changed) = (parts.next()?, parts.next()?, parts.next()?);
            let stamp = match changed {
                "-" => None,
                time => Some(Stamp { inode: inode.parse().ok()?, changed: time.parse().ok()? }),
            };
            files.push(LeftFile { hash, stamp });
            paths.push(parts.next()?);
            rest = others;
        }
        paths.is_sorted().then_some(Self { text, paths, files, compiled: rest })
    }

    /// Returns whether a file has exactly the bytes that the last run wrote.
    pub(super) fn left(&self, path: &str, text: &[u8]) -> bool {
        let known = self.paths.binary_search(&path);
        known.is_ok_and(|at| self.files[at].hash == hash(text))
    }
}

/// Makes the folder of the record, which keeps itself out of git, and never follows a link to it.
pub(super) fn make_folder(place: &Place) -> io::Result<PathBuf> {
    let folder = place.record.parent().unwrap_or(Path::new(""));
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ if !fs::symlink_metadata(folder)?.is_dir() => {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        _ => {}
    }
    match File::create_new(folder.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n")?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(folder.to_owned())
}

/// Writes the record of a run, after it changed the output folder or, with the time when the run began, found it right.
///
/// `files` has the hash of each generated file by its path.
pub(super) fn write(
    place: &Place,
    files: &BTreeMap<&str, Cow<'_, str>>,
    compiled: &str,
    found_right: Option<SystemTime>,
) -> io::Result<()> {
    make_folder(place)?;
    // Renamed, so that no link is followed and a run that is killed leaves the old record.
    let new = place.record.with_extension("record.new");
    let _ = fs::remove_file(&new);
    let write = || {
        let mut file = File::create_new(&new)?;
        let last = match found_right {
            // The clock of files may be a tick behind.
            Some(began) => Stamp::time(began.checked_sub(LONGEST_TICK).unwrap_or(began)),
            None => end_of_tick(&file)?,
        };
        file.write_all(text(&place.out, files, compiled, last).as_bytes())?;
        fs::rename(&new, &place.record)
    };
    write().inspect_err(|_| drop(fs::remove_file(&new)))
}

/// Waits until the clock of files has gone on; returns the last time that it can have given to a file before.
fn end_of_tick(file: &File) -> io::Result<i64> {
    let now = Stamp::of(&file.metadata()?).changed;
    for _ in 0..LONGEST_TICK.as_millis() {
        thread::sleep(Duration::from_millis(1));
        file.set_modified(SystemTime::now())?;
        if Stamp::of(&file.metadata()?).changed > now {
            return Ok(now);
        }
    }
    // Some clocks tick in seconds: for those nobody waits, and the files are looked at again.
    Ok(now - 1)
}

/// A file that was changed after `last` may have been changed by somebody else, so its stamp says nothing.
fn text(out: &Path, files: &BTreeMap<&str, Cow<'_, str>>, compiled: &str, last: i64) -> String {
    let paths: Vec<&str> = files.keys().copied().collect();
    let stamps = parallel::map(&paths, |path| {
        let found = fs::symlink_metadata(out.join(path)).ok()?;
        Some(Stamp::of(&found)).filter(|stamp| found.is_file() && stamp.changed <= last)
    });
    let mut text = format!("{}\n", files.len());
    // Writing into a string does not fail.
    for ((path, hash), stamp) in files.iter().zip(stamps) {
        let _ = match stamp {
            Some(Stamp { inode, changed }) => writeln!(text, "{hash} {inode} {changed} {path}"),
            None => writeln!(text, "{hash} - - {path}"),
        };
    }
    text.push_str(compiled);
    let total = hash(text.as_bytes());
    text + &total + "\n"
}
