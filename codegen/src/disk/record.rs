//! The record of the last run, beside the output folder: `.toolwright/gen.record` for `gen`. Git ignores its folder. Without a
//! record the next run is a full one.
//!
//! The record has a line for each generated file with a hash of its text and its [`Stamp`], then the record of the compiler
//! (see [`crate::incremental`]), then a hash of all that. It is not JSON, since build scripts would compile a JSON library for
//! this alone.

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
use super::paths::OutputPaths;
use super::sources::{MOST_BYTES, read_at_most, read_regular};
use super::tree;
use crate::parallel;

/// A time longer than a tick of the clocks that systems use for file times.
const LONGEST_TICK: Duration = Duration::from_millis(20);

/// The record of the last run.
pub(crate) struct LastRun<'r> {
    /// The whole record as text.
    pub(super) text: &'r str,
    /// The path of every generated file, sorted.
    pub(crate) paths: Vec<&'r str>,
    /// The generated files in the same order.
    pub(super) files: Vec<RecordedFile<'r>>,
    /// The record of the compiler.
    pub(crate) compiler_record: &'r str,
}

/// A file as the last run wrote it.
pub(super) struct RecordedFile<'r> {
    /// The hash of its text.
    pub(super) hash: &'r str,
    /// `None` if the file may have changed before the record was written.
    pub(super) stamp: Option<Stamp>,
}

/// A generated file as a run expects it on disk.
pub(super) struct Expected<'t> {
    /// The hash of its text.
    pub(super) hash: Cow<'t, str>,
    /// Its stamp from before the run found this text in it; `None` if the run wrote it.
    pub(super) seen: Option<Stamp>,
}

/// Returns the hash of a text in the format of a record.
pub(super) fn hash(text: &[u8]) -> String {
    format!("{:x}", xxh3_128(text))
}

/// Reads the record of the last run on an output folder, if there is one.
pub(crate) fn read_record(out: &Path) -> Option<String> {
    read(&OutputPaths::of(out).ok()?)
}

pub(super) fn read(paths: &OutputPaths) -> Option<String> {
    let is_ours = |path, is_kind: fn(&fs::FileType) -> bool| matches!(tree::kind(path), Ok(Some(kind)) if is_kind(&kind));
    if !is_ours(paths.record.parent()?, fs::FileType::is_dir)
        || !is_ours(&paths.record, fs::FileType::is_file)
    {
        return None;
    }
    read_regular(&paths.record).ok()?
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
            files.push(RecordedFile { hash, stamp });
            paths.push(parts.next()?);
            rest = others;
        }
        paths.is_sorted().then_some(Self { text, paths, files, compiler_record: rest })
    }

    /// Returns whether a file has exactly the bytes that the last run wrote.
    pub(super) fn has_recorded(&self, path: &str, text: &[u8]) -> bool {
        let known = self.paths.binary_search(&path);
        known.is_ok_and(|at| self.files[at].hash == hash(text))
    }
}

