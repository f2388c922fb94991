//! The backtracking engine for patterns with lookarounds or backreferences, which stops after a limit of steps. It
//! follows ECMA-262 in every detail; no available library does that with a limit (docs/decisions/0005).

mod machine;
mod program;

use super::{PatternError, TooCostly, parse};
use program::Program;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Backtracker(Program);

impl Backtracker {
    pub(super) fn new(ecma: &str) -> Result<Self, PatternError> {
        Ok(Self(program::program(&parse(ecma)?)))
    }

    pub(super) fn is_match(&self, text: &str, left: &mut u64) -> Result<bool, TooCostly> {
        machine::is_match(&self.0, text, left)
    }
}
