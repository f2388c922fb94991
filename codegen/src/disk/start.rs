//! Writes the first files of a new project into an empty folder, and finds a checkout of the crates that it needs.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::failure::IoError;
use super::tree;

/// Writes files into a new or empty folder. If one cannot be written, removes the others.
///
/// # Errors
///
/// Returns an error if the folder is a symlink or not empty ([`io::ErrorKind::DirectoryNotEmpty`]), or if the system refuses to
/// write.
pub fn start_project(folder: &Path, files: &[(&str, String)]) -> Result<(), IoError> {
    let kind = tree::kind(folder)?;
    if kind.is_some_and(|kind| kind.is_symlink()) {
        let refusal = io::Error::other("it is a symlink; name the folder it leads to");
        return Err(IoError::on("start a project in", folder)(refusal));
    }
    let is_new = kind.is_none();
    fs::create_dir_all(folder).map_err(IoError::on("make folder", folder))?;
    if !tree::entries(folder)?.is_empty() {
        let refusal =
            io::Error::new(io::ErrorKind::DirectoryNotEmpty, "it is not empty; name a new folder");
        return Err(IoError::on("start a project in", folder)(refusal));
    }
    let mut created = Vec::new();
    let mut write = |(path, text): &(&str, String)| {
        let path = folder.join(path);
        write_new(&path, text, &mut created).map_err(IoError::on("write", &path))
    };
    let written = files.iter().try_for_each(&mut write);
    if written.is_err() {
        for path in created.iter().rev() {
            let _ = fs::remove_file(path);
            // Only empty folders can be removed.
            let is_ours = |above: &&Path| above.starts_with(folder) && (is_new || *above != folder);
            let folders = path.ancestors().skip(1).take_while(is_ours);
            folders.for_each(|above| drop(fs::remove_dir(above)));
        }
    }
    written
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

/// Writes a file, and adds its path to those that were created, also if only a part could be written.
fn write_new(path: &Path, text: &str, created: &mut Vec<PathBuf>) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut file = fs::File::create_new(path)?;
    created.push(path.to_owned());
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_project_that_could_not_be_written() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("new");
        let file = |path| (path, "text".to_owned());
        let files = [file("schema/a.yaml"), file("b"), file("b/c")];
        assert!(start_project(&folder, &files).is_err());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
        start_project(&folder, &files[..2]).unwrap();
        assert_eq!(fs::read_to_string(folder.join("schema/a.yaml")).unwrap(), "text");
    }

    #[cfg(unix)]
    #[test]
    fn no_project_is_written_through_a_link() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, link) = (parent.path().join("folder"), parent.path().join("link"));
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        let error = start_project(&link, &[("a", String::new())]).unwrap_err();
        assert!(error.to_string().contains("it is a symlink"), "{error}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }
}
