//! Compares two locks.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::fmt;

use crate::classes::Classes;
use crate::finding::{Finding, Places};
use crate::listing::LockedServer;
use crate::lock::{Lock, LockedTool, Successors};
use crate::remote;
use crate::rules;
use crate::rust::{self, Needs};
use crate::schemas::Budget;
use crate::tools::{changes, finding, highest};

/// The most bytes of all changes: about a hundred thousand, more than anybody reads.
const MAX_BYTES: usize = 32 << 20;

/// The changes between two locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The changes, in the order of their tools and rules.
    pub findings: Vec<Finding>,
    /// The highest class of each viewpoint.
    pub classes: Classes,
    /// The old names of tools that have another one now, by their names in the new version.
    pub renamed: BTreeMap<String, String>,
}

/// The error for two locks whose schemas cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffError {
    tool: String,
    message: String,
}

/// Compares two locks.
///
/// # Errors
///
/// If a schema that differs cannot be read, because somebody edited the lock or a later version of toolwright wrote it, or the tools
/// differ in too many ways.
pub fn diff(old: &Lock, new: &Lock) -> Result<Difference, DiffError> {
    let (mut findings, mut left) = (Vec::new(), MAX_BYTES);
    let budget = Budget::for_tools(old.tools.len() + new.tools.len());
    let may_grow = old.non_exhaustive && new.non_exhaustive;
    let (old_routes, routes) = (old.routes(), new.routes());
    let mut compare = |name: &str, was: &LockedTool, is: &LockedTool| {
        let found = changes(name, was, is, &budget);
        let mut found = found.map_err(|message| DiffError { tool: name.to_owned(), message })?;
        let bytes: usize = found.iter().map(Finding::size).sum();
        left = left.checked_sub(bytes).ok_or_else(|| DiffError {
            tool: name.to_owned(),
            message: format!(
                "the changes up to it take more than {} MiB, expected fewer; compare fewer tools at once",
                MAX_BYTES >> 20
            ),
        })?;
        rust::settle(&mut found, was, is, may_grow);
        findings.extend(found);
        let is_gone = |alias: &&String| routes.get(alias.as_str()) != Some(&name);
        for alias in was.aliases.iter().filter(is_gone) {
            let at = Places { old: Some("/aliases".to_owned()), new: None };
            findings.push(finding(&rules::ALIAS_REMOVED, name, at, format!("`{alias}` is gone")));
        }
        for alias in is.aliases.iter().filter(|alias| !old_routes.contains_key(alias.as_str())) {
            let at = Places { old: None, new: Some("/aliases".to_owned()) };
            findings.push(finding(&rules::ALIAS_ADDED, name, at, format!("`{alias}` is new")));
        }
        Ok(())
    };
    let successors = Successors::of(old, new, &routes);
    let mut renamed = BTreeMap::new();
    let mut alone = Vec::new();
    for (name, was) in &old.tools {
        match successors.get(name).filter(|now| !renamed.contains_key(*now)) {
            Some(now) if now == name => compare(name, was, &new.tools[name])?,
            Some(now) => {
                compare(now, was, &new.tools[now])?;
                renamed.insert((*now).to_owned(), name.clone());
                let is_routed = routes.get(name.as_str()) == Some(&now);
                let rule =
                    if is_routed { &rules::TOOL_RENAMED_WITH_ALIAS } else { &rules::TOOL_RENAMED };
                alone.push((rule, now, format!("it was `{name}`")));
            }
            None => {
                alone.push((&rules::TOOL_REMOVED, name, format!("it was in `{}`", was.toolset)));
            }
        }
    }
    for (name, is) in &new.tools {
        if !old.tools.contains_key(name) && !renamed.contains_key(name) {
            alone.push((&rules::TOOL_ADDED, name, format!("it is in `{}`", is.toolset)));
        }
    }
    let whole = || Places { old: Some(String::new()), new: Some(String::new()) };
    let needs = LazyCell::new(|| Needs::of(old));
    for (rule, name, words) in alone {
        let mut at = whole();
        if rule.id == rules::TOOL_ADDED.id {
            at.old = None;
        } else if rule.id == rules::TOOL_REMOVED.id {
            at.new = None;
        }
        let mut finding = finding(rule, name, at, words);
        if rule.id == rules::TOOL_ADDED.id && needs.meet(&new.tools[name]) {
            finding.classes.rust = rule.rust_at_best.unwrap_or(finding.classes.rust);
        }
        findings.push(finding);
    }
    if old.non_exhaustive != new.non_exhaustive {
        let words = if new.non_exhaustive { "it was turned on" } else { "it was turned off" };
        for toolset in old.toolsets.keys().filter(|name| new.toolsets.contains_key(*name)) {
            let place = |lock: &Lock| lock.non_exhaustive.then(|| "/non_exhaustive".to_owned());
            let at = Places { old: place(old), new: place(new) };
            findings.push(finding(&rules::NON_EXHAUSTIVE_CHANGED, toolset, at, words.to_owned()));
        }
    }
    for (server, was) in &old.remote {
        if let Some(is) = new.remote.get(server) {
            findings.extend(remote::changes(server, was, is, &budget));
        }
    }
    for (name, was) in new.reused(&successors, old, &old_routes) {
        let owner =
            routes.get(name.as_str()).map_or_else(|| name.clone(), |owner| (*owner).to_owned());
        let words = format!("`{name}` belonged to `{was}`");
        findings.push(finding(&rules::NAME_REUSED, &owner, whole(), words));
    }
    findings.sort_by(|a, b| {
        let key = |finding: &Finding| (finding.at.new.clone(), finding.at.old.clone());
        (&a.tool, a.rule.id, key(a), &a.words).cmp(&(&b.tool, b.rule.id, key(b), &b.words))
    });
    let classes = highest(&findings);
    Ok(Difference { findings, classes, renamed })
}

/// Compares two listings of a remote server, which has this name in the project.
pub fn diff_listings(name: &str, old: &LockedServer, new: &LockedServer) -> Difference {
    let findings = remote::changes(name, old, new, &Budget::default());
    let classes = highest(&findings);
    Difference { findings, classes, renamed: BTreeMap::new() }
}

impl Difference {
    /// Also counts stored results: those of the old tool, read with the new types. A change of a result can break
    /// readers of stored results in the ways in which it breaks implementers. So the class for readers becomes the higher of the
    /// classes for readers and for implementers.
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

impl fmt::Display for DiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schemas of the tool `{}` cannot be compared: {}", self.tool, self.message)
    }
}

impl std::error::Error for DiffError {}
