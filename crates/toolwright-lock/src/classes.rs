//! How much a change matters to whom.

use std::fmt;

use serde::Serialize;

/// How much a change matters to one viewpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Not at all.
    #[default]
    None,
    /// Words changed, and no payload.
    Patch,
    /// Everything that worked still works, and something is new.
    Minor,
    /// Something that worked can fail.
    Major,
}

/// How much a change matters to whoever looked at a tool and allowed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Trust {
    /// The tool can do nothing that was not allowed.
    #[default]
    #[serde(rename = "same")]
    Same,
    /// Its words have to be read again.
    #[serde(rename = "review:text")]
    Text,
    /// It can do or get more.
    #[serde(rename = "review:capability")]
    Capability,
}

/// Those for whom a change has a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Viewpoint {
    /// Code and stored calls with the old arguments, sent to the new tool.
    Caller,
    /// Prompts, transcripts and evaluations with the old words.
    Model,
    /// Code that reads results with the old types.
    Reader,
    /// Code that answers calls, written for the old payloads and the old trait.
    Implementer,
    /// Code compiled against the generated crate.
    Rust,
}

/// The class of a change for each viewpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Classes {
    /// Code and stored calls with the old arguments, sent to the new tool.
    pub caller: Change,
    /// Prompts, transcripts and evaluations with the old words.
    pub model: Change,
    /// Code that reads results with the old types.
    pub reader: Change,
    /// Code that answers calls, written for the old payloads and the old trait.
    pub implementer: Change,
    /// Whoever looked at the tool and allowed it.
    pub trust: Trust,
    /// The API of the generated crate.
    #[serde(skip)]
    pub rust: Change,
}

impl Viewpoint {
    /// All viewpoints.
    pub const ALL: [Self; 5] =
        [Self::Caller, Self::Model, Self::Reader, Self::Implementer, Self::Rust];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Model => "model",
            Self::Reader => "reader",
            Self::Implementer => "implementer",
            Self::Rust => "rust",
        }
    }
}

impl Classes {
    /// Returns the class of a viewpoint.
    pub fn of(&self, viewpoint: Viewpoint) -> Change {
        match viewpoint {
            Viewpoint::Caller => self.caller,
            Viewpoint::Model => self.model,
            Viewpoint::Reader => self.reader,
            Viewpoint::Implementer => self.implementer,
            Viewpoint::Rust => self.rust,
        }
    }

    /// Returns the higher class of each viewpoint.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            caller: self.caller.max(other.caller),
            model: self.model.max(other.model),
            reader: self.reader.max(other.reader),
            implementer: self.implementer.max(other.implementer),
            trust: self.trust.max(other.trust),
            rust: self.rust.max(other.rust),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        })
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Same => "same",
            Self::Text => "review:text",
            Self::Capability => "review:capability",
        })
    }
}
