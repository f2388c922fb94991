//! Reads schema files. Never writes, never looks at what they say.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use toolwright::untrusted;

use super::failure::IoError;
use super::tree;
use crate::diagnostic::{Diagnostic, files as mistakes};
use crate::parallel;
use crate::source::{Source, SourceId, Sources, Span};

/// Larger than any schema a person writes, and small enough that whatever it says fits into memory many times over.
const MAX_BYTES: u64 = 4 << 20;

/// The same for all files of a project.
const MAX_TOTAL_BYTES: u64 = 64 << 20;

/// The largest size of any other text in MiB. Callers have smaller limits; this one stops a source that never ends.
pub(super) const MAX_TEXT_MIB: u32 = 64;

/// What became of reading schema files.
#[derive(Debug)]
pub struct ReadSources {
    /// All files: those that could be read, and those that are set aside.
    pub sources: Sources,
    /// What is wrong with paths and files: one that is missing, a folder without schemas, a file that is not UTF-8.
    pub findings: Vec<Diagnostic>,
}

/// Reads schema files, in path order: a folder stands for all its `*.yaml` and `*.yml` files, at any depth.
///
/// Paths are shown as they were given. Hidden files and folders are left out, as editors keep their own there. A file
/// that cannot be understood does not keep the others from being read. Links are followed inside `project`, the folder of the
/// project, and inside the folder that is read: what is wrong with a file is shown with its text, so a project that somebody
/// sent must not choose what else is read.
///
/// # Errors
///
/// When the system refuses to read.
pub fn read_sources(project: &Path, paths: &[PathBuf]) -> Result<ReadSources, IoError> {
    let mut reading = Reading::default();
    for path in paths {
        reading.add(project, path)?;
    }
    let Reading { mut files, unread, mut findings, .. } = reading;
    for (path, read) in unread.iter().zip(parallel::map(&unread, |path| read(path))) {
        files.insert(shown(path), read?);
    }
    let mut broken = BTreeMap::new();
    let mut read = Vec::new();
    for (path, (text, reason)) in files {
        broken.extend(reason.map(|reason| (path.clone(), reason)));
        read.push(Source { path, text });
    }
    let mut sources = Sources::new(read);
    let ids: Vec<SourceId> = sources.iter().map(|(id, _)| id).collect();
    for id in ids {
        let source = sources.get(id);
        if let Some(reason) = broken.get(&source.path) {
            findings.push(reason.finding(id, &source.text));
            sources.set_aside(id);
        }
    }
    Ok(ReadSources { sources, findings })
}

/// Reads one text that somebody named, and that need not be there. It may come through a pipe.
///
/// # Errors
///
/// When it is there but cannot be read, is larger than 64 MiB or is not UTF-8.
pub fn read_text(path: &Path) -> Result<Option<String>, IoError> {
    found(path, File::open(path).and_then(|file| untrusted::read_text(file, MAX_TEXT_MIB)))
}

/// Reads no more of a file than so many bytes, and one more if there is more.
pub(super) fn bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text that nobody named, and that need not be there: a pipe in its place would keep us waiting, a device would
/// never end.
pub(crate) fn read_regular(path: &Path) -> Result<Option<String>, IoError> {
    let read = || {
        if fs::metadata(path)?.is_file() {
            untrusted::read_text(File::open(path)?, MAX_TEXT_MIB)
        } else {
            Err(io::Error::other("it is not a regular file"))
        }
    };
    found(path, read())
}

fn found(path: &Path, read: io::Result<String>) -> Result<Option<String>, IoError> {
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(IoError::on("read", path)(error)),
    }
}

