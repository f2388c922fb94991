//! A quick look at an output folder: is everything there that the last run left, and can any of it have been changed
//! since? Reads no generated file; whoever wants to know what is in them compares them ([`super::drift`]).

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::failure::{IoFailure, OutputError};
use super::place::Place;
use super::sources::read_regular;
use super::{exchange, manifest, tree};

/// What a folder that the last run left looks like now.
#[derive(Debug)]
pub(crate) struct Survey {
    /// The text of the record.
    pub(crate) record: String,
    /// Every generated file there should be, in path order.
    pub(crate) listed: Vec<String>,
    /// Those that are gone, or were written to after the record was.
    pub(crate) touched: Vec<String>,
    /// What else is there: not generated, as far as the list goes.
    pub(crate) foreign: Vec<String>,
}

/// Looks at an output folder that has a record; none if it has not, or if there is anything about it that a
/// full run has to deal with.
pub(crate) fn survey(out: &Path, record: &str) -> Result<Option<Survey>, OutputError> {
    let place = Place::of(out)?;
    if exchange::has_leftovers(&place)? {
        return Ok(None);
    }
    let Some(list) = read_regular(&place.out.join(manifest::NAME))? else { return Ok(None) };
    let Some(text) = read_regular(&place.out.join(record))? else { return Ok(None) };
    let listed: Vec<&str> = manifest::paths(&list).collect();
    let written = fs::symlink_metadata(place.out.join(record)).and_then(|found| found.modified());
    let (true, Ok(written)) = (listed.is_sorted(), written) else { return Ok(None) };
    if !is_older(written) {
        return Ok(None);
    }
    let mut look =
        Look { listed: &listed, written, sound: vec![false; listed.len()], foreign: Vec::new() };
    if !look.into_folder(&place.out, "")? {
        return Ok(None);
    }
    let Look { sound, foreign, .. } = look;
    let doubtful = listed.iter().zip(sound).filter(|(_, sound)| !sound);
    let touched = doubtful.map(|(path, _)| (*path).to_owned()).collect();
    let listed = listed.into_iter().map(str::to_owned).collect();
    Ok(Some(Survey { record: text, listed, touched, foreign }))
}

/// Whether the program that runs is older than something: one that was built since may generate other things, under the
/// same version.
fn is_older(than: SystemTime) -> bool {
    let built = std::env::current_exe().and_then(|program| fs::metadata(program)?.modified());
    built.is_ok_and(|built| built < than)
}

struct Look<'a> {
    listed: &'a [&'a str],
    written: SystemTime,
    /// Whether each of them is there and no younger than the record.
    sound: Vec<bool>,
    foreign: Vec<String>,
}

impl Look<'_> {
    /// Whether everything below a folder is a file where a file has to be.
    fn into_folder(&mut self, folder: &Path, prefix: &str) -> Result<bool, IoFailure> {
        let failed = || IoFailure::on("look at", folder);
        for entry in fs::read_dir(folder).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let kind = entry.file_type().map_err(failed())?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if kind.is_dir() {
                if !self.into_folder(&entry.path(), &(path + "/"))? {
                    return Ok(false);
                }
            } else if !kind.is_file() {
                return Ok(false);
            } else if let Ok(at) = self.listed.binary_search(&path.as_str()) {
                let modified = entry.metadata().and_then(|found| found.modified());
                self.sound[at] = modified.map_err(failed())? <= self.written;
            } else if path != manifest::NAME {
                let entry = tree::Entry { path, real: entry.path(), kind };
                // One that an earlier run generated is to go.
                if entry.has_banner()? {
                    return Ok(false);
                }
                self.foreign.push(entry.path);
            }
        }
        Ok(true)
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
