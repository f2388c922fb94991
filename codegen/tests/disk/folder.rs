//! A temporary folder that is filled from texts.

use std::fs;
use std::path::{Path, PathBuf};

use toolwright_codegen::Files;

pub(crate) struct Folder {
    temporary: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self { temporary: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            folder.put(path, text);
        }
        folder
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.temporary.path().join(path)
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Returns the paths of all files and folders below; those of folders end in `/`.
    pub(crate) fn list(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(self.temporary.path(), "", &mut found);
        found
    }
}

fn list(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            found.push(format!("{path}/"));
            list(&entry.path(), &format!("{path}/"), found);
        } else {
            found.push(path);
        }
    }
}

pub(crate) fn files(texts: &[(&str, &str)]) -> Files {
    let mut files = Files::default();
    for (path, text) in texts {
        files.add((*path).to_owned(), (*text).to_owned());
    }
    files
}
