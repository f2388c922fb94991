//! Policies: which losses a project allows.

use std::fmt;

use serde::Deserialize;

use crate::loss::{Loss, LossKind};

/// Which losses a project allows, and how two constructs without a form of their own are expressed. Keys that are not set
/// have the defaults below.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// For rules that only become sentences, and for values that only the wire schema accepts. Allowed by default.
    pub widened: Option<Level>,
    /// For objects whose schema does not mention other keys and which are closed on the wire. Allowed by default.
    pub unnamed_keys: Option<Level>,
    /// For properties that are optional and nullable, whose absence has no form on the wire. A warning by default.
    pub absent: Option<Absent>,
    /// For other values that have no form on the wire. An error by default; no transform has such a loss so far.
    pub narrowed: Option<Level>,
    /// For tools that have no wire schema. An error by default.
    pub refused: Option<Level>,
    /// For schemas that refer to themselves, where a dialect has no form for that. They are refused by default.
    pub recursion: Option<Unroll>,
    /// The reason, for people.
    pub because: Option<String>,
}

impl Policy {
    /// Returns how a loss is judged.
    pub fn level(&self, loss: &Loss) -> Level {
        match (loss.kind, loss.keyword.as_str()) {
            (LossKind::Annotation, _) => Level::Allow,
            (LossKind::Enforcement | LossKind::Widening, _) => self.widened.unwrap_or(Level::Allow),
            (LossKind::Narrowing, "unnamed_keys") => self.unnamed_keys.unwrap_or(Level::Allow),
            (LossKind::Narrowing, "absent") => match self.absent {
                Some(Absent::Level(level)) => level,
                Some(Absent::Wrap) => Level::Allow,
                None => Level::Warn,
            },
            (LossKind::Narrowing, _) => self.narrowed.unwrap_or(Level::Deny),
            (LossKind::Refused, _) => self.refused.unwrap_or(Level::Deny),
        }
    }

    /// Returns the strictest judgment of all losses.
    pub fn worst(&self, losses: &[Loss]) -> Level {
        losses.iter().map(|loss| self.level(loss)).max().unwrap_or(Level::Allow)
    }

    /// Takes the keys that are not set from another policy.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        Self {
            widened: self.widened.or(other.widened),
            unnamed_keys: self.unnamed_keys.or(other.unnamed_keys),
            absent: self.absent.or(other.absent),
            narrowed: self.narrowed.or(other.narrowed),
            refused: self.refused.or(other.refused),
            recursion: self.recursion.or(other.recursion),
            because: self.because.or_else(|| other.because.clone()),
        }
    }

    pub(crate) fn wraps_absent(&self) -> bool {
        self.absent == Some(Absent::Wrap)
    }
}

/// How a loss is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// It is reported.
    Allow,
    /// It is a warning.
    Warn,
    /// It is an error.
    Deny,
}

/// How the absence of a property that is optional and nullable is sent, in dialects that require all properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Absent {
    /// It cannot be sent; the loss has this level.
    Level(Level),
    /// The value goes into an object with the key `value`, and null stands for absence.
    Wrap,
}

impl TryFrom<String> for Absent {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        Ok(match word.as_str() {
            "allow" => Self::Level(Level::Allow),
            "warn" => Self::Level(Level::Warn),
            "deny" => Self::Level(Level::Deny),
            "wrap" => Self::Wrap,
            _ => return Err(format!("found `{word}`, expected allow, warn, deny or wrap")),
        })
    }
}

/// How often a schema that refers to itself is written out, in dialects without recursion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Unroll {
    /// The schema is refused.
    Refuse,
    /// This many levels are written out; deeper values are sent as a string of JSON text.
    Levels(u8),
}

impl TryFrom<String> for Unroll {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        if word == "refuse" {
            return Ok(Self::Refuse);
        }
        let levels = word.strip_prefix("unroll:").and_then(|levels| levels.parse().ok());
        let levels = levels.filter(|levels| (1..=MOST_LEVELS).contains(levels));
        levels.map(Self::Levels).ok_or_else(|| {
            format!("found `{word}`, expected `refuse`, or `unroll:` and a number from 1 to {MOST_LEVELS}")
        })
    }
}

const MOST_LEVELS: u8 = 8;

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        })
    }
}
