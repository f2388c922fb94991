//! Lists what a run of `ci` skipped and why: steps and tests that need something that this machine does not have.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use toolwright_prerequisites::{Skip, read};

use crate::tool::target;

/// The skips of a run: the steps, and the file in which tests record theirs.
pub(crate) struct Skipped {
    record: PathBuf,
    steps: Vec<String>,
}

impl Skipped {
    /// Begins a run, and removes the record of an earlier run.
    pub(crate) fn begin() -> io::Result<Self> {
        let target = target();
        fs::create_dir_all(&target)?;
        let record = std::path::absolute(target.join("skipped"))?;
        match fs::remove_file(&record) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(Self { record, steps: Vec::new() }),
        }
    }

    pub(crate) fn record(&self) -> &Path {
        &self.record
    }

    /// Records that a step was skipped, and why.
    pub(crate) fn step(&mut self, reason: &str) {
        self.steps.push(reason.to_owned());
    }

    /// The list of all skips as text; empty if nothing was skipped.
    pub(crate) fn list(&self) -> io::Result<String> {
        Ok(list(&self.steps, &read(&self.record)?))
    }
}

/// Formats each reason on a line, with the tests that were skipped for it below. The skips are sorted by reason.
fn list(steps: &[String], skips: &[Skip]) -> String {
    let mut text = String::new();
    for step in steps {
        let _ = writeln!(text, "  {step}");
    }
    for tests in skips.chunk_by(|one, other| one.reason == other.reason) {
        let count =
            if tests.len() == 1 { "1 test".into() } else { format!("{} tests", tests.len()) };
        let _ = writeln!(text, "  {}: {count}", tests[0].reason);
        for Skip { package, test, .. } in tests {
            let _ = writeln!(text, "      {package} {test}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(reason: &str, test: &str) -> Skip {
        Skip { reason: reason.into(), package: "a".into(), test: test.into() }
    }

    #[test]
    fn reasons_are_listed_with_the_tests_that_were_skipped() {
        let steps = ["cargo-deny is not installed: licenses were not checked".to_owned()];
        let skips = [skip("no git", "one"), skip("no node", "one"), skip("no node", "two")];
        let expected = "  cargo-deny is not installed: licenses were not checked\n  no git: 1 test\n      a one\n  \
                        no node: 2 tests\n      a one\n      a two\n";
        assert_eq!(list(&steps, &skips), expected);
        assert_eq!(list(&[], &[]), "");
    }
}
