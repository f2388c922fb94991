//! Reads schema files as texts.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use toolwright::untrusted;

use super::failure::IoError;
use super::open::{Opened, metadata, open_regular, open_within, real_path};
use super::tree;
use crate::diagnostic::{Diagnostic, files as mistakes};
use crate::parallel;
use crate::source::{Source, SourceId, Sources, Span};

/// The maximal size of a schema file: larger than any that people write, and small enough that compiling it cannot exhaust
/// the memory.
pub const MAX_FILE_BYTES: u64 = 4 << 20;

/// The maximal size of all schema files of a project together.
const MAX_TOTAL_BYTES: u64 = 64 << 20;

/// The maximal size of any other text in MiB. Callers have smaller limits; this one stops an endless source.
pub const MAX_TEXT_MIB: u32 = 64;

/// The most bytes of a file that are read: a larger one was not generated.
pub(super) const MOST_BYTES: u64 = (MAX_TEXT_MIB as u64) << 20;

/// The result of reading schema files.
#[derive(Debug)]
pub struct ReadSources {
    /// All files, including those that could not be read, which are set aside.
    pub sources: Sources,
    /// The mistakes in paths and files: a missing file, a folder without schemas, a file that is not UTF-8.
    pub findings: Vec<Diagnostic>,
}

/// Reads schema files, in path order. Of a folder, it reads all `*.yaml` and `*.yml` files at any depth.
///
/// Messages show paths as they were given. Hidden files and folders are skipped, since editors keep their own files there. A
/// file that is not valid text does not stop the others from being read. Links are followed only inside `project`, the folder
/// of the project, and inside the folder that is read: messages show text of the files, so an untrusted project must not be
/// able to choose other files.
///
/// # Errors
///
/// Returns an error if the system refuses to read.
pub fn read_sources(project: &Path, paths: &[PathBuf]) -> Result<ReadSources, IoError> {
    let project = real_folder(project).map_err(IoError::on("read", project))?;
    let mut reading = Reading::default();
    for path in paths {
        reading.add(&project, path)?;
    }
    let Reading { mut files, unread, mut findings, .. } = reading;
    for (file, read) in unread.iter().zip(parallel::map(&unread, read)) {
        files.insert(slash_path(&file.path), read?);
    }
    let mut unreadable = BTreeMap::new();
    let mut read = Vec::new();
    for (path, (text, reason)) in files {
        unreadable.extend(reason.map(|reason| (path.clone(), reason)));
        read.push(Source { path, text });
    }
    let mut sources = Sources::new(read);
    let ids: Vec<SourceId> = sources.iter().map(|(id, _)| id).collect();
    for id in ids {
        let source = sources.get(id);
        if let Some(reason) = unreadable.get(&source.path) {
            findings.push(reason.finding(id, &source.text));
            sources.mark_unreadable(id);
        }
    }
    Ok(ReadSources { sources, findings })
}

/// Reads a text that a user named, which may come through a pipe. Returns `None` if there is no file.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is larger than 64 MiB or is not UTF-8.
pub fn read_text(path: &Path) -> Result<Option<String>, IoError> {
    found(path, File::open(path).and_then(|file| untrusted::read_text(file, MAX_TEXT_MIB)))
}

/// Reads up to `limit` bytes of a file, and one more byte if the file is longer.
pub(super) fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text that the user did not name. Returns `None` if there is no file, and an error for a pipe, which could block,
/// and for a device, which could be endless.
///
/// # Errors
///
/// As [`read_text`], and if it is no regular file.
pub fn read_regular(path: &Path) -> Result<Option<String>, IoError> {
    let file = || open_regular(path)?.ok_or_else(not_regular);
    found(path, file().and_then(|file| untrusted::read_text(file, MAX_TEXT_MIB)))
}

/// A text in a project.
#[cfg(feature = "project")]
pub(crate) enum ProjectText {
    /// The text of the file.
    Found(String),
    /// There is no such file.
    Missing,
    /// A link leads to a file outside of the folder.
    Outside,
}

/// Reads a text that has to be in a folder once links are followed.
///
/// # Errors
///
/// As [`read_regular`].
#[cfg(feature = "project")]
pub(crate) fn read_inside(path: &Path, folder: &Path) -> Result<ProjectText, IoError> {
    let open = || open_within(path, &[real_folder(folder)?]);
    Ok(match found(path, open())? {
        None => ProjectText::Missing,
        Some(Opened::Outside) => ProjectText::Outside,
        Some(Opened::Special) => return Err(IoError::on("read", path)(not_regular())),
        Some(Opened::File(file)) => {
            let text = untrusted::read_text(file, MAX_TEXT_MIB);
            ProjectText::Found(text.map_err(IoError::on("read", path))?)
        }
    })
}

pub(super) fn not_regular() -> io::Error {
    io::Error::other("it is not a regular file")
}

/// Returns the real path of a folder.
fn real_folder(folder: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

/// Reads a file that the command writes, which is never a symlink.
///
/// # Errors
///
/// As [`read_regular`], and if it is a symlink.
pub fn read_own(path: &Path) -> Result<Option<String>, IoError> {
    let open = || {
        let linked = || io::Error::other("it is a symlink, expected the file itself");
        if path.is_symlink() {
            return Err(linked());
        }
        let folder = real_folder(path.parent().unwrap_or(Path::new("")))?;
        match open_within(path, &[folder])? {
            Opened::File(file) => Ok(file),
            Opened::Outside => Err(linked()),
            Opened::Special => Err(not_regular()),
        }
    };
    found(path, open().and_then(|file| untrusted::read_text(file, MAX_TEXT_MIB)))
}

fn found<T>(path: &Path, read: io::Result<T>) -> Result<Option<T>, IoError> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(IoError::on("read", path)(error)),
    }
}