/// Creates the folder of the record, with a `.gitignore` for all of it. Returns an error if a link is at its path.
pub(super) fn make_folder(paths: &OutputPaths) -> io::Result<PathBuf> {
    let folder = paths.record.parent().unwrap_or(Path::new(""));
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

/// Writes the record of a run that began at some time. `files` has each generated file by path.
///
/// A file has a stamp in the record if it still has the one that was seen, or else if the run has changed the output folder and the
/// file has the expected text now: a link changes the stamp of a file, and other programs may have written to it since it was seen.
pub(super) fn write(
    paths: &OutputPaths,
    files: &BTreeMap<&str, Expected<'_>>,
    compiler_record: &str,
    began: SystemTime,
    has_changed: bool,
) -> io::Result<()> {
    make_folder(paths)?;
    // Written to a new file and renamed: that follows no link, and a run that is killed leaves the old record.
    let new = paths.record.with_extension("record.new");
    let _ = fs::remove_file(&new);
    let write = || {
        let mut file = File::create_new(&new)?;
        let now = if has_changed { Some(end_of_tick(&file)?) } else { None };
        // The clock for file times may be a tick behind.
        let began = Stamp::time(began.checked_sub(LONGEST_TICK).unwrap_or(began));
        let stamp = |path: &&str| {
            let (file, Expected { hash: expected, seen }) = (paths.out.join(path), &files[path]);
            let found = fs::symlink_metadata(&file).ok().filter(fs::Metadata::is_file)?;
            let stamp = Stamp::of(&found);
            let is_as_seen = stamp.changed <= began && *seen == Some(stamp);
            let is_right = || {
                now.is_some_and(|now| stamp.changed <= now)
                    && read_at_most(&file, MOST_BYTES).is_ok_and(|text| hash(&text) == *expected)
            };
            (is_as_seen || is_right()).then_some(stamp)
        };
        let stamps = parallel::map(&files.keys().copied().collect::<Vec<_>>(), stamp);
        file.write_all(text(files, &stamps, compiler_record).as_bytes())?;
        fs::rename(&new, &paths.record)
    };
    write().inspect_err(|_| drop(fs::remove_file(&new)))
}

/// Waits for the next tick of the clock for file times; returns the last time before it.
fn end_of_tick(file: &File) -> io::Result<i64> {
    let now = Stamp::of(&file.metadata()?).changed;
    for _ in 0..LONGEST_TICK.as_millis() {
        thread::sleep(Duration::from_millis(1));
        file.set_modified(SystemTime::now())?;
        if Stamp::of(&file.metadata()?).changed > now {
            return Ok(now);
        }
    }
    // Some clocks tick in seconds. That is too long to wait, so the next run reads the files instead.
    Ok(now - 1)
}

/// Returns the text of a record, with the stamps of the files in their order.
fn text(
    files: &BTreeMap<&str, Expected<'_>>,
    stamps: &[Option<Stamp>],
    compiler_record: &str,
) -> String {
    let mut text = format!("{}\n", files.len());
    // Writing into a string does not fail.
    for ((path, Expected { hash, .. }), stamp) in files.iter().zip(stamps) {
        let _ = match stamp {
            Some(Stamp { inode, changed }) => writeln!(text, "{hash} {inode} {changed} {path}"),
            None => writeln!(text, "{hash} - - {path}"),
        };
    }
    text.push_str(compiler_record);
    let total = hash(text.as_bytes());
    text + &total + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_another_program_changed_during_the_run_has_no_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let paths = OutputPaths::of(&folder.path().join("gen")).unwrap();
        fs::create_dir(&paths.out).unwrap();
        let stamp = |path: &str| tree::stamp(&paths.out.join(path)).unwrap();
        let put = |path: &str, text: &str| fs::write(paths.out.join(path), text).unwrap();
        let names = ["checked", "checked-and-changed", "changed", "written"];
        for path in names {
            put(path, "right");
        }
        thread::sleep(2 * LONGEST_TICK);
        let began = SystemTime::now();
        let expected = names.map(|path| {
            let seen = stamp(path).filter(|_| path.starts_with("checked"));
            (path, Expected { hash: hash(b"right").into(), seen })
        });
        put("checked-and-changed", "wrong");
        put("changed", "wrong");
        let expected = BTreeMap::from(expected);
        for (has_changed, stamped) in [(false, &["checked"][..]), (true, &["checked", "written"])] {
            write(&paths, &expected, "", began, has_changed).unwrap();
            let text = read(&paths).unwrap();
            let last = LastRun::parse(&text).unwrap();
            let files = last.paths.iter().zip(&last.files);
            let found = files.filter(|(_, file)| file.stamp.is_some()).map(|(path, _)| *path);
            assert_eq!(found.collect::<Vec<_>>(), stamped);
        }
    }
}
