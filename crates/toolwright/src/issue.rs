//! What is wrong with a payload: one [`Issue`] a mistake, all of them in an [`InvalidPayload`].
//!
//! Finding issues is the codecs' work; this module only holds them and puts them into words.

mod kind;
mod nearest;
mod pointer;

use std::fmt;

pub(crate) use kind::OneOf;
pub use kind::{IssueKind, Names};
pub use nearest::{nearest, suggestion};
use pointer::Pointer;

use crate::value::{Map, Value};

/// How many steps checking one payload may take.
pub(crate) const MAX_STEPS: u64 = 20_000_000;

/// One mistake in a payload: where it is and what it is.
///
/// It displays as one short sentence that a model can act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    pointer: Pointer,
    kind: IssueKind,
}

impl Issue {
    /// An issue at a JSON Pointer (RFC 6901); the empty pointer is the whole payload.
    pub fn new(pointer: impl Into<String>, kind: IssueKind) -> Self {
        Self { pointer: Pointer::new(pointer.into()), kind }
    }

    /// Puts a segment, escaped already, in front of the pointer: the value at hand is inside another.
    pub(crate) fn put_under(&mut self, segment: &str) {
        self.pointer.put_under(segment);
    }

    /// Says that null would have been right too, if a value of the wrong kind was found at hand.
    pub(crate) fn allow_null(&mut self) {
        match &mut self.kind {
            IssueKind::Type { expected, .. } if self.pointer.as_str().is_empty() => {
                expected.to_mut().push_str(" or null");
            }
            _ => {}
        }
    }

    /// Where the mistake is: a JSON Pointer (RFC 6901), empty for the whole payload.
    pub fn pointer(&self) -> &str {
        self.pointer.as_str()
    }

    /// The kind of the mistake.
    pub fn kind(&self) -> &IssueKind {
        &self.kind
    }

    /// A stable word for the kind of mistake, such as `missing` or `too_long`.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// The sentence without the place.
    pub fn message(&self) -> String {
        self.kind.to_string()
    }

    /// The issue as data: `pointer`, `code`, `message` and, where they apply, `expected`, `found` and `limit`.
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

impl fmt::Display for Issue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer() {
            "" => write!(out, "the payload: {}", self.kind),
            pointer => write!(out, "`{pointer}`: {}", self.kind),
        }
    }
}

/// A payload that breaks its schema, with every issue that was found in one pass.
///
/// It displays as one sentence a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPayload {
    issues: Vec<Issue>,
}

impl InvalidPayload {
    /// An error that lists these issues.
    pub fn new(issues: Vec<Issue>) -> Self {
        Self { issues }
    }

    /// The issues, in the order in which they were met.
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// The issues as data: an array of what [`Issue::to_value`] returns.
    pub fn to_value(&self) -> Value {
        Value::Array(self.issues.iter().map(Issue::to_value).collect())
    }
}

impl fmt::Display for InvalidPayload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, issue) in self.issues.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(out, "{separator}{issue}")?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidPayload {}
