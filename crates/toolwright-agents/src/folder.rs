//! Reads the texts of agent files. The only module that touches the disk.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{AgentFilesError, Mistake, Source};

const ENDINGS: [&str; 3] = ["yaml", "yml", "toml"];

/// The largest size of an agent's file in bytes, far above any that a person writes.
const MAX_BYTES: u64 = 1 << 20;

/// The texts of one file, or of the agent files of a folder in the order of their names. Of a file that cannot be read, why.
pub(crate) fn read(path: &Path) -> Result<Vec<Result<Arc<Source>, Mistake>>, AgentFilesError> {
    let unreadable = |error: io::Error| AgentFilesError::new(vec![Mistake::anywhere(path, &error)]);
    if !fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![read_file(path.to_owned())]);
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths.into_iter().map(read_file).collect())
}

fn read_file(path: PathBuf) -> Result<Arc<Source>, Mistake> {
    match text(&path) {
        Ok(text) => Ok(Arc::new(Source { path, text })),
        Err(error) => Err(Mistake::anywhere(&path, &error)),
    }
}

/// The text of a regular file. A pipe would keep us waiting, and a device may never end.
fn text(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other(
            "found no regular file, expected one with the text of an agent",
        ));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        let message =
            format!("found more than {} MiB, expected the text of an agent", MAX_BYTES >> 20);
        return Err(io::Error::other(message));
    }
    String::from_utf8(bytes).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
    })
}
