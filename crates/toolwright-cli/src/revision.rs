//! Reads files of a revision of a git repository. Nothing of the checkout is run: no program that its configuration names, and no
//! transport that would fetch what is missing.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The longest listing of a tree in MiB.
const MAX_LISTING_MIB: u32 = 64;

/// A commit.
pub(crate) struct Revision<'a> {
    folder: &'a Path,
    commit: String,
}

/// A file of a revision.
pub(crate) struct Entry {
    /// Its path below the folder.
    pub(crate) path: String,
    object: String,
}

impl<'a> Revision<'a> {
    /// Finds a revision in the repository of a folder. Returns `None` if there is none.
    ///
    /// # Errors
    ///
    /// If git cannot be run.
    pub(crate) fn find(folder: &'a Path, name: &str) -> io::Result<Option<Self>> {
        // The index is not a revision, and git runs a program of the configuration when it reads it.
        if name.starts_with(':') {
            return Ok(None);
        }
        let name = format!("{name}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        let commit = read(git(folder).args(arguments), 1)?;
        Ok(commit.map(|commit| Self { folder, commit: commit.trim().to_owned() }))
    }

    /// Returns the files of a folder and of those below it.
    ///
    /// # Errors
    ///
    /// If git cannot be run or the list is too long.
    pub(crate) fn files(&self, folder: &str) -> io::Result<Vec<Entry>> {
        let folder = if folder.is_empty() { "." } else { folder };
        let arguments = ["ls-tree", "-r", "-z", &self.commit, "--", folder];
        // A clone may lack parts of a tree.
        let listed = read(git(self.folder).args(arguments), MAX_LISTING_MIB)?
            .ok_or_else(|| io::Error::other("the revision is not complete in this repository"))?;
        let entry = |line: &str| {
            let (about, path) = line.split_once('\t')?;
            let (path, object) = (path.to_owned(), about.split(' ').nth(2)?.to_owned());
            Some(Entry { path, object })
        };
        Ok(listed.split('\0').filter_map(entry).collect())
    }

    /// Starts to read objects.
    ///
    /// # Errors
    ///
    /// If git cannot be run.
    pub(crate) fn reader(&self) -> io::Result<Reader> {
        let mut command = git(self.folder);
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped());
        let mut process = command.spawn()?;
        let pipes = (process.stdin.take(), process.stdout.take());
        let (Some(requests), Some(answers)) = pipes else {
            return Err(io::Error::other("git has no pipes"));
        };
        Ok(Reader { process, requests, answers: BufReader::new(answers) })
    }
}

/// Reads objects, with one process for all of them.
pub(crate) struct Reader {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Reader {
    /// Reads a listed file.
    ///
    /// # Errors
    ///
    /// If git fails, or the file is missing, no file, longer than that or not UTF-8.
    pub(crate) fn read(&mut self, entry: &Entry, max_mib: u32) -> io::Result<String> {
        writeln!(self.requests, "{}", entry.object)?;
        self.requests.flush()?;
        let mut about = String::new();
        self.answers.by_ref().take(4096).read_line(&mut about)?;
        let words: Vec<&str> = about.split_whitespace().collect();
        let [_, "blob", size] = words.as_slice() else {
            let path = &entry.path;
            let message = format!("{path} is missing in this repository, or is not a file");
            return Err(io::Error::other(message));
        };
        let size = size.parse::<u64>().map_err(io::Error::other)?;
        let text = toolwright::untrusted::read_text(self.answers.by_ref().take(size), max_mib)?;
        self.answers.by_ref().take(1).read_exact(&mut [0])?;
        Ok(text)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // It has nothing left to do; an error means that it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a command of git that trusts nothing in the folder: a folder that looks like a bare repository is none, because a checkout
/// may contain one with any configuration, and nothing is fetched.
fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false", "-C"])
        .arg(folder)
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_NO_LAZY_FETCH", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Runs a command and returns what it prints; `None` if it fails.
fn read(command: &mut Command, max_mib: u32) -> io::Result<Option<String>> {
    let mut process = command.spawn()?;
    let output =
        process.stdout.take().map(|output| toolwright::untrusted::read_text(output, max_mib));
    if matches!(output, Some(Err(_))) {
        // It may still be printing; an error means that it has ended.
        let _ = process.kill();
    }
    let status = process.wait()?;
    match output {
        Some(Err(error)) => Err(error),
        Some(Ok(text)) if status.success() => Ok(Some(text)),
        _ => Ok(None),
    }
}
