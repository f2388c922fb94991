//! Writes one text to a path that a person named: as a whole or not at all. Never below a folder of generated crates.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use super::failure::IoError;

/// Writes a text, in place of whatever the file held; the folder it is in is made. A run that is killed leaves what was
/// there; a link is followed, and what is no file, such as a pipe, is written to.
///
/// # Errors
///
/// When the system refuses.
pub fn write_text(path: &Path, text: &str) -> Result<(), IoError> {
    replace(path, text).map_err(IoError::on("write", path))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let (target, permissions) = match fs::metadata(path) {
        Ok(found) if !found.is_file() => return fs::write(path, text),
        Ok(found) => (fs::canonicalize(path)?, Some(found.permissions())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), None),
        Err(error) => return Err(error),
    };
    let new = sibling(&target)?;
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    let written = write_new(&new, text)
        .and_then(|()| permissions.map_or(Ok(()), |found| fs::set_permissions(&new, found)))
        .and_then(|()| fs::rename(&new, &target));
    if written.is_err() {
        // What went wrong before is what matters.
        let _ = fs::remove_file(&new);
    }
    written
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A hidden file in the same folder: who reads schemas passes it over, should a killed run leave it. Two runs have two.
fn sibling(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut sibling = OsString::from(".");
    sibling.push(name);
    sibling.push(format!(".{}.toolwright-new", process::id()));
    Ok(path.with_file_name(sibling))
}
