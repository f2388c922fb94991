//! Brings some crates of an output folder up to date, the rest being right: one folder, the deepest that holds all that
//! changes, is built anew and exchanged. Never adds or removes a file: that is a full run's business.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::failure::{IoError, OutputError};
use super::lock::Lock;
use super::output::{Folders, Written, link};
use super::ownership::Ownership;
use super::place::Place;
use super::sources::bounded;
use super::state::OutputState;
use super::{exchange, record, tree};
use crate::files::Files;

/// Writes the files of some crates where they differ, then the record; none, and nothing done, if a full run is needed.
///
/// `files` has everything that belongs into the folders `crates`. A run that is killed leaves the old crates or the new
/// ones; with the new ones it may leave the old record, and then the next run looks at those crates again.
///
/// # Errors
///
/// See [`OutputError`]; the folder is then as it was.
pub(crate) fn update(
    out: &Path,
    state: &OutputState<'_>,
    crates: &BTreeSet<String>,
    files: &Files,
    compiled: &str,
) -> Result<Option<Written>, OutputError> {
    let last = state.last;
    if !same_paths(&last.paths, crates, files) {
        return Ok(None);
    }
    let place = Place::of(out)?;
    if crates.is_empty() && last.compiled == compiled && state.touched.is_empty() {
        return Ok(Some(written(state, Vec::new())));
    }
    let _lock = Lock::acquire(&place)?;
    exchange::sweep(&place)?;
    if record::read(&place).is_none_or(|text| text != last.text) {
        // Another run was here meanwhile.
        return Ok(None);
    }
    let Some(changed) = changed(&place.out, files)? else { return Ok(None) };
    if !changed.is_empty() {
        let folder = shared_folder(changed.keys().copied());
        let done = build(&place, &folder, &changed)
            .and_then(|()| exchange::exchange_part(&place, &folder));
        match done {
            Ok(true) => {}
            Ok(false) => {
                exchange::sweep(&place)?;
                return Ok(None);
            }
            Err(error) => {
                drop(exchange::sweep(&place));
                return Err(error);
            }
        }
    }
    let hashes = last.paths.iter().zip(&last.files).map(|(path, file)| {
        let hash = |text: &str| Cow::Owned(record::hash(text.as_bytes()));
        (*path, files.get(path).map_or(Cow::Borrowed(file.hash), hash))
    });
    // Where it cannot be written, the old one makes the next run look at these crates again.
    let found_right = changed.is_empty().then_some(state.began);
    let _ = record::write(&place, &hashes.collect(), compiled, found_right);
    let changed = changed.into_keys().map(str::to_owned).collect();
    Ok(Some(written(state, changed)))
}

/// Whether the crates have the files they had.
fn same_paths(listed: &[&str], crates: &BTreeSet<String>, files: &Files) -> bool {
    let before = |end: String| listed.partition_point(|path| *path < end.as_str());
    // What begins with `a/` comes before `a0`, as `0` is the sign after `/`.
    let sizes = crates.iter().map(|dir| before(format!("{dir}0")) - before(format!("{dir}/")));
    sizes.sum::<usize>() == files.len()
        && files.iter().all(|(path, _)| listed.binary_search(&path).is_ok())
}

/// The files that differ from their texts; `None` if one of them was not generated, which a full run refuses.
fn changed<'a>(
    out: &Path,
    files: &'a Files,
) -> Result<Option<BTreeMap<&'a str, &'a str>>, OutputError> {
    let mut ownership = Ownership::default();
    let mut changed = BTreeMap::new();
    for (path, text) in files.iter() {
        let file = out.join(path);
        // A byte more than there should be tells that it is another text.
        match bounded(&file, text.len() as u64) {
            Ok(found) if found == text.as_bytes() => continue,
            Ok(found) if !found.is_empty() && !ownership.is_ours(&file)? => return Ok(None),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(IoError::on("read", &file)(error).into());
            }
            Ok(_) | Err(_) => changed.insert(path, text),
        };
    }
    Ok(Some(changed))
}

/// Builds a folder of the tree beside it: what changes is written, everything else is linked.
fn build(place: &Place, folder: &Path, changed: &BTreeMap<&str, &str>) -> Result<(), OutputError> {
    fs::create_dir(&place.new).map_err(IoError::on("make folder", &place.new))?;
    let old = place.out.join(folder);
    let mut folders = Folders::default();
    for entry in tree::walk(&old)? {
        let path = place.out.join(folder).join(&entry.path);
        let path = path.strip_prefix(&place.out).unwrap_or(&path).to_string_lossy().into_owned();
        if !changed.contains_key(path.as_str()) {
            let target = place.new.join(entry.real.strip_prefix(&old).unwrap_or(&entry.real));
            link(&entry.real, folders.make_room(&target)?)?;
        }
    }
    for (path, text) in changed {
        let path = Path::new(path);
        let target = place.new.join(path.strip_prefix(folder).unwrap_or(path));
        fs::write(folders.make_room(&target)?, text).map_err(IoError::on("write", &target))?;
    }
    Ok(())
}

/// The deepest folder that all these paths are in, empty for the folder that paths are relative to.
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
        removed: Vec::new(),
        set_aside: None,
        foreign: state.foreign.clone(),
    }
}
