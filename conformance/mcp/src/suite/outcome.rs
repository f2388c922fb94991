//! Compares the results of a run with the expected failures.

use super::expected::{Entry, Expected};
use super::run::{Check, Run, Scenario, Status};

/// The outcome of one scenario.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    /// The results of the scenario.
    pub(super) scenario: &'a Scenario,
    /// The number of checks that passed.
    pub(super) passed: usize,
    /// The reasons for its expected failures.
    pub(super) reasons: Vec<&'a str>,
    /// Its unexpected failures and passes.
    pub(super) surprises: Vec<String>,
}

impl Outcome<'_> {
    /// The number of checks that failed.
    pub(super) fn failed(&self) -> usize {
        self.scenario.checks.iter().filter(|check| is_failed(check)).count()
    }
}

/// Returns whether a check failed. A warning counts as a failure, as in the suite.
fn is_failed(check: &Check) -> bool {
    matches!(check.status, Status::Failure | Status::Warning)
}

/// Compares a run with the expected failures. Returns the outcomes of its scenarios, and a message for each entry that names no
/// scenario.
pub(super) fn judge<'a>(run: &'a Run, expected: &'a Expected) -> (Vec<Outcome<'a>>, Vec<String>) {
    let outcomes = run.scenarios.iter().map(|scenario| {
        let entries: Vec<&Entry> = expected.of(run.role, &scenario.name).collect();
        outcome(scenario, &entries)
    });
    let is_unknown =
        |entry: &&Entry| run.scenarios.iter().all(|found| found.name != entry.scenario);
    let unknown = expected.on(run.role).filter(is_unknown);
    let unknown =
        unknown.map(|entry| format!("`{}` is not a scenario of this revision", entry.name()));
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
        .map(|check| format!("{}:{} fails: {}", scenario.name, check.id, message(check)))
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

fn message(check: &Check) -> &str {
    check.error.as_deref().unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::super::run::Role;
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
            role: Role::Server,
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
    fn failures_must_be_expected_and_expected_failures_must_fail() {
        use Status::{Failure, Info, Skipped, Success, Warning};
        let none: &[&str] = &[];
        for (checks, expected, found) in [
            (&[("a", Success), ("b", Info), ("c", Skipped)][..], "", none),
            (&[("a", Success), ("b", Failure)], "", &["ping:b fails: no message"]),
            (&[("a", Warning)], "", &["ping:a fails: no message"]),
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
                &["ping:a fails: no message", "ping:b passes, though it is expected to fail"],
            ),
            (
                &[("a", Success)],
                "server:\n- pong # x",
                &["`pong` is not a scenario of this revision"],
            ),
            (&[("a", Success)], "client:\n- pong # x", none),
        ] {
            assert_eq!(surprises(checks, expected), found, "{checks:?} {expected}");
        }
    }
}
