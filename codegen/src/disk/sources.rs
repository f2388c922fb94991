//! Reads schema files. Never writes, never looks at what they say.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::failure::{IoFailure, ReadError};
use super::tree;
use crate::diagnostic::Diagnostic;
use crate::source::{Source, Sources};

/// Larger than any schema a person writes, and small enough that whatever it says fits into memory many times over.
const MAX_BYTES: u64 = 4 << 20;

/// The same for all files of a project.
const MAX_TOTAL_BYTES: u64 = 16 << 20;

/// Reads schema files, in path order: a folder stands for all its `*.yaml` and `*.yml` files, at any depth.
///
/// Paths are shown as they were given. Hidden files and folders are left out, as editors keep their own there.
///
/// # Errors
///
/// [`ReadError::Rejected`] when a path is missing, a folder holds no schema, or a file is not UTF-8: all such
/// mistakes at once. [`ReadError::Io`] when the system refuses to read.
pub fn read_sources(paths: &[PathBuf]) -> Result<Sources, ReadError> {
    let mut reading = Reading::default();
    for path in paths {
        reading.add(path)?;
    }
    if !reading.mistakes.is_empty() {
        return Err(ReadError::Rejected(reading.mistakes));
    }
    let files = reading.texts.into_iter().map(|(path, text)| Source { path, text });
    Ok(Sources::new(files.collect()))
}

/// Reads one text that need not be there.
///
/// # Errors
///
/// When it is there but cannot be read, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<Option<String>, IoFailure> {
    found(path, fs::read_to_string(path))
}

/// Reads a text that nobody named, and that need not be there: a pipe in its place would keep us waiting, a device would
/// never end.
pub(crate) fn read_regular(path: &Path) -> Result<Option<String>, IoFailure> {
    let read = || {
        if fs::metadata(path)?.is_file() {
            fs::read_to_string(path)
        } else {
            Err(io::Error::other("it is not a regular file"))
        }
    };
    found(path, read())
}

fn found(path: &Path, read: io::Result<String>) -> Result<Option<String>, IoFailure> {
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(IoFailure::on("read", path)(error)),
    }
}

/// A path from the root of the file system, by its text and the current folder alone.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, IoFailure> {
    std::path::absolute(path).map_err(IoFailure::on("find the current folder for", path))
}

/// A path as people write it: `/` between parts, no `.` parts.
pub(crate) fn shown(path: &Path) -> String {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let path: PathBuf = parts.collect();
    if path.as_os_str().is_empty() {
        return ".".to_owned();
    }
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

#[derive(Default)]
struct Reading {
    /// By shown path, so that a file named twice is read as one.
    texts: BTreeMap<String, String>,
    bytes: u64,
    mistakes: Vec<Diagnostic>,
}

impl Reading {
    fn add(&mut self, path: &Path) -> Result<(), IoFailure> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => self.add_root(path),
            Ok(_) => self.add_file(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.mistakes.push(missing(path));
                Ok(())
            }
            Err(error) => Err(IoFailure::on("read", path)(error)),
        }
    }

    fn add_root(&mut self, path: &Path) -> Result<(), IoFailure> {
        let before = self.texts.len() + self.mistakes.len();
        self.add_folder(path)?;
        if self.texts.len() + self.mistakes.len() == before {
            self.mistakes.push(empty(path));
        }
        Ok(())
    }

    fn add_folder(&mut self, path: &Path) -> Result<(), IoFailure> {
        for (path, kind) in tree::entries(path)? {
            self.add_entry(&path, kind)?;
        }
        Ok(())
    }

    fn add_entry(&mut self, path: &Path, kind: fs::FileType) -> Result<(), IoFailure> {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            return Ok(());
        }
        if kind.is_dir() {
            return self.add_folder(path);
        }
        if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            return self.add_file(path);
        }
        // A linked folder could lead back to itself; leaving it out silently would hide its schemas.
        if kind.is_symlink() && path.is_dir() {
            self.mistakes.push(linked_folder(path));
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path) -> Result<(), IoFailure> {
        let found = fs::metadata(path).map_err(IoFailure::on("read", path))?;
        if !found.is_file() {
            self.mistakes.push(not_a_file(path));
        } else if found.len() > MAX_BYTES {
            let message = format!("{} is larger than {} MiB", shown(path), MAX_BYTES >> 20);
            self.mistakes.push(too_large(message));
        } else if self.bytes.saturating_add(found.len()) > MAX_TOTAL_BYTES {
            let total = MAX_TOTAL_BYTES >> 20;
            let message = format!("with {} the schema is larger than {total} MiB", shown(path));
            self.mistakes.push(too_large(message));
        } else {
            self.bytes += found.len();
            let bytes = fs::read(path).map_err(IoFailure::on("read", path))?;
            self.add_text(shown(path), bytes);
        }
        Ok(())
    }

    fn add_text(&mut self, path: String, bytes: Vec<u8>) {
        match String::from_utf8(bytes) {
            Ok(text) => drop(self.texts.insert(path, text)),
            Err(error) => self.mistakes.push(not_utf8(&path, error.utf8_error().valid_up_to())),
        }
    }
}

fn missing(path: &Path) -> Diagnostic {
    Diagnostic::unplaced("missing-schema", format!("there is no schema at {}", shown(path)))
        .help("name a folder of YAML files, or write the first one there; `toolwright init` starts a new project")
}

fn empty(path: &Path) -> Diagnostic {
    let message =
        format!("folder {} holds no schema: expected at least one .yaml or .yml file", shown(path));
    Diagnostic::unplaced("empty-schema", message)
        .help("write the first schema file there, or name another folder")
}

fn linked_folder(path: &Path) -> Diagnostic {
    Diagnostic::unplaced(
        "linked-folder",
        format!("{} is a symlink to a folder, which is not followed", shown(path)),
    )
    .help("name the folder it leads to on the command line, or move it here")
}

fn not_a_file(path: &Path) -> Diagnostic {
    Diagnostic::unplaced("not-a-file", format!("{} is not a regular file", shown(path)))
}

fn too_large(message: String) -> Diagnostic {
    let help = format!(
        "a file may have {} MiB, all files of a project {} MiB; move data and long texts elsewhere",
        MAX_BYTES >> 20,
        MAX_TOTAL_BYTES >> 20
    );
    Diagnostic::unplaced("too-large", message).help(help)
}

fn not_utf8(path: &str, offset: usize) -> Diagnostic {
    Diagnostic::unplaced(
        "not-utf8",
        format!("{path} is not UTF-8: the byte at offset {offset} begins no character"),
    )
    .help("save the file as UTF-8")
}
