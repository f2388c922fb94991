//! Which schema files are read, and what is said of those that cannot be.

use std::path::PathBuf;

use toolwright_codegen::disk::{ReadError, read_sources};

use crate::folder::Folder;

fn read(folder: &Folder, paths: &[&str]) -> Result<Vec<String>, Vec<&'static str>> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| folder.path(path)).collect();
    let root = folder.path("").to_string_lossy().into_owned();
    match read_sources(&paths) {
        Ok(sources) => {
            Ok(sources.iter().map(|(_, source)| source.path.replace(&root, "")).collect())
        }
        Err(ReadError::Rejected(findings)) => {
            Err(findings.iter().map(|finding| finding.code).collect())
        }
        Err(ReadError::Io(failure)) => panic!("{failure}"),
    }
}

#[test]
fn schemas_are_read_at_any_depth_in_path_order() {
    let folder = Folder::new(&[
        ("s/b.yaml", ""),
        ("s/a/z.yml", ""),
        ("s/a.yaml", ""),
        ("s/notes.md", ""),
        ("s/.#a.yaml", ""),
        ("s/.git/x.yaml", ""),
        ("t.txt", ""),
    ]);
    assert_eq!(read(&folder, &["s"]).unwrap(), ["s/a.yaml", "s/a/z.yml", "s/b.yaml"]);
    assert_eq!(read(&folder, &["t.txt", "s/a.yaml", "s/./a.yaml"]).unwrap(), ["s/a.yaml", "t.txt"]);
}

#[test]
fn every_unreadable_path_is_reported_in_one_run() {
    let folder = Folder::new(&[("empty/notes.md", ""), ("bad/ok.yaml", "")]);
    folder.put("bad/latin.yaml", b"name: caf\xe9\n");
    let codes = read(&folder, &["nowhere", "empty", "bad"]).unwrap_err();
    assert_eq!(codes, ["missing-schema", "empty-schema", "not-utf8"]);
}

#[cfg(unix)]
#[test]
fn a_linked_folder_is_named_and_not_followed() {
    let folder = Folder::new(&[("s/a.yaml", "")]);
    std::os::unix::fs::symlink(".", folder.path("s/loop")).unwrap();
    assert_eq!(read(&folder, &["s"]).unwrap_err(), ["linked-folder"]);
}