/// Makes a path absolute with the current folder, without accessing the file.
#[cfg(feature = "project")]
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, IoError> {
    std::path::absolute(path).map_err(IoError::on("find the current folder for", path))
}

/// Returns a path as text with `/` between its parts and without `.` parts.
pub(crate) fn slash_path(path: &Path) -> String {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let path: PathBuf = parts.collect();
    if path.as_os_str().is_empty() {
        return ".".to_owned();
    }
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

#[derive(Default)]
struct Reading {
    /// Texts by path as text, so that a file that is named twice is read once.
    files: BTreeMap<String, (String, Option<Unreadable>)>,
    /// Files that are still to be read.
    unread: Vec<Unread>,
    findings: Vec<Diagnostic>,
    bytes: u64,
}

struct Unread {
    path: PathBuf,
    /// The real paths of folders, in one of which it has to be.
    within: Arc<[PathBuf]>,
}

/// The reason why a file cannot be read as a schema.
enum Unreadable {
    NotUtf8 { offset: usize },
    NotAFile,
    TooLarge,
    TooMuch,
    LinkedFolder,
    LinkedOut,
}

impl Unreadable {
    /// Returns the finding, with its place in the text that could be read.
    fn finding(&self, source: SourceId, text: &str) -> Diagnostic {
        let start = Span { source, start: 0, end: 0 };
        match self {
            Self::NotUtf8 { offset } => {
                let place = mistakes::span(source, text.len()..text.len());
                mistakes::not_utf8(place, *offset)
            }
            Self::NotAFile => mistakes::not_a_file(start),
            Self::TooLarge => mistakes::too_large(start, MAX_FILE_BYTES),
            Self::TooMuch => mistakes::project_too_large(start, MAX_TOTAL_BYTES),
            Self::LinkedFolder => mistakes::linked_folder(start),
            Self::LinkedOut => mistakes::linked_out(start),
        }
    }
}

impl Reading {
    /// Adds a file, or all schema files of a folder.
    fn add(&mut self, project: &Path, path: &Path) -> Result<(), IoError> {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.findings.push(mistakes::missing_schema(&slash_path(path)));
                return Ok(());
            }
            Err(error) => return Err(IoError::on("read", path)(error)),
        };
        let Some(real) = real_path(path, project).map_err(IoError::on("read", path))? else {
            self.set_aside(path, Unreadable::LinkedOut);
            return Ok(());
        };
        if !found.is_dir() {
            let folder = real.parent().unwrap_or(&real);
            return self.add_file(path, &[project, folder].map(Path::to_owned).into());
        }
        // The number of files and findings so far.
        let size = |this: &Self| this.unread.len() + this.files.len() + this.findings.len();
        let before = size(self);
        self.add_folder(path, &[project.to_owned(), real].into())?;
        if size(self) == before {
            self.findings.push(mistakes::empty_schema(&slash_path(path)));
        }
        Ok(())
    }

    fn add_folder(&mut self, path: &Path, within: &Arc<[PathBuf]>) -> Result<(), IoError> {
        for (path, kind) in tree::entries(path)? {
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
                continue;
            }
            // `A.YAML` is read, too: skipping it silently would hide its schemas.
            let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
            if kind.is_dir() {
                self.add_folder(&path, within)?;
            } else if extension == "yaml" || extension == "yml" {
                self.add_file(&path, within)?;
            } else if kind.is_symlink() && path.is_dir() {
                // A linked folder could contain itself, and skipping it silently would hide its schemas.
                self.set_aside(&path, Unreadable::LinkedFolder);
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, within: &Arc<[PathBuf]>) -> Result<(), IoError> {
        if path.to_str().is_none() {
            let message = "its path is not UTF-8; rename it";
            return Err(IoError::on("read", path)(io::Error::other(message)));
        }
        let found = metadata(path).map_err(IoError::on("read", path))?;
        if !found.is_file() {
            self.set_aside(path, Unreadable::NotAFile);
        } else if found.len() > MAX_FILE_BYTES {
            self.set_aside(path, Unreadable::TooLarge);
        } else if self.bytes.saturating_add(found.len()) > MAX_TOTAL_BYTES {
            self.set_aside(path, Unreadable::TooMuch);
        } else {
            self.bytes += found.len();
            self.unread.push(Unread { path: path.to_owned(), within: Arc::clone(within) });
        }
        Ok(())
    }

    fn set_aside(&mut self, path: &Path, reason: Unreadable) {
        self.files.insert(slash_path(path), (String::new(), Some(reason)));
    }
}

/// Reads a file. If it is not UTF-8, keeps the text before the invalid byte, to show where that is.
fn read(file: &Unread) -> Result<(String, Option<Unreadable>), IoError> {
    let path = &file.path;
    let mut bytes = Vec::new();
    let unreadable = match open_within(path, &file.within).map_err(IoError::on("read", path))? {
        Opened::Outside => Some(Unreadable::LinkedOut),
        Opened::Special => Some(Unreadable::NotAFile),
        Opened::File(file) => {
            let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
            read.map_err(IoError::on("read", path))?;
            // The file has grown since its size was checked.
            (bytes.len() as u64 > MAX_FILE_BYTES).then_some(Unreadable::TooLarge)
        }
    };
    if unreadable.is_some() {
        return Ok((String::new(), unreadable));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(&error.as_bytes()[..offset]).into_owned();
            (before, Some(Unreadable::NotUtf8 { offset }))
        }
    })
}
