//! Runs the suite for all revisions and for server and client, and collects the results.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use toolwright_prerequisites::Npm;

use super::outcome::judge;
use super::page;
use super::run::{Role, Run, run};
use super::{Expected, REVISIONS};
use crate::fixtures::Served;

/// The folder with a file of expected failures for each revision.
const EXPECTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/expected");

/// All runs with their expected failures.
pub struct Report {
    runs: Vec<(Run, Expected)>,
}

/// Runs the official suite against this package's program.
///
/// # Errors
///
/// Returns an error if the server does not start or the suite does not run.
pub fn all(program: &Path, npm: &Npm) -> io::Result<Report> {
    let server = Served::start(Command::new(program).args(["serve", "--http", "127.0.0.1:0"]))?;
    let client = format!("{} client", program.display());
    let mut runs = Vec::new();
    for revision in REVISIONS {
        let expected = Path::new(EXPECTED).join(format!("{revision}.yaml"));
        for (role, under_test) in [(Role::Server, server.url()), (Role::Client, client.as_str())] {
            let found = run(npm, role, revision, under_test, &expected)?;
            runs.push((found, Expected::read(&fs::read_to_string(&expected)?)?));
        }
    }
    Ok(Report { runs })
}

impl Report {
    /// The unexpected results, one line each.
    pub fn surprises(&self) -> Vec<String> {
        let judged = self.runs.iter().map(|(run, expected)| (run, judge(run, expected)));
        judged
            .flat_map(|(run, (outcomes, unknown))| {
                let found = outcomes.into_iter().flat_map(|outcome| outcome.surprises);
                let verdict = (!run.is_as_expected)
                    .then(|| "the suite reports unexpected results".to_owned());
                found.chain(unknown).chain(verdict).map(move |surprise| {
                    format!("{} {}: {surprise}", run.revision, run.role.as_str())
                })
            })
            .collect()
    }

    /// The page with this date.
    pub fn page(&self, date: &str) -> String {
        page::page(&self.runs, date)
    }
}
