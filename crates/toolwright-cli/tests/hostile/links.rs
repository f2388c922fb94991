//! Symlinks in a malicious project: no file is shown or written through a link that leaves the project.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::child::{Ended, Limits, toolwright};
use crate::project::{generator, schema, shell, tree};

const LIMITS: Limits = Limits { cpu_seconds: 20, megabytes: 1024 };

/// The text of the file outside of the project.
const SECRET: &str = "s3cret:x:0\n";

const LIST: &str = r#"{"tools": [{"name": "now", "description": "Tells the time.", "inputSchema": {"type": "object"}}]}"#;

const IMPORT: &[&str] =
    &["import", "mcp", "--toolset", "t", "--service", "a", "--tools-json", "list.json", "-o"];

const API: &str = r#"{"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {"/now": {"get":
    {"operationId": "now", "responses": {"204": {"description": "Nothing."}}}}}}"#;

/// The path of a link and the command that finds it. The link leads to a file or folder `secret` outside of the project.
type Case = (&'static str, &'static str, fn(&str) -> Vec<&str>);

const CASES: &[Case] = &[
    ("toolwright.toml", "secret.toml", |_| vec!["gen"]),
    ("toolwright.toml", "secret.toml", |_| vec!["check", "--format", "json"]),
    ("schema/secret.yaml", "secret.yaml", |_| vec!["gen"]),
    ("schema/secret.yaml", "secret.yaml", |_| vec!["check", "--format", "github"]),
    ("schema", "folder", |_| vec!["check"]),
    ("named.yaml", "secret.yaml", |path| vec!["check", path]),
    ("out.yaml", "secret.yaml", |path| [IMPORT, &[path]].concat()),
    ("out.yaml", "secret.yaml", |path| [IMPORT, &[path, "--force"]].concat()),
    ("out.yaml", "secret.yaml", |path| [IMPORT, &[path, "--check"]].concat()),
    ("out.yaml", "secret.yaml", |path| {
        vec!["import", "openapi", "api.json", "--service", "a", "--force", "-o", path]
    }),
    ("out.yaml", "nothing.yaml", |path| [IMPORT, &[path]].concat()),
    ("folder", "folder", |_| [IMPORT, &["folder/new.yaml"]].concat()),
];

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("list.json"), LIST).unwrap();
    fs::write(folder.path().join("api.json"), API).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Ended {
    toolwright(folder, arguments, LIMITS)
}

#[test]
fn no_link_out_of_a_project_is_read_or_written_through() {
    for (path, target, command) in CASES {
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir(elsewhere.path().join("folder")).unwrap();
        for file in ["secret.yaml", "secret.toml", "folder/secret.yaml"] {
            fs::write(elsewhere.path().join(file), SECRET).unwrap();
        }
        let before = tree(elsewhere.path());
        let folder = project();
        if *path != "schema" {
            fs::create_dir(folder.path().join("schema")).unwrap();
        }
        symlink(elsewhere.path().join(target), folder.path().join(path)).unwrap();
        let arguments = command(path);
        let ended = run(folder.path(), &arguments);
        assert!(matches!(ended.status.code(), Some(1 | 3)), "{arguments:?}: {}", ended.printed);
        assert!(ended.printed.contains("symlink"), "{arguments:?}: {}", ended.printed);
        assert!(!ended.printed.contains("s3cret"), "{arguments:?}: {}", ended.printed);
        assert_eq!(tree(elsewhere.path()), before, "{arguments:?}");
    }
}

#[test]
fn a_file_of_dialects_outside_of_the_project_is_not_read() {
    for (file, link, expected) in [
        ("house.toml", Some(("house.toml", "secret.toml")), "a symlink leads out of the project"),
        ("house/secret.toml", Some(("house", ".")), "a symlink leads out of the project"),
        ("../secret.toml", None, "expected a path in the project, without `..`"),
        ("/etc/passwd", None, "expected a path in the project, without `..`"),
    ] {
        for command in ["gen", "check"] {
            let elsewhere = tempfile::tempdir().unwrap();
            fs::write(elsewhere.path().join("secret.toml"), "s3cret = 1\n").unwrap();
            let folder = elsewhere.path().join("project");
            fs::create_dir_all(folder.join("schema")).unwrap();
            let config = format!("[dialects]\ntargets = [\"anthropic\"]\nfiles = [\"{file}\"]\n");
            fs::write(folder.join("toolwright.toml"), config).unwrap();
            if let Some((path, target)) = link {
                symlink(elsewhere.path().join(target), folder.join(path)).unwrap();
            }
            let ended = run(&folder, &[command]);
            assert!(ended.printed.contains(expected), "{command} {file}: {}", ended.printed);
            assert!(!ended.printed.contains("s3cret"), "{command} {file}: {}", ended.printed);
        }
    }
}

#[test]
fn a_link_inside_a_project_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("schema")).unwrap();
    fs::write(folder.path().join("shared"), schema(1, "word")).unwrap();
    symlink("../shared", folder.path().join("schema/a.yaml")).unwrap();
    let generated = generator(folder.path(), "schema").output().unwrap();
    assert!(generated.status.success());
    assert!(folder.path().join("gen/a/tools/t/Cargo.toml").is_file());
}

/// An attacker who can write to the folder, but not to the file, guesses the name of the temporary file, which once had the
/// process id, and puts links there.
#[test]
fn an_import_does_not_write_through_links_beside_its_file() {
    let folder = project();
    fs::write(folder.path().join("victim"), SECRET).unwrap();
    let plant = "i=0; while [ $i -lt 2000 ]; do ln -s victim .time.yaml.$(($$ + i)).toolwright-new; i=$((i+1)); done
        exec \"$0\" import mcp --toolset t --service a --tools-json list.json -o time.yaml";
    let ended = shell(folder.path(), plant).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(fs::read_to_string(folder.path().join("victim")).unwrap(), SECRET);
    let written = folder.path().join("time.yaml");
    assert!(fs::symlink_metadata(&written).unwrap().is_file());
    assert!(fs::read_to_string(written).unwrap().contains("now:"));
}

#[test]
fn an_import_does_not_open_pipes_or_devices() {
    let folder = project();
    assert!(shell(folder.path(), "mkfifo pipe").status().unwrap().success());
    for out in ["pipe", "/dev/null"] {
        let ended = run(folder.path(), &[IMPORT, &[out]].concat());
        assert_eq!(ended.status.code(), Some(3), "{out}: {} {}", ended.how(), ended.printed);
        assert!(ended.printed.contains("not a regular file"), "{out}: {}", ended.printed);
    }
}
