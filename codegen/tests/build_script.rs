//! A package with the build script of the README, built by cargo without features of the compiler. Other tests check what is
//! generated.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const CODEGEN: &str = env!("CARGO_MANIFEST_DIR");

/// A user's build script that also counts its runs in a file. If cargo watched other files than schemas, it would watch this
/// one, too.
const BUILD_SCRIPT: &str = r#"
use std::io::Write;

fn main() -> Result<(), toolwright_codegen::BuildError> {
    let mut runs = std::fs::OpenOptions::new().create(true).append(true).open("runs").unwrap();
    runs.write_all(b"x").unwrap();
    toolwright_codegen::build("schema")
}
"#;

const NOTES: &str = "toolwright: 1
service: desk
types: { Note: { type: string, maxLength: 9 } }
toolsets: { notes: { tools: { write_note: { description: Write it., result: Note } } } }
";

const CLOCK: &str = "toolwright: 1
service: clock
methods: { now: { result: { type: integer } } }
";

fn put(package: &Path, path: &str, text: &str) {
    let path = package.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn package() -> tempfile::TempDir {
    let package = tempfile::tempdir().unwrap();
    let manifest = format!(
        "[workspace]\n[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[build-dependencies]\n\
         toolwright-codegen = {{ path = {CODEGEN:?}, default-features = false }}\n"
    );
    put(package.path(), "Cargo.toml", &manifest);
    put(package.path(), "build.rs", BUILD_SCRIPT);
    put(package.path(), "src/lib.rs", "");
    put(package.path(), "schema/notes.yaml", NOTES);
    fs::copy(Path::new(CODEGEN).join("../Cargo.lock"), package.path().join("Cargo.lock")).unwrap();
    package
}

/// Builds the package; returns the output of cargo if that fails.
fn build(package: &Path) -> Result<(), String> {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet"])
        .current_dir(package)
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("build-script"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    if output.status.success() { Ok(()) } else { Err(printed) }
}

/// Returns the names of all crates that are compiled for the build script.
fn compiled(package: &Path) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .current_dir(package)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).unwrap();
    listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// Returns the number of runs of the build script.
fn runs(package: &Path) -> usize {
    fs::read(package.join("runs")).unwrap().len()
}

#[test]
fn a_build_script_compiles_no_library_that_it_does_not_need() {
    let package = package();
    let compiled = compiled(package.path());
    assert!(compiled.contains("saphyr-parser"), "{compiled:?}");
    for library in ["askama", "schemars", "serde", "sha2", "similar", "toml", "wildmatch"] {
        assert!(!compiled.contains(library), "{library} of {compiled:?}");
    }
}

/// A change to the package.
type Edit = fn(&Path);

/// Changes, each with the number of runs of the build script after it, including one run before all of them.
const EDITS: [(&str, Edit, usize); 7] = [
    ("nothing", |_| {}, 1),
    ("a file that is not a schema", |package| put(package, "README.md", "Notes."), 1),
    ("the package's code", |package| put(package, "src/lib.rs", "// Mine."), 1),
    ("a schema", |package| put(package, "schema/notes.yaml", &NOTES.replace('9', "8")), 2),
    ("a new schema", |package| put(package, "schema/time/clock.yaml", CLOCK), 3),
    (
        "its text",
        |package| put(package, "schema/time/clock.yaml", &CLOCK.replace("now", "then")),
        4,
    ),
    (
        "a removed schema",
        |package| fs::remove_file(package.join("schema/time/clock.yaml")).unwrap(),
        5,
    ),
];

/// This is one test, since each separate test would have to compile the package.
#[test]
fn a_build_script_runs_when_a_schema_changed_and_shows_its_mistakes() {
    let package = package();
    let package = package.path();
    build(package).unwrap();
    assert_eq!(runs(package), 1);
    for (what, edit, expected) in EDITS {
        edit(package);
        build(package).unwrap();
        assert_eq!(runs(package), expected, "{what}");
    }

    put(package, "schema/notes.yaml", &NOTES.replace("result: Note", "result: Nota"));
    // With a mistake in a schema, it runs in every build.
    for expected in [6, 7] {
        let printed = build(package).unwrap_err();
        assert_eq!(runs(package), expected);
        for line in [
            "error: user@0.1.0: schema/notes.yaml:4:77: no type is named `Nota`",
            "4 | toolsets: { notes: { tools: { write_note: { description: Write it., result: Nota } } } }",
            "the toolset schema has 1 error; see above",
        ] {
            assert!(printed.contains(line), "{printed}");
        }
    }
    put(package, "schema/notes.yaml", NOTES);
    build(package).unwrap();
    assert_eq!(runs(package), 8);
}
