//! Formats the results as the page `docs/mcp-conformance.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::outcome::{Outcome, judge};
use super::run::{Role, Run};
use super::{Expected, REVISIONS};

/// The beginning of the line with the date on which the results last changed.
pub const DATED: &str = "As of ";

/// The outcomes of each scenario in the revisions that have it.
type Rows<'a> = BTreeMap<&'a str, [Option<Outcome<'a>>; REVISIONS.len()]>;

/// The whole page with this date, for runs with their expected failures.
pub(super) fn page(runs: &[(Run, Expected)], date: &str) -> String {
    format!(
        "# The official MCP conformance suite

{DATED}{date}, by `cargo xtask mcp-conformance`: `@modelcontextprotocol/conformance` 0.2.0-alpha.12 against the server that is
generated from [fixtures.yaml](../conformance/mcp/schema/fixtures.yaml) and against a client that uses
`toolwright_mcp::client`, for the newest revision with sessions and the newest without. A test runs the suite on every change;
a scenario that unexpectedly fails or passes fails the test.

A cell holds the number of checks that pass and that fail. A scenario in parentheses is run but not required, as it is an
extension or newer than the revision. Expected failures are listed with their reasons in
[expected/](../conformance/mcp/expected), in the suite's own format.

## Server

{}
## Client

{}",
        table(&rows(runs, Role::Server)),
        table(&rows(runs, Role::Client)),
    )
}

fn rows(runs: &[(Run, Expected)], role: Role) -> Rows<'_> {
    let mut rows = Rows::new();
    for (run, expected) in runs.iter().filter(|(run, _)| run.role == role) {
        let Some(column) = REVISIONS.iter().position(|known| *known == run.revision) else {
            continue;
        };
        for outcome in judge(run, expected).0 {
            let name = &outcome.scenario.name;
            rows.entry(name).or_default()[column] = Some(outcome);
        }
    }
    rows
}

fn table(rows: &Rows<'_>) -> String {
    let mut text = format!("| Scenario | {} | |\n|---|---|---|---|\n", REVISIONS.join(" | "));
    for (scenario, outcomes) in rows {
        let cells =
            outcomes.each_ref().map(|outcome| outcome.as_ref().map_or_else(String::new, cell));
        // Writing to a string does not fail.
        _ = writeln!(text, "| {scenario} | {} | {} |", cells.join(" | "), reasons(outcomes));
    }
    for (index, revision) in REVISIONS.iter().enumerate() {
        let required = rows
            .values()
            .filter_map(|row| row[index].as_ref())
            .filter(|outcome| outcome.scenario.is_required);
        let (failed, passed): (Vec<_>, Vec<_>) = required.partition(|outcome| outcome.failed() > 0);
        _ = write!(
            text,
            "\n{revision}: {} required scenarios pass, {} do not.",
            passed.len(),
            failed.len()
        );
    }
    text + "\n"
}

fn cell(outcome: &Outcome<'_>) -> String {
    let failed = outcome.failed();
    let result = match (outcome.passed, failed) {
        (passed, 0) => format!("{passed} pass"),
        (0, failed) => format!("**{failed} fail**"),
        (passed, failed) => format!("{passed} pass, **{failed} fail**"),
    };
    if outcome.scenario.is_required { result } else { format!("({result})") }
}

/// The reasons of all revisions, each once.
fn reasons(outcomes: &[Option<Outcome<'_>>]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in outcomes.iter().flatten().flat_map(|outcome| &outcome.reasons) {
        if !reasons.contains(reason) {
            reasons.push(reason);
        }
    }
    reasons.join("; ")
}
