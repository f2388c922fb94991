//! Runs the suite for one revision and one side, and reads what it found. Never judges.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use toolwright_prerequisites::Npm;

const PROGRAM: &str = "@modelcontextprotocol/conformance/dist/index.js";
const REQUIREMENTS: &str = "@modelcontextprotocol/conformance/requirements";
/// What stands between a scenario's name and the end of its folder's: `-2026-11-22T05-33-48-280Z`.
const STAMP: usize = 25;

/// Which side is under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    /// A server that the suite calls.
    Server,
    /// A client that the suite starts, and answers.
    Client,
}

/// What a run found.
#[derive(Debug)]
pub(super) struct Run {
    /// The revision that was asked for.
    pub(super) revision: &'static str,
    /// The side under test.
    pub(super) leg: Leg,
    /// The scenarios by name.
    pub(super) scenarios: Vec<Scenario>,
    /// Whether the suite too found what was expected, of the scenarios that the revision requires.
    pub(super) is_as_expected: bool,
}

/// One scenario and what it checked.
#[derive(Debug)]
pub(super) struct Scenario {
    /// Its name.
    pub(super) name: String,
    /// Whether the revision requires it; others are run to be seen.
    pub(super) is_required: bool,
    /// What it checked, in order.
    pub(super) checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Check {
    /// Its name, which several checks may share.
    pub(super) id: String,
    /// What came of it.
    pub(super) status: Status,
    /// What was wrong.
    #[serde(rename = "errorMessage")]
    pub(super) error: Option<String>,
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Status {
    /// It holds.
    Success,
    /// It does not hold.
    Failure,
    /// It should hold, and does not; or could not be looked at.
    Warning,
    /// It does not apply.
    Skipped,
    /// It says something and asks for nothing.
    Info,
}

impl Leg {
    /// The name of the suite's command.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }

    /// The option that says what is under test.
    fn option(self) -> &'static str {
        match self {
            Self::Server => "--url",
            Self::Client => "--command",
        }
    }
}

/// Runs everything that a revision asks of one side. What is under test is a URL or a command; what is expected to fail
/// stands in a file.
///
/// # Errors
///
/// When the suite does not start, or leaves nothing that can be read.
pub(super) fn run(
    npm: &Npm,
    leg: Leg,
    revision: &'static str,
    under_test: &str,
    expected: &Path,
) -> io::Result<Run> {
    let found = tempfile::tempdir()?;
    let output = npm
        .program(PROGRAM)
        .args([leg.as_str(), leg.option(), under_test, "--requirements", revision])
        .arg("--expected-failures")
        .arg(expected)
        .arg("--output-dir")
        .arg(found.path())
        .output()?;
    let mut scenarios = Vec::new();
    collect(found.path(), "", leg, &mut scenarios)?;
    if scenarios.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("the suite left no results: {said}")));
    }
    let unscored = unscored(npm, revision)?;
    for found in &mut scenarios {
        found.is_required = !unscored.contains(&found.name);
    }
    scenarios.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Run { revision, leg, scenarios, is_as_expected: output.status.success() })
}

/// A scenario with a `/` in its name has a folder in a folder.
fn collect(folder: &Path, prefix: &str, leg: Leg, into: &mut Vec<Scenario>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let name = format!("{prefix}{}", name.to_string_lossy());
        let checks = path.join("checks.json");
        if checks.exists() {
            let checks = serde_json::from_slice(&fs::read(checks)?)?;
            into.push(Scenario { name: scenario(&name, leg), is_required: true, checks });
        } else if path.is_dir() {
            collect(&path, &format!("{name}/"), leg, into)?;
        }
    }
    Ok(())
}

/// The scenario that a folder is named after.
fn scenario(folder: &str, leg: Leg) -> String {
    let name = folder.get(..folder.len().saturating_sub(STAMP)).unwrap_or(folder);
    let bare = name.strip_prefix("server-").filter(|_| leg == Leg::Server);
    bare.unwrap_or(name).to_owned()
}

/// The scenarios that a revision runs without requiring them.
fn unscored(npm: &Npm, revision: &str) -> io::Result<BTreeSet<String>> {
    let text = fs::read_to_string(npm.file(&format!("{REQUIREMENTS}/{revision}.yaml")))?;
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("- scenario: "));
    Ok(names.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_after_its_scenario() {
        for (folder, leg, scenario_name) in [
            ("server-server-initialize-2026-11-22T05-33-48-063Z", Leg::Server, "server-initialize"),
            ("tools_call-2026-11-22T05-33-48-063Z", Leg::Client, "tools_call"),
            ("auth/iss-supported-2026-11-22T05-33-48-063Z", Leg::Client, "auth/iss-supported"),
        ] {
            assert_eq!(scenario(folder, leg), scenario_name);
        }
    }
}
