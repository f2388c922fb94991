//! Writes workspaces to disk, compiles them and measures the time.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::shapes::tools;

/// A file of a workspace.
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

/// A workspace to compare.
pub(super) struct Candidate {
    pub(super) name: &'static str,
    /// The package with the types.
    pub(super) library: &'static str,
    pub(super) files: Vec<File>,
}

/// A workspace on disk.
pub(super) struct Workspace {
    folder: PathBuf,
    pub(super) library: &'static str,
}

/// Returns the arguments that select packages.
pub(super) fn named(packages: &[&'static str]) -> impl Iterator<Item = &'static str> {
    packages.iter().flat_map(|package| ["--package", *package])
}

/// Returns the release profile for a manifest.
pub(super) fn release_profile() -> &'static str {
    "[profile.release]\nstrip = true\n"
}

/// Returns a `main` that calls `round` with the arguments and the result type of every tool.
pub(super) fn calls_of_every_root() -> String {
    let mut calls = String::new();
    for root in tools().into_iter().flat_map(|tool| [tool.args, tool.result]) {
        for part in ["    size += round::<", &root, ">(&json);\n"] {
            calls.push_str(part);
        }
    }
    format!(
        "fn main() {{\n    let json: Vec<u8> = std::env::args().skip(1).collect::<String>().into_bytes();\n    \
         let mut size = 0;\n{calls}    println!(\"{{size}}\");\n}}\n"
    )
}

impl Workspace {
    /// Writes a workspace into a new folder, with the lock file `lock`.
    pub(super) fn write(parent: &Path, candidate: Candidate, lock: &Path) -> io::Result<Self> {
        let folder = parent.join(candidate.name);
        for File { path, text } in candidate.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            fs::write(path, text)?;
        }
        fs::copy(lock, folder.join("Cargo.lock"))?;
        Ok(Self { folder, library: candidate.library })
    }

    /// Runs cargo; returns the processor time of cargo and all compilers in seconds.
    pub(super) fn cargo(&self, arguments: &[&str]) -> io::Result<f64> {
        let before = children_seconds()?;
        let status = self.command(arguments).status()?;
        if !status.success() {
            let command = format!("`cargo {}`", arguments.join(" "));
            return Err(io::Error::other(format!("{command} in {} failed", self.folder.display())));
        }
        Ok(children_seconds()? - before)
    }

    /// Compiles the package and all its dependencies from scratch; returns the processor time in seconds.
    pub(super) fn compile_cold(&self) -> io::Result<f64> {
        let seconds = self.cargo(&["build"])?;
        fs::remove_dir_all(self.folder.join("target"))?;
        Ok(seconds)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args(arguments)
            .args(["--quiet", "--offline"])
            .current_dir(&self.folder)
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env_remove("RUSTFLAGS")
            .stdin(Stdio::null());
        command
    }

    /// Returns the number of other packages that a build of this one compiles.
    pub(super) fn count_of_dependencies(&self) -> io::Result<f64> {
        let tree = ["tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
        let output = self.command(&tree).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(io::Error::other("`cargo tree` failed"));
        }
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        // The text in parentheses is the source of a package, or marks a package that was listed before.
        let packages: BTreeSet<&str> =
            listed.lines().filter_map(|line| line.split(" (").next()).collect();
        Ok(f64::from(u32::try_from(packages.len().saturating_sub(1)).unwrap_or(u32::MAX)))
    }

    /// Removes the compiled artifacts of these packages, so that they are compiled again; those of dependencies stay.
    pub(super) fn clean(&self, packages: &[&'static str]) -> io::Result<()> {
        for profile in ["dev", "release"] {
            let mut arguments = vec!["clean", "--profile", profile];
            arguments.extend(named(packages));
            self.cargo(&arguments)?;
        }
        Ok(())
    }

    /// Returns the size of the release binary in bytes.
    pub(super) fn binary_size(&self) -> io::Result<u64> {
        Ok(fs::metadata(self.folder.join("target/release/program"))?.len())
    }
}

/// Returns the user and system time in seconds of all child processes that have ended, and of their children.
///
/// It is in `/proc/self/stat` (proc(5)), fields 16 and 17, in ticks of a hundredth of a second.
fn children_seconds() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field is the program's name in parentheses, which may contain any characters.
    let fields = stat.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
    let ticks: u32 =
        fields.split(' ').skip(13).take(2).filter_map(|ticks| ticks.parse::<u32>().ok()).sum();
    Ok(f64::from(ticks) / 100.0)
}
