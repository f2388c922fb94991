//! The engine for patterns that look around or refer to groups: it goes back where it has to, and stops after a number of
//! steps. It does what ECMA-262 says in every detail, which no library on offer does within a limit
//! (docs/decisions/0005).

mod machine;
mod program;

use super::{PatternError, TooCostly, parse};
use program::Program;

/// A pattern, ready to be matched.
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
