//! Reads and writes the record of the last run, beside the output folder: `.toolwright/gen.record` for `gen`. Its folder
//! keeps itself out of git, and a record that is lost or cannot be written costs a run in full, nothing else.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use super::place::Place;
use super::sources::read_regular;
use super::tree;

/// Longer than a tick of the clocks that systems have for their files.
const LONGEST_TICK: Duration = Duration::from_millis(20);

/// The record of the last run.
pub(crate) struct FoundRecord {
    pub(crate) text: String,
    /// When it was written.
    pub(super) written: SystemTime,
}

/// Reads the record of the last run on an output folder, if there is one.
pub(crate) fn read_record(out: &Path) -> Option<FoundRecord> {
    read(&Place::of(out).ok()?)
}

pub(super) fn read(place: &Place) -> Option<FoundRecord> {
    let is_ours = |path, is_kind: fn(&fs::FileType) -> bool| matches!(tree::kind(path), Ok(Some(kind)) if is_kind(&kind));
    if !is_ours(place.record.parent()?, fs::FileType::is_dir)
        || !is_ours(&place.record, fs::FileType::is_file)
    {
        return None;
    }
    let written = fs::symlink_metadata(&place.record).ok()?.modified().ok()?;
    // No file that somebody changes now would be younger than a record from the future.
    let text = read_regular(&place.record).ok()??;
    (written <= SystemTime::now()).then_some(FoundRecord { text, written })
}

/// Writes the record of a run that began to look at the output folder at some time.
///
/// A generated file that is younger than the record may have been changed since, so the record has to be younger than
/// `newest`, the last file that the run wrote. After a run that wrote nothing it is as old as the look at the folder.
pub(super) fn write(
    place: &Place,
    text: &str,
    newest: Option<&Path>,
    began: SystemTime,
) -> io::Result<()> {
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
    // Renamed, so that no link is followed and a run that is killed leaves the old record.
    let new = place.record.with_extension("record.new");
    let _ = fs::remove_file(&new);
    let written = write_after(&new, text, newest, began);
    written.and_then(|()| fs::rename(&new, &place.record)).inspect_err(|_| {
        let _ = fs::remove_file(&new);
    })
}

fn write_after(
    path: &Path,
    text: &str,
    newest: Option<&Path>,
    began: SystemTime,
) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    let Some(newest) = newest else {
        // The clock of files may be a tick behind.
        return file.set_modified(began.checked_sub(LONGEST_TICK).unwrap_or(began));
    };
    let newest = fs::symlink_metadata(newest)?.modified()?;
    // Some clocks tick in seconds: for those nobody waits, and the files are looked at again.
    for _ in 0..LONGEST_TICK.as_millis() {
        if file.metadata()?.modified()? > newest {
            break;
        }
        thread::sleep(Duration::from_millis(1));
        file = File::create(path)?;
        file.write_all(text.as_bytes())?;
    }
    Ok(())
}
