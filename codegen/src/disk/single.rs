//! Writes one text to a path that a person named: as a whole or not at all, and never through a link.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::path::Path;

use super::failure::IoError;
use super::tree;

/// Writes a text, in place of whatever the file held; the folder it is in is made. A run that is killed leaves what was
/// there. A file that was not there is not written over if it comes to be meanwhile.
///
/// # Errors
///
/// When the system refuses; when a link, or something else that is no file, is at the path or, for one that is relative, when
/// a link is on the way.
pub fn write_text(path: &Path, text: &str) -> Result<(), IoError> {
    let before = writable(path)?;
    replace(path, text, before).map_err(IoError::on("write", path))
}

/// Reads the text that [`write_text`] would replace, if there is one.
///
/// # Errors
///
/// When it cannot be read, is not UTF-8, or would not be replaced.
pub fn read_writable(path: &Path) -> Result<Option<String>, IoError> {
    match writable(path)? {
        None => Ok(None),
        Some(_) => super::read_text(path),
    }
}

/// The permissions of the file that may be replaced; none if there is no file.
fn writable(path: &Path) -> Result<Option<Permissions>, IoError> {
    let refused = |why: &str| Err(IoError::on("write", path)(io::Error::other(why)));
    let found = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            return refused("it is a symlink; name the file it leads to");
        }
        Ok(found) if !found.is_file() => {
            return refused("it is no regular file; without a name, standard output is written to");
        }
        Ok(found) => Some(found.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(IoError::on("read", path)(error)),
    };
    match tree::linked_parent(path)? {
        None => Ok(found),
        Some(link) => {
            let link = super::named(&link);
            refused(&format!("{link} is a symlink; name the folder it leads to"))
        }
    }
}

fn replace(path: &Path, text: &str, before: Option<Permissions>) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // Hidden, so that who reads schemas passes it over, should a killed run leave it.
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
