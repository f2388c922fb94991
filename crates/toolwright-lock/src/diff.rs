//! Compares two locks.

use std::collections::BTreeSet;
use std::fmt;

use crate::classes::Classes;
use crate::finding::{Finding, Places};
use crate::listing::LockedServer;
use crate::lock::{Lock, LockedTool};
use crate::remote;
use crate::rules;
use crate::tools::{changes, finding, highest};

/// The changes between two locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The changes, in the order of their tools and rules.
    pub findings: Vec<Finding>,
    /// The highest class of each viewpoint.
    pub classes: Classes,
}

/// The error for a lock whose schemas cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffError {
    tool: String,
    message: String,
}

/// Compares two locks.
///
/// # Errors
///
/// If a schema that differs cannot be read, because somebody edited the lock or a later version of toolwright wrote it.
pub fn diff(old: &Lock, new: &Lock) -> Result<Difference, DiffError> {
    let mut findings = Vec::new();
    let mut compare = |name: &str, was: &LockedTool, is: &LockedTool| {
        let found = changes(name, was, is);
        let found = found.map_err(|message| DiffError { tool: name.to_owned(), message })?;
        findings.extend(found);
        for alias in was.aliases.iter().filter(|alias| new.tool_called(alias) != Some(name)) {
            let at = Places { old: Some("/aliases".to_owned()), new: None };
            findings.push(finding(&rules::ALIAS_REMOVED, name, at, format!("`{alias}` is gone")));
        }
        for alias in is.aliases.iter().filter(|alias| old.tool_called(alias).is_none()) {
            let at = Places { old: None, new: Some("/aliases".to_owned()) };
            findings.push(finding(&rules::ALIAS_ADDED, name, at, format!("`{alias}` is new")));
        }
        Ok(())
    };
    let mut renamed = BTreeSet::new();
    let mut alone = Vec::new();
    for (name, was) in &old.tools {
        if let Some(is) = new.tools.get(name) {
            compare(name, was, is)?;
        } else if let Some(now) = new.tool_called(name) {
            compare(now, was, &new.tools[now])?;
            renamed.insert(now);
            alone.push((&rules::TOOL_RENAMED_WITH_ALIAS, now, format!("it was `{name}`")));
        } else if let Some(now) = same_tool(was, old, new, &renamed) {
            compare(now, was, &new.tools[now])?;
            renamed.insert(now);
            alone.push((&rules::TOOL_RENAMED, now, format!("it was `{name}`")));
        } else {
            alone.push((&rules::TOOL_REMOVED, name, format!("it was in `{}`", was.toolset)));
        }
    }
    for (name, is) in &new.tools {
        if !old.tools.contains_key(name) && !renamed.contains(name.as_str()) {
            alone.push((&rules::TOOL_ADDED, name, format!("it is in `{}`", is.toolset)));
        }
    }
    let whole = || Places { old: Some(String::new()), new: Some(String::new()) };
    for (rule, name, words) in alone {
        let mut at = whole();
        if rule.id == rules::TOOL_ADDED.id {
            at.old = None;
        } else if rule.id == rules::TOOL_REMOVED.id {
            at.new = None;
        }
        findings.push(finding(rule, name, at, words));
    }
    for (server, was) in &old.remote {
        if let Some(is) = new.remote.get(server) {
            findings.extend(remote::changes(server, was, is));
        }
    }
    for (name, was) in new.reused(old) {
        let owner = new.tool_called(&name).unwrap_or(&name).to_owned();
        let words = format!("`{name}` belonged to `{was}`");
        findings.push(finding(&rules::NAME_REUSED, &owner, whole(), words));
    }
    findings.sort_by(|a, b| {
        let key = |finding: &Finding| (finding.at.new.clone(), finding.at.old.clone());
        (&a.tool, a.rule.id, key(a), &a.words).cmp(&(&b.tool, b.rule.id, key(b), &b.words))
    });
    let classes = highest(&findings);
    Ok(Difference { findings, classes })
}

/// Compares two listings of a remote server, which has this name in the project.
pub fn diff_listings(name: &str, old: &LockedServer, new: &LockedServer) -> Difference {
    let findings = remote::changes(name, old, new);
    let classes = highest(&findings);
    Difference { findings, classes }
}

impl Difference {
    /// Also counts stored results: those of the old tool, read with the new types. A reader of them is hurt wherever an
    /// implementer of the old results is.
    #[must_use]
    pub fn with_stored_results(mut self) -> Self {
        for finding in &mut self.findings {
            let places = [&finding.at.old, &finding.at.new];
            let is_in_result =
                places.into_iter().flatten().any(|place| place.starts_with("/result"));
            if is_in_result {
                finding.classes.reader = finding.classes.reader.max(finding.classes.implementer);
            }
        }
        self.classes = highest(&self.findings);
        self
    }
}

/// Returns the new tool that is equal to an old one but for its name.
fn same_tool<'n>(
    was: &LockedTool,
    old: &Lock,
    new: &'n Lock,
    taken: &BTreeSet<&str>,
) -> Option<&'n str> {
    let is_same = |is: &LockedTool| {
        is.toolset == was.toolset
            && is.description == was.description
            && is.args.get() == was.args.get()
            && is.result.get() == was.result.get()
    };
    let mut found = new.tools.iter().filter(|(name, is)| {
        !old.tools.contains_key(*name) && !taken.contains(name.as_str()) && is_same(is)
    });
    found.next().map(|(name, _)| name.as_str())
}

impl fmt::Display for DiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a schema of the tool `{}` cannot be read: {}", self.tool, self.message)
    }
}

impl std::error::Error for DiffError {}
