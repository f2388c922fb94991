//! Reads the texts of agent files. Only this module reads from the disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use toolwright::untrusted::read_text;

use crate::error::{AgentFilesError, Mistake, Source};

const ENDINGS: [&str; 3] = ["yaml", "yml", "toml"];

/// The maximum size of an agent file in MiB.
const MAX_MIB: u32 = 1;

/// The maximum size of all agent files of a folder together, in MiB.
const MAX_FOLDER_MIB: usize = 64;

/// Reads one file, or the agent files of a folder in the order of their names, without hidden ones. A file that cannot be read
/// is a mistake.
pub(crate) fn read(path: &Path) -> Result<Vec<Result<Arc<Source>, Mistake>>, AgentFilesError> {
    let unreadable =
        |error: io::Error| AgentFilesError::new(vec![Mistake::without_position(path, &error)]);
    if !fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![read_file(path.to_owned())]);
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_hidden =
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let ending = path.extension().and_then(|ending| ending.to_str());
        if !is_hidden && ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            paths.push(path);
        }
    }
    paths.sort();
    let (mut bytes, mut files) = (0, Vec::new());
    for path in paths {
        let file = read_file(path);
        bytes += file.as_ref().map_or(0, |source| source.text.len());
        if bytes > MAX_FOLDER_MIB << 20 {
            let message = format!("found more than {MAX_FOLDER_MIB} MiB of agents, expected less");
            return Err(unreadable(io::Error::other(message)));
        }
        files.push(file);
    }
    Ok(files)
}

fn read_file(path: PathBuf) -> Result<Arc<Source>, Mistake> {
    match text(&path) {
        Ok(text) => Ok(Arc::new(Source::new(path, text))),
        Err(error) => Err(Mistake::without_position(&path, &error)),
    }
}

/// Reads a regular file. Pipes could block, and devices could be endless. Mistakes quote the text of a file, so a link must
/// not choose a file outside the folder, also if somebody exchanges the file for one while it is read.
fn text(path: &Path) -> io::Result<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")))?;
    let file = fs::canonicalize(path)?;
    let Ok(name) = file.strip_prefix(&folder) else {
        return Err(io::Error::other(
            "found a link that leads out of its folder, expected a file; put a copy there",
        ));
    };
    let folder = Dir::open_ambient_dir(&folder, ambient_authority())?;
    let special = || io::Error::other("found a folder, pipe or device, expected a regular file");
    if !folder.metadata(name)?.is_file() {
        return Err(special());
    }
    let file = folder.open(name)?;
    if !file.metadata()?.is_file() {
        return Err(special());
    }
    read_text(file, MAX_MIB)
}
