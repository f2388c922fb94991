//! Which changes a new version may have.

use std::collections::{BTreeMap, BTreeSet};

use crate::classes::{Change, Viewpoint};
use crate::diff::Difference;
use crate::finding::Finding;
use crate::lock::{Lock, Routes};
use crate::rules;
use crate::version;

/// Which changes a project allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The viewpoints that count.
    pub viewpoints: Vec<Viewpoint>,
    /// The changes that are allowed anyway.
    pub exceptions: Vec<Exception>,
}

/// A change that is allowed until a date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The id of the rule.
    pub rule: String,
    /// The tool; every one if there is none.
    pub tool: Option<String>,
    /// The last day, as `YYYY-MM-DD`.
    pub until: String,
    /// The reason.
    pub because: String,
}

/// A change that the versions do not announce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breaking<'a> {
    /// The change.
    pub finding: &'a Finding,
    /// The viewpoints for which it is above what is allowed.
    pub viewpoints: Vec<Viewpoint>,
    /// The highest class that is allowed.
    pub allowed: Change,
}

impl Default for Policy {
    /// The people outside: callers, models and readers of results.
    fn default() -> Self {
        Self {
            viewpoints: vec![Viewpoint::Caller, Viewpoint::Model, Viewpoint::Reader],
            exceptions: Vec::new(),
        }
    }
}

impl Policy {
    /// Returns the changes that are above what the versions of their toolsets allow.
    pub fn breaking<'a>(
        &self,
        difference: &'a Difference,
        old: &Lock,
        new: &Lock,
    ) -> Vec<Breaking<'a>> {
        let excepted = self.exceptions.iter();
        let excepted: BTreeSet<(&str, Option<&str>)> = excepted
            .map(|exception| (exception.rule.as_str(), exception.tool.as_deref()))
            .collect();
        let old_routes = old.routes();
        let of = |finding: &Finding| allowed(finding, difference, (old, &old_routes), new);
        // A tool may reuse thousands of names, and what it may do depends on all of them.
        let mut of_reused: BTreeMap<&str, Change> = BTreeMap::new();
        let breaking = |finding: &'a Finding| {
            let allowed = if finding.rule.id == rules::NAME_REUSED.id {
                *of_reused.entry(&finding.tool).or_insert_with(|| of(finding))
            } else {
                of(finding)
            };
            let is_excepted = [None, Some(finding.tool.as_str())]
                .iter()
                .any(|tool| excepted.contains(&(finding.rule.id, *tool)));
            let above = self.viewpoints.iter().copied();
            let viewpoints: Vec<Viewpoint> =
                above.filter(|viewpoint| finding.classes.of(*viewpoint) > allowed).collect();
            (!viewpoints.is_empty() && !is_excepted).then_some(Breaking {
                finding,
                viewpoints,
                allowed,
            })
        };
        difference.findings.iter().filter_map(breaking).collect()
    }

    /// Returns the exceptions that have ended before a day, `YYYY-MM-DD`.
    pub fn expired(&self, today: &str) -> Vec<&Exception> {
        self.exceptions.iter().filter(|exception| exception.until.as_str() < today).collect()
    }
}

/// Returns the highest class that a change may have: that of the toolset, and of the one that the tool was in before. A name of
/// another tool also has that of the other's toolset, and a new toolset announces nothing about it.
fn allowed(
    finding: &Finding,
    difference: &Difference,
    (old, old_routes): (&Lock, &Routes<'_>),
    new: &Lock,
) -> Change {
    let name = &finding.tool;
    // The only change of a whole toolset has the name of the toolset.
    if finding.rule.id == rules::NON_EXHAUSTIVE_CHANGED.id {
        return of_toolset(name, old, new);
    }
    let was = difference.renamed.get(name).unwrap_or(name);
    let (was, is) = (old.tools.get(was), new.tools.get(name));
    let is_reused = finding.rule.id == rules::NAME_REUSED.id;
    let names = is.filter(|_| is_reused).into_iter().flat_map(|is| is.aliases.iter().chain([name]));
    let others = names.filter_map(|name| old.tools.get(*old_routes.get(name.as_str())?));
    let toolsets = was.into_iter().chain(is).chain(others).map(|tool| &tool.toolset);
    let toolsets = toolsets.filter(|toolset| !is_reused || old.toolsets.contains_key(*toolset));
    toolsets.map(|toolset| of_toolset(toolset, old, new)).min().unwrap_or(Change::Minor)
}

/// Returns the highest class of changes in a toolset. Without versions, that is a minor one; all in a new toolset is allowed, and
/// a first version announces everything.
fn of_toolset(toolset: &str, old: &Lock, new: &Lock) -> Change {
    let version = |lock: &Lock| version::numbers(lock.toolsets.get(toolset)?.version.as_ref()?);
    match (version(old), version(new)) {
        _ if !old.toolsets.contains_key(toolset) => Change::Major,
        (Some(was), Some(is)) => announced(was, is),
        (None, Some(_)) => Change::Major,
        (None, None) => Change::Minor,
        (Some(_), None) => Change::None,
    }
}

/// Returns the highest class that a new version announces (semver.org, 4, 6 to 8). Before 1.0.0, the second number announces
/// what may break, as for cargo.
fn announced(was: [u64; 3], is: [u64; 3]) -> Change {
    if is <= was {
        return Change::None;
    }
    let [major, minor, _] = was;
    if is[0] > major || major == 0 && is[1] > minor {
        Change::Major
    } else if is[1] > minor || major == 0 {
        Change::Minor
    } else {
        Change::Patch
    }
}

#[cfg(test)]
mod tests {
    use super::announced;
    use crate::classes::Change::{self, Major, Minor, None, Patch};

    #[test]
    fn versions_announce_changes_as_semver_says() {
        let cases: [([u64; 3], [u64; 3], Change); 9] = [
            ([1, 2, 3], [1, 2, 3], None),
            ([1, 2, 3], [1, 2, 2], None),
            ([1, 2, 3], [1, 2, 4], Patch),
            ([1, 2, 3], [1, 3, 0], Minor),
            ([1, 2, 3], [2, 0, 0], Major),
            ([0, 2, 3], [0, 2, 4], Minor),
            ([0, 2, 3], [0, 3, 0], Major),
            ([0, 2, 3], [1, 0, 0], Major),
            ([2, 0, 0], [1, 9, 9], None),
        ];
        for (was, is, expected) in cases {
            assert_eq!(announced(was, is), expected, "{was:?} {is:?}");
        }
    }
}
