//! The issues of a payload while it is read or written.
//!
//! Pointers cost nothing until something is wrong: an issue starts without a path, and each object and
//! array it is handed up through puts its own segment in front.

use crate::issue::{InvalidPayload, Issue, IssueKind, MAX_STEPS};
use crate::pointer::escaped;

/// How many issues there is room for at first: enough for most invalid payloads.
const ROOM: usize = 8;

/// How many issues of one payload are kept.
const KEPT: usize = 1_000;

/// Issues, the oldest first, and how much work may still be put into finding them.
pub(super) struct Issues {
    /// The first ones.
    found: Vec<Issue>,
    /// How many there are besides.
    dropped: usize,
    /// The steps that are left for all validators and patterns that look at the payload.
    pub(super) steps: u64,
    /// How many there were.
    pub(super) limit: u64,
    /// Whether it is said that nobody knows what else is wrong.
    has_given_up: bool,
}

impl Default for Issues {
    fn default() -> Self {
        Self::within(MAX_STEPS)
    }
}

impl Issues {
    /// None so far, and so many steps to find some in.
    pub(super) fn within(steps: u64) -> Self {
        Self { found: Vec::new(), dropped: 0, steps, limit: steps, has_given_up: false }
    }

    /// How many there are: a mark to compare with later.
    pub(super) fn count(&self) -> usize {
        self.found.len() + self.dropped
    }

    /// Records an issue of the value at hand.
    #[cold]
    pub(super) fn add(&mut self, kind: IssueKind) {
        if self.found.is_empty() {
            self.found.reserve_exact(ROOM);
        }
        self.push(Issue::new(String::new(), kind));
    }

    /// Records why nobody knows what else is wrong with the payload. The first reason is the only one.
    #[cold]
    pub(super) fn give_up(&mut self, reason: Issue) {
        self.steps = 0;
        if !std::mem::replace(&mut self.has_given_up, true) {
            self.push(reason);
        }
    }

    /// Records an issue of an entry of the object at hand.
    #[cold]
    pub(super) fn add_under(&mut self, key: &str, kind: IssueKind) {
        let mark = self.count();
        self.add(kind);
        self.under_key(mark, key);
    }

    /// Records an issue whose pointer is relative to the value at hand.
    pub(super) fn push(&mut self, issue: Issue) {
        if self.found.len() < KEPT {
            self.found.push(issue);
        } else {
            self.dropped += 1;
        }
    }

    /// The issues since a mark, their pointers relative to the value at hand.
    pub(super) fn since(&self, mark: usize) -> &[Issue] {
        self.found.get(mark..).unwrap_or_default()
    }

    /// All issues since the mark happened under this key.
    #[cold]
    pub(super) fn under_key(&mut self, mark: usize, key: &str) {
        self.under(mark, &escaped(key));
    }

    /// All issues since the mark happened in this item.
    #[cold]
    pub(super) fn under_index(&mut self, mark: usize, index: usize) {
        self.under(mark, &index.to_string());
    }

    fn under(&mut self, mark: usize, segment: &str) {
        for issue in self.found.iter_mut().skip(mark) {
            issue.put_under(segment);
        }
    }

    /// Null was allowed too where a value of the wrong kind was found.
    pub(super) fn allow_null(&mut self, mark: usize) {
        for issue in self.found.iter_mut().skip(mark) {
            issue.allow_null();
        }
    }

    /// The error that holds all issues, if there are any.
    pub(super) fn finish(self) -> Option<InvalidPayload> {
        if self.found.is_empty() { None } else { Some(InvalidPayload::new(self.found)) }
    }
}
