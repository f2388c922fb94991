//! `cargo xtask registry`: packages the published crates and lays them out in `target/registry`, beside all crates that they
//! depend on, as a directory source of cargo. A folder with its `config.toml` needs neither this repository nor a network.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest as _, Sha256};

use crate::End;
use crate::command::Invocation;
use crate::sbom::published;
use crate::tool::target;

/// All published crates have the version of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run() -> End {
    match lay_out() {
        Ok(folder) => {
            println!(
                "registry: cargo uses it where {} lies in a folder `.cargo` above, or in $CARGO_HOME",
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

/// Returns the folder with the registry: `crates`, and a `config.toml` that makes cargo take every crate from there.
pub(crate) fn lay_out() -> Result<PathBuf, String> {
    let folder = std::path::absolute(target().join("registry")).map_err(told("target"))?;
    let crates = folder.join("crates");
    // Crates of others that are there already are not copied again.
    let vendor = Invocation::cargo(&["vendor", "--quiet", "--locked", "--versioned-dirs"]);
    succeed(&vendor.with(&[crates.display().to_string()]))?;

    let names = names().map_err(told("the manifests of crates/"))?;
    // What is not committed is packaged too, so that a change can be tried.
    let package = Invocation::cargo(&["package", "--quiet", "--no-verify", "--allow-dirty"]);
    let chosen: Vec<String> =
        names.iter().flat_map(|name| ["--package".to_owned(), name.clone()]).collect();
    succeed(&package.with(&chosen))?;
    for name in &names {
        let package = target().join("package").join(format!("{name}-{VERSION}.crate"));
        unpack(&package, &crates, &format!("{name}-{VERSION}"))?;
    }
    let config = config(&crates);
    fs::write(folder.join("config.toml"), config).map_err(told("target/registry"))?;
    Ok(folder)
}

fn config(crates: &Path) -> String {
    // A literal string of TOML: nothing in a path is an escape.
    format!(
        "[net]\noffline = true\n\n[source.crates-io]\nreplace-with = \"toolwright\"\n\n[source.toolwright]\ndirectory = '{}'\n",
        crates.display()
    )
}

/// Unpacks a package below a folder, with the checksum that lock files compare.
fn unpack(package: &Path, crates: &Path, name: &str) -> Result<(), String> {
    let folder = crates.join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(told(name))?;
    }
    let [from, to] = [package, crates].map(|path| path.display().to_string());
    succeed(&Invocation::program("tar", "tar", &["-xzf", &from, "-C", &to]))?;
    let bytes = fs::read(package).map_err(told(name))?;
    let mut sum = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(sum, "{byte:02x}");
    }
    // Cargo looks at the sums of files only where they are listed.
    let checksum = format!("{{\"files\":{{}},\"package\":\"{sum}\"}}");
    fs::write(folder.join(".cargo-checksum.json"), checksum).map_err(told(name))
}

/// The published crates of the workspace, by the folders that hold them.
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
        Ok(false) => Err(format!("`{invocation}` failed; what it said stands above")),
        Err(error) => Err(format!("`{invocation}` did not start: {error}")),
    }
}

fn told(what: &str) -> impl Fn(io::Error) -> String {
    let what = what.to_owned();
    move |error| format!("cannot lay out the registry: {what}: {error}")
}
