//! Whether what a run found was expected. Never runs anything, never words a page.

use super::expected::{Entry, Expected};
use super::run::{Check, Run, Scenario, Status};

/// One scenario, judged.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    /// What was found.
    pub(super) scenario: &'a Scenario,
    /// How many checks passed.
    pub(super) passed: usize,
    /// Why it fails, for what was expected to.
    pub(super) reasons: Vec<&'a str>,
    /// What nobody expected.
    pub(super) surprises: Vec<String>,
}

impl Outcome<'_> {
    /// How many checks failed.
    pub(super) fn failed(&self) -> usize {
        self.scenario.checks.iter().filter(|check| is_failed(check)).count()
    }
}

/// A warning counts as a failure, as it does in the suite's own reading of such files.
fn is_failed(check: &Check) -> bool {
    matches!(check.status, Status::Failure | Status::Warning)
}

/// Holds a run against what was expected: the scenarios judged, and entries that name none of them.
pub(super) fn judge<'a>(run: &'a Run, expected: &'a Expected) -> (Vec<Outcome<'a>>, Vec<String>) {
    let outcomes = run.scenarios.iter().map(|scenario| {
        let entries: Vec<&Entry> = expected.of(run.leg, &scenario.name).collect();
        outcome(scenario, &entries)
    });
    let is_unknown =
        |entry: &&Entry| run.scenarios.iter().all(|found| found.name != entry.scenario);
    let unknown = expected.on(run.leg).filter(is_unknown);
    let unknown =
        unknown.map(|entry| format!("`{}` is no scenario of this revision", entry.name()));
    (outcomes.collect(), unknown.collect())
}

fn outcome<'a>(scenario: &'a Scenario, entries: &[&'a Entry]) -> Outcome<'a> {
    let failed: Vec<&Check> = scenario.checks.iter().filter(|check| is_failed(check)).collect();
    let excuses = |entry: &Entry, check: &Check| {
        entry.check.as_ref().is_none_or(|excused| *excused == check.id)
    };
    let unexcused =
        failed.iter().filter(|check| !entries.iter().any(|entry| excuses(entry, check)));
    let unneeded = entries.iter().filter(|entry| !failed.iter().any(|check| excuses(entry, check)));
    let surprises = unexcused
        .map(|check| format!("{}:{} fails: {}", scenario.name, check.id, said(check)))
        .chain(
            unneeded.map(|entry| format!("{} passes, though it is expected to fail", entry.name())),
        );
    Outcome {
        scenario,
        passed: scenario.checks.iter().filter(|check| check.status == Status::Success).count(),
        reasons: entries.iter().map(|entry| entry.reason.as_str()).collect(),
        surprises: surprises.collect(),
    }
}

fn said(check: &Check) -> &str {
    check.error.as_deref().unwrap_or("without a word")
}

#[cfg(test)]
mod tests {
    use super::super::run::Leg;
    use super::*;

    fn run(checks: &[(&str, Status)]) -> Run {
        let check = |(id, status): &(&str, Status)| Check {
            id: (*id).to_owned(),
            status: *status,
            error: None,
        };
        let checks = checks.iter().map(check).collect();
        let scenario = Scenario { name: "ping".to_owned(), is_required: true, checks };
        Run {
            revision: "2025-11-25",
            leg: Leg::Server,
            scenarios: vec![scenario],
            is_as_expected: true,
        }
    }

    fn surprises(checks: &[(&str, Status)], expected: &str) -> Vec<String> {
        let (run, expected) = (run(checks), Expected::read(expected).unwrap());
        let (outcomes, unknown) = judge(&run, &expected);
        outcomes.into_iter().flat_map(|outcome| outcome.surprises).chain(unknown).collect()
    }

    #[test]
    fn what_fails_must_be_expected_and_what_is_expected_must_fail() {
        use Status::{Failure, Info, Skipped, Success, Warning};
        let none: &[&str] = &[];
        for (checks, expected, found) in [
            (&[("a", Success), ("b", Info), ("c", Skipped)][..], "", none),
            (&[("a", Success), ("b", Failure)], "", &["ping:b fails: without a word"]),
            (&[("a", Warning)], "", &["ping:a fails: without a word"]),
            (&[("a", Failure)], "server:\n- ping # x", none),
            (&[("a", Failure), ("b", Success)], "server:\n- ping:a # x", none),
            (
                &[("a", Success)],
                "server:\n- ping # x",
                &["ping passes, though it is expected to fail"],
            ),
            (
                &[("a", Failure), ("b", Success)],
                "server:\n- ping:b # x",
                &["ping:a fails: without a word", "ping:b passes, though it is expected to fail"],
            ),
            (&[("a", Success)], "server:\n- pong # x", &["`pong` is no scenario of this revision"]),
            (&[("a", Success)], "client:\n- pong # x", none),
        ] {
            assert_eq!(surprises(checks, expected), found, "{checks:?} {expected}");
        }
    }
}
