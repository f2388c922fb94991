//! Reads the texts of agent files. The only module that touches the disk.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright::untrusted::read_text;

use crate::error::{AgentFilesError, Mistake, Source};

const ENDINGS: [&str; 3] = ["yaml", "yml", "toml"];

/// The largest size of an agent's file in MiB, far above any that a person writes.
const MAX_MIB: u32 = 1;

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
    read_text(File::open(path)?, MAX_MIB)
}
