//! Writes a single file that a user named. The file is replaced atomically, and symlinks are not followed.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::path::Path;

use super::failure::IoError;
use super::tree;

/// Writes a text to a file, replacing its content, and creates the parent folders. A run that is killed leaves the old file.
/// If there is no file at first and another process creates one in the meantime, that file is kept.
///
/// # Errors
///
/// Returns an error if the system refuses to write, if a symlink or something other than a file is at the path, or if a
/// parent of a relative path is a symlink.
pub fn write_text(path: &Path, text: &str) -> Result<(), IoError> {
    let before = writable(path)?;
    replace(path, text, before).map_err(IoError::on("write", path))
}

/// Reads the text that [`write_text`] would replace, if there is a file.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is not UTF-8, or could not be replaced.
pub fn read_writable(path: &Path) -> Result<Option<String>, IoError> {
    match writable(path)? {
        None => Ok(None),
        Some(_) => super::read_text(path),
    }
}

/// Returns the permissions of the file to be replaced, or `None` if there is no file.
fn writable(path: &Path) -> Result<Option<Permissions>, IoError> {
    let refused = |why: &str| Err(IoError::on("write", path)(io::Error::other(why)));
    let found = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            return refused("it is a symlink; name the file it leads to");
        }
        Ok(found) if !found.is_file() => {
            return refused(
                "it is not a regular file; leave out the name to write to standard output",
            );
        }
        Ok(found) => Some(found.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(IoError::on("read", path)(error)),
    };
    match tree::symlinked_parent(path)? {
        None => Ok(found),
        Some(link) => {
            let link = super::printable_path(&link);
            refused(&format!("{link} is a symlink; name the folder it leads to"))
        }
    }
}

fn replace(path: &Path, text: &str, before: Option<Permissions>) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // A hidden file, because reading schemas skips those: a killed run may leave it behind.
    let prefix = format!(".{name}.");
    let mut new = tempfile::Builder::new();
    new.prefix(&prefix).suffix(".toolwright-new");
    #[cfg(unix)]
    new.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut new = new.tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    match before {
        None => new.persist_noclobber(path)?,
        Some(permissions) => {
            new.as_file().set_permissions(permissions)?;
            new.persist(path)?
        }
    };
    Ok(())
}
