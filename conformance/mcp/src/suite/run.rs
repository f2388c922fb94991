//! Runs the suite for one revision and one role, and reads its results.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use toolwright_prerequisites::Npm;

const PROGRAM: &str = "@modelcontextprotocol/conformance/dist/index.js";
const REQUIREMENTS: &str = "@modelcontextprotocol/conformance/requirements";
/// The length of the time stamp at the end of a folder's name: `-2026-11-22T05-33-48-280Z`.
const STAMP: usize = 25;

/// The role of the program under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A server that the suite calls.
    Server,
    /// A client that the suite starts.
    Client,
}

/// The results of a run.
#[derive(Debug)]
pub(super) struct Run {
    /// The tested revision.
    pub(super) revision: &'static str,
    /// The role of the program under test.
    pub(super) role: Role,
    /// The scenarios, sorted by name.
    pub(super) scenarios: Vec<Scenario>,
    /// True if the suite itself reports the expected results for the scenarios that the revision requires.
    pub(super) is_as_expected: bool,
}

/// The results of one scenario.
#[derive(Debug)]
pub(super) struct Scenario {
    /// Its name.
    pub(super) name: String,
    /// True if the revision requires it. The suite runs other scenarios too.
    pub(super) is_required: bool,
    /// Its checks, in order.
    pub(super) checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Check {
    /// Its name, which several checks may share.
    pub(super) id: String,
    /// Its result.
    pub(super) status: Status,
    /// The error message.
    #[serde(rename = "errorMessage")]
    pub(super) error: Option<String>,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Status {
    /// The check passed.
    Success,
    /// The check failed.
    Failure,
    /// A recommendation is not followed, or the check could not be made.
    Warning,
    /// The check does not apply.
    Skipped,
    /// A note without a verdict.
    Info,
}

impl Role {
    /// The name of the suite's command.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }

    /// The option with the URL or the command under test.
    fn option(self) -> &'static str {
        match self {
            Self::Server => "--url",
            Self::Client => "--command",
        }
    }
}

/// Runs all scenarios of a revision for one role. `under_test` is a URL or a command, and `expected` the file of expected
/// failures.
///
/// # Errors
///
/// Returns an error if the suite does not start, or writes no readable results.
pub(super) fn run(
    npm: &Npm,
    role: Role,
    revision: &'static str,
    under_test: &str,
    expected: &Path,
) -> io::Result<Run> {
    let found = tempfile::tempdir()?;
    let output = npm
        .program(PROGRAM)
        .args([role.as_str(), role.option(), under_test, "--requirements", revision])
        .arg("--expected-failures")
        .arg(expected)
        .arg("--output-dir")
        .arg(found.path())
        .output()?;
    let mut scenarios = Vec::new();
    collect(found.path(), "", role, &mut scenarios)?;
    if scenarios.is_empty() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("the suite wrote no results: {stderr}")));
    }
    let unscored = unscored(npm, revision)?;
    for found in &mut scenarios {
        found.is_required = !unscored.contains(&found.name);
    }
    scenarios.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Run { revision, role, scenarios, is_as_expected: output.status.success() })
}

/// Collects the scenarios of a folder. A scenario with a `/` in its name has nested folders.
fn collect(folder: &Path, prefix: &str, role: Role, into: &mut Vec<Scenario>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let name = format!("{prefix}{}", name.to_string_lossy());
        let checks = path.join("checks.json");
        if checks.exists() {
            let checks = serde_json::from_slice(&fs::read(checks)?)?;
            into.push(Scenario { name: scenario(&name, role), is_required: true, checks });
        } else if path.is_dir() {
            collect(&path, &format!("{name}/"), role, into)?;
        }
    }
    Ok(())
}

/// The name of the scenario of a folder.
fn scenario(folder: &str, role: Role) -> String {
    let name = folder.get(..folder.len().saturating_sub(STAMP)).unwrap_or(folder);
    let bare = name.strip_prefix("server-").filter(|_| role == Role::Server);
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
        for (folder, role, scenario_name) in [
            (
                "server-server-initialize-2026-11-22T05-33-48-063Z",
                Role::Server,
                "server-initialize",
            ),
            ("tools_call-2026-11-22T05-33-48-063Z", Role::Client, "tools_call"),
            ("auth/iss-supported-2026-11-22T05-33-48-063Z", Role::Client, "auth/iss-supported"),
        ] {
            assert_eq!(scenario(folder, role), scenario_name);
        }
    }
}
