//! Collects the issues of a payload while it is read or written.
//!
//! Pointers cost nothing as long as there are no issues: an issue begins with an empty pointer, and each object and
//! array that contains the value puts its own segment in front.

use crate::issue::{InvalidPayload, Issue, IssueKind, MAX_ISSUES, MAX_STEPS};
use crate::pointer::escaped;

/// The initial capacity, enough for most invalid payloads.
const INITIAL_CAPACITY: usize = 8;

/// The most bytes of the pointers of issues that are in one value: a long key may be in many of them.
const MAX_POINTER_BYTES: usize = 1 << 20;

/// The issues, the oldest first, and the steps that are left for finding more.
pub(super) struct Issues {
    /// The issues that are kept.
    found: Vec<Issue>,
    /// The number of further issues.
    dropped: usize,
    /// The steps that are left for all validators and patterns.
    pub(super) steps: u64,
    /// The initial number of steps.
    pub(super) limit: u64,
    /// True once `give_up` has recorded its reason.
    has_given_up: bool,
}

impl Default for Issues {
    fn default() -> Self {
        Self::within(MAX_STEPS)
    }
}

impl Issues {
    /// No issues, with a limit of steps for finding some.
    pub(super) fn within(steps: u64) -> Self {
        Self { found: Vec::new(), dropped: 0, steps, limit: steps, has_given_up: false }
    }

    /// The number of issues, which also serves as a mark for [`since`](Self::since).
    pub(super) fn count(&self) -> usize {
        self.found.len() + self.dropped
    }

    /// Records an issue of the current value.
    #[cold]
    pub(super) fn add(&mut self, kind: IssueKind) {
        self.add_with(|| kind);
    }

    /// As [`add`](Self::add), for a kind with a text that is not needed if the issue is dropped.
    #[cold]
    pub(super) fn add_with(&mut self, kind: impl FnOnce() -> IssueKind) {
        if self.is_full() {
            self.dropped += 1;
            return;
        }
        if self.found.is_empty() {
            self.found.reserve_exact(INITIAL_CAPACITY);
        }
        self.found.push(Issue::new(String::new(), kind()));
    }

    /// Records why the check of the payload ends before all issues are found. Only the first reason is kept.
    #[cold]
    pub(super) fn give_up(&mut self, reason: Issue) {
        self.steps = 0;
        if !std::mem::replace(&mut self.has_given_up, true) {
            self.push(reason);
        }
    }

    /// Subtracts steps and returns true, or gives up if fewer are left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        match self.steps.checked_sub(steps as u64) {
            Some(left) => self.steps = left,
            None => self.give_up(Issue::new("", IssueKind::TooCostly { limit: self.limit })),
        }
        !self.has_given_up
    }

    /// Returns true if the check of the payload ended before all issues are found.
    pub(super) fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    /// Records an issue of an entry of the current object.
    #[cold]
    pub(super) fn add_under(&mut self, key: &str, kind: impl FnOnce() -> IssueKind) {
        let mark = self.count();
        self.add_with(kind);
        self.under_key(mark, key);
    }

    /// Records an issue whose pointer is relative to the current value.
    pub(super) fn push(&mut self, issue: Issue) {
        if self.is_full() {
            self.dropped += 1;
        } else {
            self.found.push(issue);
        }
    }

    /// Returns true if further issues are dropped. Once one was, all later ones are, since marks count issues.
    fn is_full(&self) -> bool {
        self.dropped > 0 || self.found.len() >= MAX_ISSUES
    }

    /// The issues since a mark, with pointers relative to the current value.
    pub(super) fn since(&self, mark: usize) -> &[Issue] {
        self.found.get(mark..).unwrap_or_default()
    }

    /// Puts a key in front of the pointers of all issues since the mark.
    #[cold]
    pub(super) fn under_key(&mut self, mark: usize, key: &str) {
        self.under(mark, &escaped(key));
    }

    /// Puts an index in front of the pointers of all issues since the mark.
    #[cold]
    pub(super) fn under_index(&mut self, mark: usize, index: usize) {
        self.under(mark, &index.to_string());
    }

    fn under(&mut self, mark: usize, segment: &str) {
        let mut left = MAX_POINTER_BYTES;
        for (place, issue) in self.found.iter_mut().enumerate().skip(mark) {
            issue.prepend(segment);
            left = left.saturating_sub(issue.pointer().len());
            if left == 0 {
                self.dropped += self.found.len() - place - 1;
                self.found.truncate(place + 1);
                return;
            }
        }
    }

    /// Adds that null is allowed to the issues since the mark.
    pub(super) fn allow_null(&mut self, mark: usize) {
        for issue in self.found.iter_mut().skip(mark) {
            issue.allow_null();
        }
    }

    /// Returns the error with all issues, if there are any.
    pub(super) fn finish(self) -> Option<InvalidPayload> {
        if self.found.is_empty() { None } else { Some(InvalidPayload::new(self.found)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_dropped_issue_is_not_made() {
        let (mut issues, mut made) = (Issues::default(), 0);
        for _ in 0..3 * MAX_ISSUES {
            issues.add_with(|| {
                made += 1;
                IssueKind::NotFinite
            });
        }
        assert_eq!((made, issues.count()), (MAX_ISSUES, 3 * MAX_ISSUES));
    }
}
