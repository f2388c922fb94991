//! The limits of a schema on the keys of an object (2020-12 validation, section 6.5; core, section 10.3.2.4).

use std::collections::HashSet;

use super::Length;
use super::issues::Issues;
use super::limits::unless_any;
use super::positions::SHORT;
use crate::issue::{Issue, IssueKind, Names};

/// The limits of an object: the number of its properties, their names, and properties that require others.
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    minimum: u64,
    maximum: u64,
    names: Option<Length>,
    dependent: &'static [(&'static str, &'static [&'static str])],
}

impl Properties {
    /// Any properties.
    pub const ANY: Self = Self { minimum: 0, maximum: u64::MAX, names: None, dependent: &[] };

    /// An object with this many properties, inclusively.
    #[must_use]
    pub const fn between(minimum: u64, maximum: u64) -> Self {
        Self { minimum, maximum, ..Self::ANY }
    }

    /// Sets the minimum number of properties.
    #[must_use]
    pub const fn at_least(self, minimum: u64) -> Self {
        Self { minimum, ..self }
    }

    /// Sets the maximum number of properties.
    #[must_use]
    pub const fn at_most(self, maximum: u64) -> Self {
        Self { maximum, ..self }
    }

    /// Sets the limits of the names.
    #[must_use]
    pub const fn named(self, names: Length) -> Self {
        Self { names: Some(names), ..self }
    }

    /// Sets the properties that require others: each with the list of those that it requires.
    #[must_use]
    pub const fn dependent(
        self,
        dependent: &'static [(&'static str, &'static [&'static str])],
    ) -> Self {
        Self { dependent, ..self }
    }

    /// The minimum number of properties.
    pub const fn minimum(self) -> u64 {
        self.minimum
    }

    /// The maximum number of properties, if there is one.
    pub const fn maximum(self) -> Option<u64> {
        unless_any(self.maximum)
    }

    /// Returns true if the keys of an object, which must be unique, are within the limits; otherwise records the
    /// issues.
    pub(super) fn check<'k>(
        &self,
        keys: impl Iterator<Item = &'k str> + Clone,
        issues: &mut Issues,
    ) -> bool {
        let mark = issues.count();
        let count = keys.clone().count() as u64;
        if count < self.minimum {
            refuse_count(count, "at least", self.minimum, "required", issues);
        } else if count > self.maximum {
            refuse_count(count, "at most", self.maximum, "allowed", issues);
        }
        if let Some(names) = self.names {
            keys.clone().for_each(|key| check_name(names, key, issues));
        }
        if !self.dependent.is_empty() {
            self.check_dependent(keys, issues);
        }
        issues.count() == mark
    }

    /// Each name takes a step: the lists may be long, and there may be many objects.
    fn check_dependent<'k>(
        &self,
        keys: impl Iterator<Item = &'k str> + Clone,
        issues: &mut Issues,
    ) {
        let is_short = keys.clone().nth(SHORT).is_none();
        let index: HashSet<&str> = if is_short { HashSet::new() } else { keys.clone().collect() };
        let has = |wanted: &str| {
            if is_short { keys.clone().any(|key| key == wanted) } else { index.contains(wanted) }
        };
        let mut missing = HashSet::new();
        for (key, needed) in self.dependent {
            if !issues.spend(1) {
                return;
            }
            if !has(key) {
                continue;
            }
            if !issues.spend(needed.len()) {
                return;
            }
            for key in needed.iter().filter(|key| !has(key)) {
                if missing.insert(*key) {
                    issues.add_under(key, || IssueKind::Missing { one_of: Names::default() });
                }
            }
        }
    }
}

#[cold]
fn refuse_count(count: u64, side: &str, limit: u64, what: &str, issues: &mut Issues) {
    let keys = if count == 1 { "key" } else { "keys" };
    let message = format!("has {count} {keys}, {side} {limit} {what}");
    issues.add(IssueKind::Schema { message });
}

fn check_name(names: Length, key: &str, issues: &mut Issues) {
    let mut found = Issues::within(issues.steps);
    let fits = names.check(key, &mut found);
    issues.steps = found.steps;
    if found.has_given_up() {
        let limit = issues.limit;
        issues.give_up(Issue::new("", IssueKind::TooCostly { limit }));
    } else if !fits {
        issues.add_under(key, || {
            let why: Vec<_> = found.since(0).iter().map(Issue::message).collect();
            let message = format!("the key is not allowed: {}", why.join("; "));
            IssueKind::Schema { message }
        });
    }
}
