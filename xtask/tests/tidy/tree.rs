//! Reads the text files of the repository.

use std::fs;
use std::path::Path;

/// Folders of the repository whose names begin with a dot.
const DOTTED: [&str; 2] = [".cargo", ".ci"];

/// A file: its path relative to the repository, with `/` as the separator, and its text.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// A file that exists only in a test.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns whether it is a Rust file.
    pub(crate) fn is_rust(&self) -> bool {
        self.has_ending(&["rs"])
    }

    /// Returns whether its extension is one of these.
    pub(crate) fn has_ending(&self, endings: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
    }

    /// Returns whether it is generated: it is in `gen/` or begins with the banner.
    pub(crate) fn is_generated(&self) -> bool {
        self.path.starts_with("gen/") || self.text.starts_with("// @generated")
    }

    /// Its lines with their numbers.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Its lines that are not comments, with their numbers.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The path of its folder; empty for the root.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Its name without the folder.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// All text files of the repository, except those of git and cargo.
pub(crate) fn repository() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    collect(&root, "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(files.iter().any(|file| file.path == "Cargo.lock"), "the repository was not found");
    files
}

/// Writes a file of the repository.
pub(crate) fn write(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::write(path, text).expect("the repository can be written");
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).expect("folders of the repository can be read").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        // Cargo marks its target folders with this file.
        if path.is_dir() && (is_ours(&name) && !path.join("CACHEDIR.TAG").exists()) {
            collect(&path, &format!("{prefix}{name}/"), files);
        } else if let Some(text) = text(&path) {
            files.push(File { path: format!("{prefix}{name}"), text });
        }
    }
}

fn is_ours(name: &str) -> bool {
    !name.starts_with('.') || DOTTED.contains(&name)
}

/// The text of a file; `None` for anything else, such as images and sockets.
fn text(path: &Path) -> Option<String> {
    if path.is_file() { fs::read_to_string(path).ok() } else { None }
}

/// The rest of a line after a word that has no letter, digit or `_` beside it.
pub(crate) fn word_in<'a>(line: &'a str, word: &'a str) -> Option<&'a str> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).find_map(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        (!before.ends_with(part) && !after.starts_with(part)).then_some(after)
    })
}

#[test]
fn only_whole_words_are_found() {
    assert_eq!(word_in("use std::fs;", "fs"), Some(";"));
    assert_eq!(word_in("offset + fs_word + refs", "fs"), None);
}
