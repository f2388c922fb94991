//! Errors of exporting and restoring suspended runs and calls.

use std::error::Error;
use std::fmt;
use std::io;

/// A suspended run or call cannot be exported or restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The secret of a key is too short.
    ShortKey {
        /// Its length in bytes.
        found: usize,
        /// The smallest length in bytes.
        expected: usize,
    },
    /// The state is too long to be sealed.
    TooLong,
    /// The text is not an exported state.
    Malformed,
    /// The state has the wrong kind, such as a call where a run is expected.
    WrongKind {
        /// The kind of the state.
        found: String,
        /// The expected kind.
        expected: &'static str,
    },
    /// The state has another version of the format.
    Version {
        /// The version of the state.
        found: String,
        /// The supported version.
        expected: u32,
    },
    /// The state is sealed, and the runtime has no key.
    NoKey,
    /// The text is an id, and the runtime has a key, so that it only accepts sealed states.
    NotSealed,
    /// The state was changed, or was sealed with a key that the runtime does not have.
    BrokenSeal,
    /// The store has no state with the id, or the state has expired.
    UnknownId,
    /// The store or the source of random numbers failed.
    Store {
        /// The error.
        reason: String,
    },
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortKey { found, expected } => write!(
                f,
                "the secret of the seal key has {found} bytes, expected {expected} or more; use random bytes"
            ),
            Self::TooLong => f.write_str("the suspended state is too long to be sealed"),
            Self::Malformed => f.write_str(
                "the text is not a suspended state; expected a text that `export` returned",
            ),
            Self::WrongKind { found, expected } => write!(
                f,
                "the text is a suspended {found}, expected a suspended {expected}; restore runs with the runtime and calls with a session"
            ),
            Self::Version { found, expected } => write!(
                f,
                "the suspended state has version {found}, expected {expected}; resume it with the release that exported it"
            ),
            Self::NoKey => f.write_str(
                "the suspended state is sealed, and this runtime has no key; set the key with `with_seal_keys`",
            ),
            Self::NotSealed => f.write_str(
                "the text is the id of a stored state, expected a sealed state, since this runtime has a key",
            ),
            Self::BrokenSeal => f.write_str(
                "the suspended state was changed, or was sealed with another key; pass that key to `with_seal_keys`, too",
            ),
            Self::UnknownId => f.write_str(
                "the store has no suspended state with this id; it has expired, or is in another store",
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
