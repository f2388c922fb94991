//! Prints the skips of tests and records them in a file for `cargo xtask ci`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::{env, thread};

/// The environment variable with the path of the file of skips. If it is not set, skips are only printed.
pub const RECORD: &str = "TOOLWRIGHT_SKIPPED";

/// A test that was skipped, or that skipped a part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skip {
    /// The reason.
    pub reason: String,
    /// The package of the test.
    pub package: String,
    /// The name of the test in its binary.
    pub test: String,
}

/// Records that the calling test is skipped, or skips a part, and why.
///
/// # Panics
///
/// Panics if the file of skips cannot be written, as the test would otherwise seem to pass.
pub fn skip(reason: &str) {
    let test = thread::current().name().unwrap_or("unnamed").to_owned();
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    // Written directly to standard error, as test harnesses hide the captured output of passing tests.
    let _ = writeln!(io::stderr(), "skipped: {test}: {reason}");
    if let Some(path) = env::var_os(RECORD) {
        let line = format!("{reason}\t{package}\t{test}\n");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        // One write for each line, so that the lines of several processes do not mix.
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }
}

/// Reads the skips of a file, each once, sorted by reason. There are none if the file does not exist.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or has a line that [`skip`] does not write.
pub fn read(path: &Path) -> io::Result<Vec<Skip>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let mut skips = text.lines().map(parse).collect::<io::Result<Vec<Skip>>>()?;
    skips.sort();
    skips.dedup();
    Ok(skips)
}

fn parse(line: &str) -> io::Result<Skip> {
    let parts: Vec<String> = line.split('\t').map(str::to_owned).collect();
    let [reason, package, test] = parts.try_into().map_err(|_| {
        io::Error::other(format!("found `{line}`, expected a reason, a package and a test"))
    })?;
    Ok(Skip { reason, package, test })
}
