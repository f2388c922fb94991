//! The issues of a payload while it is read or written.
//!
//! Pointers cost nothing until something is wrong: an issue starts without a path, and each object and
//! array it is handed up through adds its own segment.

use crate::issue::{InvalidPayload, Issue, IssueKind};

/// Issues, the oldest first.
#[derive(Default)]
pub(super) struct Issues {
    pending: Vec<Pending>,
}

/// An issue whose path is still being found, from the inside out.
struct Pending {
    segments: Vec<String>,
    kind: IssueKind,
}

impl Issues {
    /// How many there are: a mark to compare with later.
    pub(super) fn count(&self) -> usize {
        self.pending.len()
    }

    /// Records an issue of the value at hand.
    #[cold]
    pub(super) fn add(&mut self, kind: IssueKind) {
        self.pending.push(Pending { segments: Vec::new(), kind });
    }

    /// Records an issue of an entry of the object at hand.
    #[cold]
    pub(super) fn add_under(&mut self, key: &str, kind: IssueKind) {
        self.pending.push(Pending { segments: vec![key.to_owned()], kind });
    }

    /// All issues since the mark happened under this key.
    #[cold]
    pub(super) fn under_key(&mut self, mark: usize, key: &str) {
        for issue in self.pending.iter_mut().skip(mark) {
            issue.segments.push(key.to_owned());
        }
    }

    /// All issues since the mark happened in this item.
    #[cold]
    pub(super) fn under_index(&mut self, mark: usize, index: usize) {
        self.under_key(mark, &index.to_string());
    }

    /// Null was allowed too where a value of the wrong kind was found.
    pub(super) fn allow_null(&mut self, mark: usize) {
        for issue in self.pending.iter_mut().skip(mark).filter(|issue| issue.segments.is_empty()) {
            if let IssueKind::Type { expected, .. } = &mut issue.kind {
                expected.push_str(" or null");
            }
        }
    }

    /// The error that holds all issues, if there are any.
    pub(super) fn finish(self) -> Option<InvalidPayload> {
        if self.pending.is_empty() {
            return None;
        }
        Some(InvalidPayload::new(self.pending.into_iter().map(Pending::into_issue).collect()))
    }
}

impl Pending {
    fn into_issue(self) -> Issue {
        let mut pointer = String::new();
        for segment in self.segments.iter().rev() {
            pointer.push('/');
            push_escaped(&mut pointer, segment);
        }
        Issue::new(pointer, self.kind)
    }
}

/// RFC 6901, section 3.
fn push_escaped(pointer: &mut String, segment: &str) {
    for character in segment.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            plain => pointer.push(plain),
        }
    }
}
