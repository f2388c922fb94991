//! The error for what is no lock.

use std::fmt;

/// Why a lock or a listing cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockError(pub(crate) String);

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LockError {}
