//! `cargo xtask msrv`: compiles the contract and generated crates with their minimum supported Rust version.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::End;
use crate::command::Invocation;
use crate::tool::target;

/// The features of the contract that compile with that version. The crates behind `time` and `uuid` need a newer Rust.
const FEATURES: &str = "toolwright/patterns,toolwright/chrono,toolwright/jiff";

pub(crate) fn run(rustc: Option<PathBuf>) -> End {
    match check(rustc) {
        Ok(check) => {
            println!("== {check}");
            check.run()
        }
        Err(reason) => {
            println!("skipped: {reason}");
            End::Done
        }
    }
}

/// Returns the cargo command that compiles the contract and generated crates with their minimum supported Rust version. The
/// compiler is `rustc`, or that of rustup.
///
/// # Errors
///
/// Returns the reason if there is no compiler of that version.
pub(crate) fn check(rustc: Option<PathBuf>) -> Result<Invocation, String> {
    let contract = read(Path::new("crates/toolwright/Cargo.toml"));
    let line = contract.lines().find(|line| line.starts_with("rust-version = "));
    let line = line.ok_or("the manifest of `toolwright` has no `rust-version`")?;
    let version = line.trim_start_matches("rust-version = ").trim_matches('"');
    let rustc = rustc.or_else(|| installed(version)).ok_or_else(|| {
        format!(
            "rustup has no Rust {version}, the minimum version of `toolwright` and generated crates; install it with \
             `rustup toolchain install {version} --profile minimal`"
        )
    })?;
    let found = output_of(&rustc, &["--version"]).unwrap_or_default();
    if !found.starts_with(&format!("rustc {version}.")) {
        return Err(format!("{} is `{}`, expected Rust {version}", rustc.display(), found.trim()));
    }
    let mut packages = vec!["toolwright".to_owned()];
    collect(Path::new("gen"), line, &mut packages);
    let chosen: Vec<_> =
        packages.into_iter().flat_map(|name| ["--package".to_owned(), name]).collect();
    // In its own folder; otherwise cargo would compile everything again each time the compiler changes.
    let folder = target().join("msrv").display().to_string();
    let check =
        Invocation::cargo(&["check", "--locked", "--features", FEATURES, "--target-dir", &folder]);
    Ok(check.with(&chosen).in_environment("RUSTC", rustc))
}

/// Adds the packages below a folder whose manifests have this line.
fn collect(folder: &Path, line: &str, packages: &mut Vec<String>) {
    let manifest = read(&folder.join("Cargo.toml"));
    if manifest.lines().any(|found| found == line) {
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = "));
        packages.extend(name.map(|name| name.trim_matches('"').to_owned()));
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            collect(&entry.path(), line, packages);
        }
    }
}

fn installed(version: &str) -> Option<PathBuf> {
    let path = output_of(Path::new("rustup"), &["which", "--toolchain", version, "rustc"])?;
    Some(PathBuf::from(path.trim()))
}

fn output_of(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns a file's text, or an empty text if it cannot be read.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
