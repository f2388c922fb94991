//! A workspace on disk that is compiled, and what compiling it costs. Knows nothing of what is in it.

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

/// One side of the comparison.
pub(super) struct Side {
    pub(super) name: &'static str,
    /// The package with the types.
    pub(super) library: &'static str,
    pub(super) files: Vec<File>,
}

/// A side that was written to disk.
pub(super) struct Workspace {
    folder: PathBuf,
    pub(super) library: &'static str,
}

/// The arguments that name packages to cargo.
pub(super) fn named(packages: &[&'static str]) -> impl Iterator<Item = &'static str> {
    packages.iter().flat_map(|package| ["--package", *package])
}

/// The part of a manifest that says how release binaries are made.
pub(super) fn release_profile() -> &'static str {
    "[profile.release]\nstrip = true\n"
}

/// A `main` that calls `round` with the type of every root.
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
    /// Writes a side into a folder of its own, with the dependencies that `lock` names.
    pub(super) fn write(parent: &Path, side: Side, lock: &Path) -> io::Result<Self> {
        let folder = parent.join(side.name);
        for File { path, text } in side.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            fs::write(path, text)?;
        }
        fs::copy(lock, folder.join("Cargo.lock"))?;
        Ok(Self { folder, library: side.library })
    }

    /// Runs cargo and returns the seconds of processor time it and all compilers took.
    pub(super) fn cargo(&self, arguments: &[&str]) -> io::Result<f64> {
        let before = children_seconds()?;
        let status = self.command(arguments).status()?;
        if !status.success() {
            let command = format!("`cargo {}`", arguments.join(" "));
            return Err(io::Error::other(format!("{command} in {} failed", self.folder.display())));
        }
        Ok(children_seconds()? - before)
    }

    /// Compiles everything that this package needs, with nothing compiled before.
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

    /// How many other packages a build of this one compiles.
    pub(super) fn count_of_dependencies(&self) -> io::Result<f64> {
        let tree = ["tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
        let output = self.command(&tree).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(io::Error::other("`cargo tree` failed"));
        }
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        // What stands in parentheses says where a package is from, and whether it was listed before.
        let packages: BTreeSet<&str> =
            listed.lines().filter_map(|line| line.split(" (").next()).collect();
        Ok(f64::from(u32::try_from(packages.len().saturating_sub(1)).unwrap_or(u32::MAX)))
    }

    /// Forgets what was compiled of these packages, so that they are compiled again; dependencies stay.
    pub(super) fn clean(&self, packages: &[&'static str]) -> io::Result<()> {
        for profile in ["dev", "release"] {
            let mut arguments = vec!["clean", "--profile", profile];
            arguments.extend(named(packages));
            self.cargo(&arguments)?;
        }
        Ok(())
    }

    /// The size of the release binary in bytes.
    pub(super) fn binary_size(&self) -> io::Result<u64> {
        Ok(fs::metadata(self.folder.join("target/release/program"))?.len())
    }
}

/// Processor time, user and system, of all child processes that have ended so far and of theirs.
///
/// From `/proc/self/stat` (proc(5)), fields 16 and 17, in ticks of a hundredth of a second.
fn children_seconds() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field is the program's name in parentheses, and may hold anything.
    let fields = stat.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
    let ticks: u32 =
        fields.split(' ').skip(13).take(2).filter_map(|ticks| ticks.parse::<u32>().ok()).sum();
    Ok(f64::from(ticks) / 100.0)
}
