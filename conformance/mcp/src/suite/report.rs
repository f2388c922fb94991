//! The suite in every era, on both sides, with what was expected of it. Never words a page.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use toolwright_prerequisites::Npm;

use super::outcome::judge;
use super::page;
use super::run::{Leg, Run, run};
use super::{Expected, REVISIONS};
use crate::fixtures::Served;

/// A file for each revision: what is expected to fail, and why.
const EXPECTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/expected");

/// Every run, beside what was expected of it.
pub struct Report {
    runs: Vec<(Run, Expected)>,
}

/// Runs everything against this package's program, with the official tools.
///
/// # Errors
///
/// When a side does not start, or a tool does not run.
pub fn all(program: &Path, npm: &Npm) -> io::Result<Report> {
    let server = Served::start(Command::new(program).args(["serve", "--http", "127.0.0.1:0"]))?;
    let client = format!("{} client", program.display());
    let mut runs = Vec::new();
    for revision in REVISIONS {
        let expected = Path::new(EXPECTED).join(format!("{revision}.yaml"));
        for (leg, under_test) in [(Leg::Server, server.url()), (Leg::Client, client.as_str())] {
            let found = run(npm, leg, revision, under_test, &expected)?;
            runs.push((found, Expected::read(&fs::read_to_string(&expected)?)?));
        }
    }
    Ok(Report { runs })
}

impl Report {
    /// What nobody expected, in words.
    pub fn surprises(&self) -> Vec<String> {
        let judged = self.runs.iter().map(|(run, expected)| (run, judge(run, expected)));
        judged
            .flat_map(|(run, (outcomes, unknown))| {
                let found = outcomes.into_iter().flat_map(|outcome| outcome.surprises);
                let verdict = (!run.is_as_expected)
                    .then(|| "the suite did not find what was expected".to_owned());
                found.chain(unknown).chain(verdict).map(move |surprise| {
                    format!("{} {}: {surprise}", run.revision, run.leg.as_str())
                })
            })
            .collect()
    }

    /// The page, with this date.
    pub fn page(&self, date: &str) -> String {
        page::page(&self.runs, date)
    }
}
