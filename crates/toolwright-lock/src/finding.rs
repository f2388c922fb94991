//! Changes, with their places and their proof.

use serde::Serialize;

use crate::classes::Classes;
use crate::rules::Rule;

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub rule: &'static Rule,
    /// The tool: its name in the new version, or in the old one if it is gone.
    pub tool: String,
    /// Its places.
    pub at: Places,
    /// Its class for each viewpoint.
    pub classes: Classes,
    /// How that is known.
    pub proof: Proof,
    /// The smallest value at the place, as JSON, that one of the two versions accepts and the other does not.
    pub witness: Option<String>,
    /// The change in words: what it was, and what it is.
    pub words: String,
}

impl Finding {
    /// Returns about how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        let texts = [Some(&self.tool), self.at.old.as_ref(), self.at.new.as_ref()];
        let texts = texts.into_iter().chain([self.witness.as_ref(), Some(&self.words)]);
        size_of::<Self>() + texts.flatten().map(String::len).sum::<usize>()
    }
}

/// The places of a change, as JSON Pointers (RFC 6901) into the tools of the lock. There is none in a version without the part.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Places {
    /// In the old version.
    pub old: Option<String>,
    /// In the new version.
    pub new: Option<String>,
}

/// How it is known that two schemas accept different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// It follows from the keywords.
    Proved,
    /// A value shows it.
    Witness,
    /// It is not known: no value was found, and none was excluded. The classes are those of the worse case.
    Assumed,
}
