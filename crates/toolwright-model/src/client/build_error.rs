//! The error of a client that cannot be built.

use std::error::Error;
use std::fmt;

/// The error of an invalid setting. It shows no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    message: String,
}

impl BuildError {
    pub(super) fn new(message: String) -> Self {
        Self { message }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl Error for BuildError {}
