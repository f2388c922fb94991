//! Why a suspended run does not leave a runtime, or does not come back.

use std::error::Error;
use std::fmt;
use std::io;

/// Why a suspended run or call cannot be exported or restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The secret of a key is too short.
    ShortKey {
        /// How many bytes it has.
        found: usize,
        /// How many it needs.
        expected: usize,
    },
    /// The state is longer than can be sealed.
    TooLong,
    /// The text is no exported state.
    Malformed,
    /// A state of another kind, such as a call where a run is expected.
    OtherKind {
        /// What the text holds.
        found: String,
        /// What was to be restored.
        expected: &'static str,
    },
    /// A state of another version. None is guessed at.
    Version {
        /// The version of the text.
        found: String,
        /// The one that is understood.
        expected: u32,
    },
    /// A sealed state, in a runtime without a key.
    NoKey,
    /// An id, in a runtime that has a key and so restores sealed states alone.
    NotSealed,
    /// A state that was changed, or sealed by a key that the runtime does not have.
    BrokenSeal,
    /// An id that nothing is kept under, or no more.
    UnknownId,
    /// The store or the source of random numbers failed.
    Store {
        /// Why.
        reason: String,
    },
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortKey { found, expected } => write!(
                f,
                "the secret of the seal key has {found} bytes, expected {expected} or more; take random ones"
            ),
            Self::TooLong => f.write_str("the suspended state is too long to be sealed"),
            Self::Malformed => f.write_str(
                "the text is no suspended state; expected what the export of one returned",
            ),
            Self::OtherKind { found, expected } => write!(
                f,
                "the text is a suspended {found}, expected a suspended {expected}; a runtime restores runs, a session calls"
            ),
            Self::Version { found, expected } => write!(
                f,
                "the suspended state is of version {found}, expected {expected}; resume it with the release that wrote it"
            ),
            Self::NoKey => f.write_str(
                "the suspended state is sealed, and this runtime has no key; set it with `with_seal_keys`",
            ),
            Self::NotSealed => f.write_str(
                "the text is the id of a kept state, expected a sealed one; this runtime has a key and takes nothing else",
            ),
            Self::BrokenSeal => f.write_str(
                "the suspended state was changed, or sealed by another key; give `with_seal_keys` that key too",
            ),
            Self::UnknownId => f.write_str(
                "no suspended state is kept under this id; it has expired, or another store keeps it",
            ),
            Self::Store { reason } => {
                write!(f, "the store of suspended states failed: {reason}")
            }
        }
    }
}

impl Error for StateError {}

impl From<io::Error> for StateError {
    fn from(error: io::Error) -> Self {
        Self::Store { reason: error.to_string() }
    }
}
