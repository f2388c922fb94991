//! Tests that the committed `gen/` is up to date, and that `gen --check` reports changes in a copy of it.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use toolwright_codegen::disk::{Drift, Written};
use toolwright_codegen::project::{Change, Mode, Project};

/// A committed file of `gen/`, and one that does not exist.
const FILE: &str = "todos/tools/todos/src/specs.rs";
const STRAY: &str = "todos/tools/todos/src/notes.rs";

/// G32, first use: the generated examples are committed.
#[test]
fn the_committed_crates_are_what_the_schema_generates() {
    assert_eq!(drift(repository()), Drift::default(), "run `cargo xtask gen`");
}

#[test]
fn every_change_in_the_generated_crates_is_reported() {
    type Change = fn(&Path);
    let changes: [(&str, Change, Drift); 3] = [
        ("a byte edited", edit_a_byte, Drift { stale: vec![FILE.to_owned()], ..Drift::default() }),
        (
            "a file deleted",
            |crates| fs::remove_file(crates.join(FILE)).expect("the file is there"),
            Drift { missing: vec![FILE.to_owned()], ..Drift::default() },
        ),
        (
            "a file added",
            |crates| fs::write(crates.join(STRAY), "//! Mine.\n").expect("the folder is there"),
            Drift { orphaned: vec![STRAY.to_owned()], ..Drift::default() },
        ),
    ];
    for (what, change, expected) in changes {
        let project = copy_of_the_project();
        assert_eq!(drift(project.path()), Drift::default(), "before {what}");
        change(&project.path().join("gen"));
        assert_eq!(drift(project.path()), expected, "{what}");
    }
}

/// Generating restores edited files. Generating again changes nothing.
#[test]
fn generating_restores_edited_files_and_then_changes_nothing() {
    let project = copy_of_the_project();
    edit_a_byte(&project.path().join("gen"));
    assert_eq!(written(project.path()).written, [FILE]);
    let again = written(project.path());
    assert_eq!((again.written, again.removed), (Vec::new(), Vec::new()));
    let committed = fs::read(repository().join("gen").join(FILE)).expect("the file is there");
    assert_eq!(
        fs::read(project.path().join("gen").join(FILE)).expect("the file is there"),
        committed
    );
}

fn edit_a_byte(crates: &Path) {
    let path = crates.join(FILE);
    let text = fs::read_to_string(&path).expect("the file is there");
    fs::write(&path, text.replacen('.', ",", 1)).expect("the file can be written");
}

fn drift(project: &Path) -> Drift {
    match generate(project, Mode::Check) {
        Change::Drift(drift) => drift,
        Change::Written(written) => panic!("checking wrote {written:?}"),
    }
}

fn written(project: &Path) -> Written {
    match generate(project, Mode::Write) {
        Change::Written(written) => written,
        Change::Drift(drift) => panic!("writing only found {drift:?}"),
    }
}

fn generate(project: &Path, mode: Mode) -> Change {
    let generated = Project::open(project).and_then(|project| project.generate(mode));
    generated.expect("the schema is right").change
}

/// A copy of the schema, the configuration and the generated crates, with the same relative paths.
fn copy_of_the_project() -> TempDir {
    let copy = TempDir::new().expect("there is room for temporary files");
    for part in ["schema", "gen", "toolwright.toml"] {
        copy_tree(&repository().join(part), &copy.path().join(part));
    }
    copy
}

fn copy_tree(from: &Path, to: &Path) {
    if from.is_file() {
        fs::copy(from, to).expect("the file can be copied");
        return;
    }
    fs::create_dir(to).expect("the folder is new");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let path = entry.expect("an entry").path();
        copy_tree(&path, &to.join(path.file_name().expect("a name")));
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
