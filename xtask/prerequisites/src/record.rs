//! Skips: said by the test, and written into a file for whoever runs all tests. Never decides what is skipped.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::{env, thread};

/// The variable that names the file into which skips are written; where it is not set, they are only said.
pub const RECORD: &str = "TOOLWRIGHT_SKIPPED";

/// A test that was skipped, or left something out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skip {
    /// Why.
    pub reason: String,
    /// The package of the test.
    pub package: String,
    /// The name of the test in its binary.
    pub test: String,
}

/// Records that the calling test is skipped, or leaves something out, and why.
///
/// # Panics
///
/// If the file of skips cannot be written: a skip that nobody hears of would be a test that passed.
pub fn skip(reason: &str) {
    let test = thread::current().name().unwrap_or("unnamed").to_owned();
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    // Past the capture of test harnesses, which show nothing of a test that passes.
    let _ = writeln!(io::stderr(), "skipped: {test}: {reason}");
    if let Some(path) = env::var_os(RECORD) {
        let line = format!("{reason}\t{package}\t{test}\n");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        // One write a line, so that lines of other processes stay whole.
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }
}

/// The skips of a file, each once, by reason; none if no test wrote one.
///
/// # Errors
///
/// When the file is there and cannot be read, or a line is not one that [`skip`] writes.
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