/// A path from the root of the file system, by its text and the current folder alone.
#[cfg(feature = "project")]
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, IoError> {
    std::path::absolute(path).map_err(IoError::on("find the current folder for", path))
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

/// Returns whether a path is a link that leads out of all of these folders.
pub(crate) fn leads_out(path: &Path, folders: &[&Path]) -> Result<bool, IoError> {
    if tree::kind(path)?.is_none_or(|kind| !kind.is_symlink()) {
        return Ok(false);
    }
    let real = |path: &Path| fs::canonicalize(path).map_err(IoError::on("read", path));
    let target = real(path)?;
    for folder in folders {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if target.starts_with(real(folder)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[derive(Default)]
struct Reading {
    /// By shown path, so that a file named twice is read as one.
    files: BTreeMap<String, (String, Option<Broken>)>,
    /// Those that are still to be read.
    unread: Vec<PathBuf>,
    findings: Vec<Diagnostic>,
    bytes: u64,
}

/// Why a file cannot be read as a schema.
enum Broken {
    NotUtf8 { offset: usize },
    NotAFile,
    TooLarge,
    TooMuch,
    LinkedFolder,
    LinkedOut,
}

impl Broken {
    /// The finding, at the place in what could be read.
    fn finding(&self, source: SourceId, text: &str) -> Diagnostic {
        let start = Span { source, start: 0, end: 0 };
        match self {
            Self::NotUtf8 { offset } => {
                let place = mistakes::bytes(source, text.len()..text.len());
                mistakes::not_utf8(place, *offset)
            }
            Self::NotAFile => mistakes::not_a_file(start),
            Self::TooLarge => mistakes::too_large(start, MAX_BYTES),
            Self::TooMuch => mistakes::project_too_large(start, MAX_TOTAL_BYTES),
            Self::LinkedFolder => mistakes::linked_folder(start),
            Self::LinkedOut => mistakes::linked_out(start),
        }
    }
}

impl Reading {
    /// Adds a file, or all schema files of a folder.
    fn add(&mut self, project: &Path, path: &Path) -> Result<(), IoError> {
        match fs::metadata(path) {
            Ok(_) if leads_out(path, &[project])? => {
                self.set_aside(path, Broken::LinkedOut);
                Ok(())
            }
            Ok(found) if found.is_dir() => {
                // How much there is so far, readable or not.
                let size = |this: &Self| this.unread.len() + this.files.len() + this.findings.len();
                let before = size(self);
                self.add_folder(path, &[project, path])?;
                if size(self) == before {
                    self.findings.push(mistakes::empty_schema(&shown(path)));
                }
                Ok(())
            }
            Ok(_) => self.add_file(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.findings.push(mistakes::missing_schema(&shown(path)));
                Ok(())
            }
            Err(error) => Err(IoError::on("read", path)(error)),
        }
    }

    fn add_folder(&mut self, path: &Path, inside: &[&Path]) -> Result<(), IoError> {
        for (path, kind) in tree::entries(path)? {
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
                continue;
            }
            // Some systems and people write `A.YAML`; to leave it out in silence would hide its schemas.
            let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
            if kind.is_dir() {
                self.add_folder(&path, inside)?;
            } else if extension == "yaml" || extension == "yml" {
                if kind.is_symlink() && leads_out(&path, inside)? {
                    self.set_aside(&path, Broken::LinkedOut);
                } else {
                    self.add_file(&path)?;
                }
            } else if kind.is_symlink() && path.is_dir() {
                // It could lead back to itself; to leave it out in silence would hide its schemas too.
                self.set_aside(&path, Broken::LinkedFolder);
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path) -> Result<(), IoError> {
        let found = fs::metadata(path).map_err(IoError::on("read", path))?;
        if !found.is_file() {
            self.set_aside(path, Broken::NotAFile);
        } else if found.len() > MAX_BYTES {
            self.set_aside(path, Broken::TooLarge);
        } else if self.bytes.saturating_add(found.len()) > MAX_TOTAL_BYTES {
            self.set_aside(path, Broken::TooMuch);
        } else {
            self.bytes += found.len();
            self.unread.push(path.to_owned());
        }
        Ok(())
    }

    fn set_aside(&mut self, path: &Path, reason: Broken) {
        self.files.insert(shown(path), (String::new(), Some(reason)));
    }
}

/// Reads a file. Of one that is not UTF-8, what stands before the mistake is kept to show where it is.
fn read(path: &Path) -> Result<(String, Option<Broken>), IoError> {
    let bytes = bounded(path, MAX_BYTES).map_err(IoError::on("read", path))?;
    if bytes.len() as u64 > MAX_BYTES {
        // It has grown since its size was looked at.
        return Ok((String::new(), Some(Broken::TooLarge)));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(&error.as_bytes()[..offset]).into_owned();
            (before, Some(Broken::NotUtf8 { offset }))
        }
    })
}
