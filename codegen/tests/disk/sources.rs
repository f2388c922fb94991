//! Tests of reading schema files, and of the findings about files that cannot be read.

use std::path::{Path, PathBuf};

use toolwright_codegen::disk::{ReadSources, read_sources, read_text};
use toolwright_codegen::project::Project;

use crate::folder::Folder;

fn read(folder: &Folder, paths: &[&str]) -> (Vec<String>, Vec<String>) {
    let paths: Vec<PathBuf> = paths.iter().map(|path| folder.path(path)).collect();
    let root = folder.path("").to_string_lossy().into_owned();
    let ReadSources { sources, findings } =
        read_sources(&folder.path(""), &paths).expect("the system reads the files");
    let readable = sources.readable().map(|(_, source)| source.path.replace(&root, ""));
    let found = findings.iter().map(|finding| {
        let file = finding.span.map(|span| sources.get(span.source).path.replace(&root, ""));
        format!("{} {}", finding.code, file.unwrap_or_default()).trim_end().to_owned()
    });
    (readable.collect(), found.collect())
}

#[test]
fn schemas_are_read_at_any_depth_in_path_order() {
    let folder = Folder::new(&[
        ("s/b.yaml", ""),
        ("s/a/z.yml", ""),
        ("s/a.yaml", ""),
        ("s/B.YAML", ""),
        ("s/notes.md", ""),
        ("s/.#a.yaml", ""),
        ("s/.git/x.yaml", ""),
        ("t.txt", ""),
    ]);
    assert_eq!(read(&folder, &["s"]).0, ["s/B.YAML", "s/a.yaml", "s/a/z.yml", "s/b.yaml"]);
    assert_eq!(read(&folder, &["t.txt", "s/a.yaml", "s/./a.yaml"]).0, ["s/a.yaml", "t.txt"]);
}

#[test]
fn all_unreadable_paths_are_reported_in_one_run() {
    let folder = Folder::new(&[("empty/notes.md", ""), ("bad/ok.yaml", "")]);
    folder.put("bad/latin.yaml", b"name: caf\xe9\n");
    let (readable, found) = read(&folder, &["nowhere", "empty", "bad"]);
    assert_eq!(found, ["missing-schema", "empty-schema", "not-utf8 bad/latin.yaml"]);
    assert_eq!(readable, ["bad/ok.yaml"]);
}

#[cfg(unix)]
#[test]
fn a_linked_folder_is_reported_and_not_followed() {
    let folder = Folder::new(&[("s/a.yaml", "")]);
    std::os::unix::fs::symlink(".", folder.path("s/loop")).unwrap();
    assert_eq!(read(&folder, &["s"]).1, ["linked-folder s/loop"]);
}

/// Messages show text of the files, so a project must not be able to choose files outside of it.
#[cfg(unix)]
#[test]
fn a_link_is_followed_only_inside_the_project() {
    let elsewhere = Folder::new(&[("secret.yaml", "s3cret"), ("folder/secret.yaml", "s3cret")]);
    for (link, target, read_path, found_there) in [
        ("s/a.yaml", "../t/a.yaml", "s", ""),
        ("s/a.yaml", "b.yaml", "s", ""),
        ("s/a.yaml", "secret.yaml", "s", "linked-out s/a.yaml"),
        ("a.yaml", "secret.yaml", "a.yaml", "linked-out a.yaml"),
        ("linked", "folder", "linked", "linked-out linked"),
    ] {
        let folder = Folder::new(&[("t/a.yaml", "a"), ("s/b.yaml", "b")]);
        let outside = elsewhere.path(target);
        let target = if outside.exists() { outside } else { target.into() };
        std::os::unix::fs::symlink(target, folder.path(link)).unwrap();
        let (readable, found) = read(&folder, &[read_path]);
        assert_eq!(found.join(""), found_there, "{link}");
        assert_eq!(readable.contains(&link.to_owned()), found_there.is_empty(), "{link}");
    }
}

/// Somebody may exchange a file for a link, or a folder, while it is read.
#[cfg(unix)]
#[test]
fn a_file_that_is_exchanged_for_a_link_out_of_the_project_is_not_read() {
    use std::fs::{rename, write};
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    let elsewhere = Folder::new(&[("a.yaml", "s3cret")]);
    for exchanged in ["s/a.yaml", "toolwright.toml", "s", "s/deep"] {
        let folder = Folder::new(&[("s/a.yaml", "a"), ("s/deep/a.yaml", "a")]);
        let (place, other) = (folder.path(exchanged), folder.path("other"));
        let target = elsewhere.path(if place.is_dir() { "" } else { "a.yaml" });
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    if place.is_dir() {
                        rename(&place, &other).unwrap();
                        symlink(&target, &place).unwrap();
                        std::fs::remove_file(&place).unwrap();
                        rename(&other, &place).unwrap();
                    } else {
                        symlink(&target, &other).unwrap();
                        rename(&other, &place).unwrap();
                        write(&other, "").unwrap();
                        rename(&other, &place).unwrap();
                    }
                }
            });
            for _ in 0..2_000 {
                let read = read_sources(&folder.path(""), &[folder.path("s")]);
                let project = Project::open(&folder.path(""));
                let found = format!("{read:?} {:?}", project.err());
                is_over.store(found.contains("s3cret"), Relaxed);
                assert!(!is_over.load(Relaxed), "{exchanged}: {found}");
            }
            is_over.store(true, Relaxed);
        });
    }
}

#[cfg(unix)]
#[test]
fn an_endless_text_is_rejected_after_64_mebibytes() {
    let error = read_text(Path::new("/dev/zero")).expect_err("the device is endless");
    let expected = "cannot read /dev/zero: found more than 64 MiB, expected a shorter text";
    assert_eq!(error.to_string(), expected);
}

#[cfg(unix)]
#[test]
fn a_text_may_come_through_a_pipe() {
    let folder = Folder::new(&[]);
    let pipe = folder.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, "text")
    });
    assert_eq!(read_text(&pipe).expect("the pipe is read").as_deref(), Some("text"));
    writer.join().expect("the thread does not panic").expect("the pipe is written");
}
