//! `cargo xtask registry`: packages the published crates and all their dependencies into `target/registry`, as a directory
//! source of cargo. With its `config.toml`, cargo needs neither this repository nor a network.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest as _, Sha256};

use crate::End;
use crate::command::Invocation;
use crate::sbom::published;
use crate::tool::target;

/// The version of the workspace, which all published crates have.
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run() -> End {
    match create() {
        Ok(folder) => {
            println!(
                "registry: to use it, copy {} to a folder `.cargo` above your project, or to $CARGO_HOME",
                folder.join("config.toml").display()
            );
            End::Done
        }
        Err(error) => {
            eprintln!("error: {error}");
            End::Failed
        }
    }
}

/// Creates the registry. Returns its folder, with `crates` and a `config.toml` that makes cargo take every crate from there.
pub(crate) fn create() -> Result<PathBuf, String> {
    let folder = std::path::absolute(target().join("registry")).map_err(context("target"))?;
    let crates = folder.join("crates");
    // Third-party crates that are already there are not copied again.
    let vendor = Invocation::cargo(&["vendor", "--quiet", "--locked", "--versioned-dirs"]);
    succeed(&vendor.with(&[crates.display().to_string()]))?;

    let names = names().map_err(context("the manifests of crates/"))?;
    // Uncommitted changes are packaged too, so that they can be tried.
    let package = Invocation::cargo(&["package", "--quiet", "--no-verify", "--allow-dirty"]);
    let chosen: Vec<String> =
        names.iter().flat_map(|name| ["--package".to_owned(), name.clone()]).collect();
    succeed(&package.with(&chosen))?;
    for name in &names {
        let package = target().join("package").join(format!("{name}-{VERSION}.crate"));
        unpack(&package, &crates, &format!("{name}-{VERSION}"))?;
    }
    let config = config(&crates);
    fs::write(folder.join("config.toml"), config).map_err(context("target/registry"))?;
    Ok(folder)
}

fn config(crates: &Path) -> String {
    // The path is a literal string of TOML, which has no escapes.
    format!(
        "[net]\noffline = true\n\n[source.crates-io]\nreplace-with = \"toolwright\"\n\n[source.toolwright]\ndirectory = '{}'\n",
        crates.display()
    )
}

/// Unpacks a package into a folder, and writes the checksum that cargo compares with lock files.
fn unpack(package: &Path, crates: &Path, name: &str) -> Result<(), String> {
    let folder = crates.join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(context(name))?;
    }
    let [from, to] = [package, crates].map(|path| path.display().to_string());
    succeed(&Invocation::program("tar", "tar", &["-xzf", &from, "-C", &to]))?;
    let bytes = fs::read(package).map_err(context(name))?;
    let mut sum = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(sum, "{byte:02x}");
    }
    // Cargo only checks the checksums of files that are listed.
    let checksum = format!("{{\"files\":{{}},\"package\":\"{sum}\"}}");
    fs::write(folder.join(".cargo-checksum.json"), checksum).map_err(context(name))
}

/// The names of the published crates of the workspace.
fn names() -> io::Result<Vec<String>> {
    let mut folders = vec![PathBuf::from("codegen")];
    for entry in fs::read_dir("crates")? {
        folders.push(entry?.path());
    }
    folders.sort();
    let mut names = Vec::new();
    for folder in folders {
        let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
        names.extend(published(&manifest).map(str::to_owned));
    }
    Ok(names)
}

fn succeed(invocation: &Invocation) -> Result<(), String> {
    println!("\n== {invocation}");
    match invocation.succeeds() {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("`{invocation}` failed; see its output above")),
        Err(error) => Err(format!("`{invocation}` did not start: {error}")),
    }
}

fn context(what: &str) -> impl Fn(io::Error) -> String {
    let what = what.to_owned();
    move |error| format!("cannot create the registry: {what}: {error}")
}
