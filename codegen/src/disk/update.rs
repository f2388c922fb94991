//! Brings some crates of an output folder up to date, the rest being right: one folder, the deepest that holds all that
//! changes, is built anew and exchanged. Never adds or removes a path of the list: that is a full run's business.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use super::failure::{IoFailure, OutputError};
use super::lock::Lock;
use super::output::{Folders, Written, link};
use super::place::Place;
use super::survey::{Survey, shared_folder, write_note};
use super::{exchange, manifest, tree};
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
    survey: &Survey<'_>,
    crates: &BTreeSet<String>,
    files: &Files,
    record: (&str, &str),
) -> Result<Option<Written>, OutputError> {
    if !same_paths(survey, crates, files) {
        return Ok(None);
    }
    let place = Place::of(out)?;
    let (name, text) = record;
    if crates.is_empty() && survey.record == text && survey.touched.is_empty() {
        return Ok(Some(written(survey, Vec::new())));
    }
    let _lock = Lock::acquire(&place)?;
    exchange::sweep(&place)?;
    let at = place.out.join(name);
    if fs::read_to_string(&at).ok().as_deref() != Some(survey.record) {
        // Another run was here meanwhile.
        return Ok(None);
    }
    let changed = changed(&place.out, files)?;
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
    let last = changed.keys().next_back().map(|path| place.out.join(path));
    replace(&place, last.as_deref(), &at, text)?;
    let changed = changed.into_keys().map(str::to_owned).collect();
    Ok(Some(written(survey, changed)))
}

/// Whether the crates have the files they had.
fn same_paths(survey: &Survey<'_>, crates: &BTreeSet<String>, files: &Files) -> bool {
    let before = |end: String| survey.listed.partition_point(|path| *path < end.as_str());
    // What begins with `a/` comes before `a0`, as `0` is the sign after `/`.
    let sizes = crates.iter().map(|dir| before(format!("{dir}0")) - before(format!("{dir}/")));
    sizes.sum::<usize>() == files.len()
        && files.iter().all(|(path, _)| survey.listed.binary_search(&path).is_ok())
}

fn changed<'a>(out: &Path, files: &'a Files) -> Result<BTreeMap<&'a str, &'a str>, OutputError> {
    let mut changed = BTreeMap::new();
    for (path, text) in files.iter() {
        if read_bytes(&out.join(path))?.as_deref() != Some(text.as_bytes()) {
            changed.insert(path, text);
        }
    }
    Ok(changed)
}

/// What a file holds, if it is there.
fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, IoFailure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(IoFailure::on("read", path)(error)),
    }
}

/// Builds a folder of the tree beside it: what changes is written, everything else is linked.
fn build(place: &Place, folder: &Path, changed: &BTreeMap<&str, &str>) -> Result<(), OutputError> {
    fs::create_dir(&place.new).map_err(IoFailure::on("make folder", &place.new))?;
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
        fs::write(folders.make_room(&target)?, text).map_err(IoFailure::on("write", &target))?;
    }
    Ok(())
}

/// Puts a new record in the place of the old one, later than the last file that was written.
fn replace(place: &Place, last: Option<&Path>, at: &Path, text: &str) -> Result<(), OutputError> {
    write_note(last, &place.new, text).map_err(IoFailure::on("write", &place.new))?;
    Ok(fs::rename(&place.new, at).map_err(IoFailure::on("move into place", &place.new))?)
}

fn written(survey: &Survey<'_>, written: Vec<String>) -> Written {
    let is_kept = |path: &&str| written.binary_search_by(|other| other.as_str().cmp(path)).is_err();
    let all = std::iter::once(manifest::NAME).chain(survey.listed.iter().copied());
    Written {
        unchanged: all.filter(is_kept).map(str::to_owned).collect(),
        written,
        removed: Vec::new(),
        foreign: survey.foreign.clone(),
    }
}
