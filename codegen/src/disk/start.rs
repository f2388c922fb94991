//! Writes the first files of a new project into an empty folder, and finds a checkout of the crates that it needs.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::failure::IoError;
use super::tree;

/// Writes files into a new or empty folder.
///
/// # Errors
///
/// Returns an error if the folder is not empty ([`io::ErrorKind::DirectoryNotEmpty`]), or if the system refuses to write.
pub fn start_project(folder: &Path, files: &[(&str, String)]) -> Result<(), IoError> {
    fs::create_dir_all(folder).map_err(IoError::on("make folder", folder))?;
    if !tree::entries(folder)?.is_empty() {
        let refusal =
            io::Error::new(io::ErrorKind::DirectoryNotEmpty, "it is not empty; name a new folder");
        return Err(IoError::on("start a project in", folder)(refusal));
    }
    files.iter().try_for_each(|(path, text)| write_new(&folder.join(path), text))
}

/// Returns the absolute path of a checkout of this repository.
///
/// # Errors
///
/// Returns an error if the folder is missing or contains no `crates/toolwright`.
pub fn checkout(folder: &Path) -> Result<PathBuf, IoError> {
    let find = || {
        fs::metadata(folder.join("crates/toolwright/Cargo.toml"))?;
        fs::canonicalize(folder)
    };
    find().map_err(IoError::on("find a checkout of toolwright in", folder))
}

fn write_new(path: &Path, text: &str) -> Result<(), IoError> {
    let write = || {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::File::create_new(path)?.write_all(text.as_bytes())
    };
    write().map_err(IoError::on("write", path))
}
