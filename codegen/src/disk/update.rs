//! Updates some crates of an output folder whose other crates are right. The deepest folder that contains all changes is
//! built anew and exchanged. Adding or removing files needs a full run.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::failure::{IoError, OutputError};
use super::listing::Stamp;
use super::lock::Lock;
use super::old::{Known, Rest, inside};
use super::output::{Folders, Written, link};
use super::ownership::Ownership;
use super::paths::OutputPaths;
use super::record::Expected;
use super::sources::read_at_most;
use super::state::OutputState;
use super::tree::Contents;
use super::{exchange, record, tree};
use crate::files::Files;

/// Writes the files of some crates that differ, then the record. Returns `None`, and changes nothing, if a full run is needed.
///
/// `files` has all generated files of the folders `crates`. A run that is killed leaves the old crates or the new ones; in the
/// second case the record may still be the old one, and the next run checks those crates again.
///
/// # Errors
///
/// Returns an [`OutputError`] and leaves the folder as it was.
pub(crate) fn update(
    out: &Path,
    state: &OutputState<'_>,
    crates: &BTreeSet<String>,
    files: &Files,
    compiler_record: &str,
) -> Result<Option<Written>, OutputError> {
    let last = state.last;
    if !same_paths(&last.paths, crates, files) {
        return Ok(None);
    }
    let paths = OutputPaths::of(out)?;
    if crates.is_empty() && last.compiler_record == compiler_record && state.touched.is_empty() {
        return Ok(Some(written(state, Vec::new())));
    }
    let _lock = Lock::acquire(&paths)?;
    exchange::remove_leftovers(&paths)?;
    if record::read(&paths).is_none_or(|text| text != last.text) {
        // Another run has written in the meantime.
        return Ok(None);
    }
    let Some(Compared { changed, seen }) = compared(&paths.out, files)? else { return Ok(None) };
    let mut rest = Rest::default();
    if !changed.is_empty() {
        let folder = shared_folder(changed.keys().copied());
        let done = build(&paths, &folder, &changed, &last.paths)
            .map(|known| exchange::exchange_part(&paths, &folder, &known));
        match done {
            Ok(Some(left)) => rest = left,
            Ok(None) => {
                exchange::remove_leftovers(&paths)?;
                return Ok(None);
            }
            Err(error) => {
                drop(exchange::remove_leftovers(&paths));
                return Err(error);
            }
        }
    }
    let expected = last.paths.iter().zip(&last.files).map(|(path, file)| {
        let expected = match files.get(path) {
            None => Expected { hash: Cow::Borrowed(file.hash), seen: file.stamp },
            Some(text) => {
                let hash = Cow::Owned(record::hash(text.as_bytes()));
                Expected { hash, seen: seen.get(path).copied() }
            }
        };
        (*path, expected)
    });
    // Errors are ignored: with the old record, the next run checks these crates again.
    let (expected, has_changed) = (expected.collect(), !changed.is_empty());
    let _ = record::write(&paths, &expected, compiler_record, state.began, has_changed);
    let changed = changed.into_keys().map(str::to_owned).collect();
    let mut written = written(state, changed);
    written.add_rest(rest);
    Ok(Some(written))
}

/// Returns whether the crates have the same paths as in the record.
fn same_paths(listed: &[&str], crates: &BTreeSet<String>, files: &Files) -> bool {
    let before = |end: String| listed.partition_point(|path| *path < end.as_str());
    // `0` is the character after `/`, so paths that begin with `a/` are sorted before `a0`.
    let sizes = crates.iter().map(|dir| before(format!("{dir}0")) - before(format!("{dir}/")));
    sizes.sum::<usize>() == files.len()
        && files.iter().all(|(path, _)| listed.binary_search(&path).is_ok())
}

/// Files that were compared with their texts.
#[derive(Default)]
struct Compared<'a> {
    /// The texts of those that differ.
    changed: BTreeMap<&'a str, &'a str>,
    /// The stamps of the others, from before they were read.
    seen: BTreeMap<&'a str, Stamp>,
}

/// Compares files with their texts. Returns `None` if one of them was not generated, which a full run rejects.
fn compared<'a>(out: &Path, files: &'a Files) -> Result<Option<Compared<'a>>, OutputError> {
    let mut ownership = Ownership::default();
    let Compared { mut changed, mut seen } = Compared::default();
    for (path, text) in files.iter() {
        let file = out.join(path);
        let stamp = tree::stamp(&file)?;
        // `read_at_most` reads one more byte than expected, so a longer file is never equal.
        match read_at_most(&file, text.len() as u64) {
            Ok(found) if found == text.as_bytes() => {
                seen.extend(stamp.map(|stamp| (path, stamp)));
                continue;
            }
            Ok(found) if !found.is_empty() && !ownership.is_generated(&file)? => return Ok(None),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(IoError::on("read", &file)(error).into());
            }
            Ok(_) | Err(_) => changed.insert(path, text),
        };
    }
    Ok(Some(Compared { changed, seen }))
}

/// Builds the new version of a folder beside the output folder: changed files are written, all others are hard links. Returns what
/// was found in the folder; entries that are not among the `recorded` ones count as foreign.
fn build(
    paths: &OutputPaths,
    folder: &Path,
    changed: &BTreeMap<&str, &str>,
    recorded: &[&str],
) -> Result<Known, OutputError> {
    fs::create_dir(&paths.new).map_err(IoError::on("make folder", &paths.new))?;
    let old = paths.out.join(folder);
    let mut folders = Folders::default();
    let Contents { entries, empty } = tree::contents(&old)?;
    let mut known = Known::of(&old, &entries);
    for entry in entries {
        let path = paths.out.join(folder).join(&entry.path);
        let path = path.strip_prefix(&paths.out).unwrap_or(&path).to_string_lossy().into_owned();
        if recorded.binary_search(&path.as_str()).is_err() {
            known.foreign.insert(inside(&old, &entry.real));
        }
        if !changed.contains_key(path.as_str()) {
            let target = paths.new.join(entry.real.strip_prefix(&old).unwrap_or(&entry.real));
            link(&entry.real, folders.create_parent(&target)?)?;
        }
    }
    for folder in empty {
        let target = paths.new.join(inside(&old, &folder));
        fs::create_dir_all(&target).map_err(IoError::on("make folder", &target))?;
    }
    for (path, text) in changed {
        let path = Path::new(path);
        let target = paths.new.join(path.strip_prefix(folder).unwrap_or(path));
        fs::write(folders.create_parent(&target)?, text).map_err(IoError::on("write", &target))?;
    }
    Ok(known)
}

/// Returns the deepest folder that contains all these paths; an empty path is the output folder itself.
fn shared_folder<'a>(mut paths: impl Iterator<Item = &'a str>) -> PathBuf {
    let parent = |path: &'a str| Path::new(path).parent().unwrap_or(Path::new(""));
    let Some(first) = paths.next() else { return PathBuf::new() };
    paths.map(parent).fold(parent(first).to_owned(), |shared, folder| {
        let both = shared.components().zip(folder.components());
        both.take_while(|(a, b)| a == b)
            .map(|(a, _)| AsRef::<OsStr>::as_ref(&a).to_owned())
            .collect()
    })
}

fn written(state: &OutputState<'_>, written: Vec<String>) -> Written {
    let is_kept = |path: &&str| written.binary_search_by(|other| other.as_str().cmp(path)).is_err();
    Written {
        unchanged: state.last.paths.iter().copied().filter(is_kept).map(str::to_owned).collect(),
        written,
        foreign: state.foreign.clone(),
        ..Written::default()
    }
}
