//! A new project does what its own README says, in a folder that knows nothing of this repository.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const TOOLWRIGHT: &str = env!("CARGO_BIN_EXE_toolwright");

fn init(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(TOOLWRIGHT).arg("init").args(arguments).current_dir(folder).output().unwrap()
}

/// Runs a line of shell with `toolwright` on the path.
fn shell(folder: &Path, line: &str) -> Output {
    let here = Path::new(TOOLWRIGHT).parent().unwrap();
    let path = format!("{}:{}", here.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", path);
    // Cargo hands these to tests; a person's shell has none of them.
    command
        .env_remove("CARGO_MANIFEST_DIR")
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .unwrap()
}

/// The lines of the first code block.
fn commands(readme: &str) -> Vec<&str> {
    readme.split("```").nth(1).unwrap().lines().filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_two_commands_of_its_readme_generate_and_test() {
    let folder = tempfile::tempdir().unwrap();
    let started = init(folder.path(), &["demo"]);
    assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    let demo = folder.path().join("demo");
    let readme = fs::read_to_string(demo.join("README.md")).unwrap();
    assert_eq!(commands(&readme).len(), 2);
    for line in commands(&readme) {
        let output = shell(&demo, line);
        let text = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn a_folder_that_holds_something_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine"), "").unwrap();
    let output = init(folder.path(), &["."]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not empty"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_checkout_that_is_named_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let checkout = folder.path().join("odd \"name\"");
    fs::create_dir_all(checkout.join("crates/toolwright")).unwrap();
    fs::write(checkout.join("crates/toolwright/Cargo.toml"), "").unwrap();
    let output = init(folder.path(), &["demo", "--toolwright", "odd \"name\""]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let configuration = fs::read_to_string(folder.path().join("demo/toolwright.toml")).unwrap();
    assert!(configuration.contains("/odd \"name\"/crates/toolwright-mcp' }"), "{configuration}");
    let again = Command::new(TOOLWRIGHT)
        .args(["gen", "--check"])
        .current_dir(folder.path().join("demo"))
        .output();
    assert!(again.unwrap().status.success());
}
