//! Mistakes in payloads: an [`Issue`] for each mistake, and an [`InvalidPayload`] that holds them all.
//!
//! Codecs find the issues; this module holds them and writes their messages.

mod kind;
mod nearest;
mod pointer;

use std::fmt::{self, Write as _};

pub(crate) use kind::listed_values;
pub use kind::{IssueKind, Names};
pub use nearest::{nearest, suggestion};
use pointer::Pointer;

use crate::value::{Map, Value};

/// The limit of steps for checking one payload.
pub(crate) const MAX_STEPS: u64 = 20_000_000;

/// The limit of steps for explaining why a value is refused, which is part of [`MAX_STEPS`].
pub(crate) const MAX_EXPLANATION_STEPS: u64 = 1_000_000;

/// The largest number of issues that are kept for one payload.
pub(crate) const MAX_ISSUES: usize = 1_000;

/// The most bytes of the texts of one payload's issues together. A schema with many or long names may be in each of them.
const MAX_BYTES: usize = 1 << 20;

/// One mistake in a payload: its place and its kind.
///
/// It displays as a short sentence that helps a model to correct its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    pointer: Pointer,
    kind: IssueKind,
}

impl Issue {
    /// Creates an issue at a JSON Pointer (RFC 6901); the empty pointer is the whole payload.
    pub fn new(pointer: impl Into<String>, kind: IssueKind) -> Self {
        Self { pointer: Pointer::new(pointer.into()), kind }
    }

    /// Puts a segment, already escaped, in front of the pointer, as the issue is passed from a value to the one that
    /// contains it.
    pub(crate) fn prepend(&mut self, segment: &str) {
        self.pointer.prepend(segment);
    }

    /// Adds "or null" to the expected kind, if the issue is a wrong kind of the whole value.
    pub(crate) fn allow_null(&mut self) {
        match &mut self.kind {
            IssueKind::Type { expected, .. } if self.pointer.as_str().is_empty() => {
                expected.to_mut().push_str(" or null");
            }
            _ => {}
        }
    }

    /// The place of the mistake: a JSON Pointer (RFC 6901), empty for the whole payload.
    pub fn pointer(&self) -> &str {
        self.pointer.as_str()
    }

    /// The length of its pointer and its message in bytes.
    pub(crate) fn size(&self) -> usize {
        let mut size = Size(self.pointer().len());
        // Counting cannot fail.
        let _ = write!(size, "{}", self.kind);
        size.0
    }

    /// The kind of the mistake.
    pub fn kind(&self) -> &IssueKind {
        &self.kind
    }

    /// A stable word for the kind of mistake, such as `missing` or `too_long`.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// The sentence without the pointer.
    pub fn message(&self) -> String {
        self.kind.to_string()
    }

    /// The issue as a JSON object: `pointer`, `code`, `message` and, where they apply, `expected`, `found` and `limit`.
    pub fn to_value(&self) -> Value {
        let always = [
            ("pointer", Value::from(self.pointer())),
            ("code", Value::from(self.code())),
            ("message", Value::from(self.message())),
        ];
        let kind = &self.kind;
        let where_known =
            [("expected", kind.expected()), ("found", kind.found()), ("limit", kind.limit())];
        let known = where_known.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Value::Object(always.into_iter().chain(known).collect::<Map<Value>>())
    }
}

/// Counts the bytes of a text instead of writing it.
struct Size(usize);

impl fmt::Write for Size {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer() {
            "" => write!(out, "the payload: {}", self.kind),
            pointer => write!(out, "`{pointer}`: {}", self.kind),
        }
    }
}

/// The error for a payload that breaks its schema, with the issues that were found in one pass, at most 1,000.
///
/// It displays as one line for each issue, up to a mebibyte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPayload {
    issues: Vec<Issue>,
}

impl InvalidPayload {
    /// Creates an error with these issues.
    pub fn new(issues: Vec<Issue>) -> Self {
        Self { issues }
    }

    /// The issues, in the order in which they were found.
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// The issues as a JSON array of [`Issue::to_value`]. Issues beyond a mebibyte of texts are left out.
    pub fn to_value(&self) -> Value {
        Value::Array(self.shown().map(Issue::to_value).collect())
    }

    /// The first issue, and further ones while their texts take at most a mebibyte together. All issues can be much longer: each may
    /// list the same values of the schema.
    pub fn shown(&self) -> impl Iterator<Item = &Issue> {
        let within = |left: &mut usize, issue| {
            let before = *left;
            *left = left.saturating_sub(Issue::size(issue));
            (before > 0).then_some(issue)
        };
        self.issues.iter().scan(MAX_BYTES, within)
    }
}

impl fmt::Display for InvalidPayload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = 0;
        for issue in self.shown() {
            let separator = if shown == 0 { "" } else { "\n" };
            write!(out, "{separator}{issue}")?;
            shown += 1;
        }
        match self.issues.len() - shown {
            0 => Ok(()),
            more => write!(out, "\n{more} more"),
        }
    }
}

impl std::error::Error for InvalidPayload {}
