//! Losses: the differences between a canonical schema and its wire schema.

use std::fmt;

use toolwright::value::{Map, Value};

/// A difference between a canonical schema and its wire schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The kind of difference.
    pub kind: LossKind,
    /// The place in the canonical schema: a JSON Pointer (RFC 6901), with the keyword where there is one.
    pub at: String,
    /// The keyword, or the name of a policy for narrowing: `unnamed_keys`, `absent`.
    pub keyword: String,
    /// The keyword's value in the canonical schema; null if there is none.
    pub was: Value,
    /// The sentence or the construct that replaces it in the wire schema; empty if nothing does.
    pub now: String,
    /// The [`Transform`](crate::Transform), by name.
    pub by: &'static str,
}

impl Loss {
    /// Returns the loss as data, as the command prints it.
    pub fn to_value(&self) -> Value {
        Value::Object(Map::from([
            ("kind", Value::from(self.kind.as_str())),
            ("at", Value::from(self.at.as_str())),
            ("keyword", Value::from(self.keyword.as_str())),
            ("was", self.was.clone()),
            ("now", Value::from(self.now.as_str())),
            ("by", Value::from(self.by)),
        ]))
    }
}

/// The kind of a loss, from harmless to severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LossKind {
    /// Only text for people and models is lost or changed.
    Annotation,
    /// A rule became a sentence in a description. The codec enforces it.
    Enforcement,
    /// The wire schema accepts values that do not encode a canonical value.
    Widening,
    /// Some canonical value has no encoding.
    Narrowing,
    /// The dialect cannot express the schema.
    Refused,
}

impl LossKind {
    /// The kind as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Annotation => "annotation",
            Self::Enforcement => "enforcement",
            Self::Widening => "widening",
            Self::Narrowing => "narrowing",
            Self::Refused => "refused",
        }
    }
}

impl fmt::Display for LossKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The guarantees of a projection, from best to worst.
///
/// Let C be the values of the canonical schema and W those of the wire schema. In each class, `decode` reverses
/// `encode`, the results of `encode` are in W, and the codec checks those of `decode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// All of C can be encoded, and all of W decoded into C.
    Lossless,
    /// All of C can be encoded.
    Widened,
    /// Some of C cannot be encoded.
    Narrowed,
    /// There is no wire schema.
    Refused,
}

impl Class {
    /// All classes, in order.
    pub const ALL: [Self; 4] = [Self::Lossless, Self::Widened, Self::Narrowed, Self::Refused];

    /// The class as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lossless => "lossless",
            Self::Widened => "widened",
            Self::Narrowed => "narrowed",
            Self::Refused => "refused",
        }
    }

    pub(crate) fn of(losses: &[Loss]) -> Self {
        match losses.iter().map(|loss| loss.kind).max() {
            None | Some(LossKind::Annotation) => Self::Lossless,
            Some(LossKind::Enforcement | LossKind::Widening) => Self::Widened,
            Some(LossKind::Narrowing) => Self::Narrowed,
            Some(LossKind::Refused) => Self::Refused,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
