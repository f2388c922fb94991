//! Patterns in statics of generated code, compiled on first use.

use std::sync::OnceLock;

use super::issues::Issues;
use crate::issue::{Issue, IssueKind, MAX_EXPLANATION_STEPS};
use crate::json::shortened;
use crate::pattern::{self, Engine, TooCostly};

/// Fails to compile without the feature `patterns`, which has the Unicode tables.
#[cfg(feature = "patterns")]
pub(super) const fn require_tables() {}

#[cfg(not(feature = "patterns"))]
pub(super) const fn require_tables() {
    panic!(
        "this pattern has a Unicode property, or ignores the case of letters beyond ASCII: turn on the feature \
         `patterns` of `toolwright`"
    );
}

/// A regular expression of a schema.
#[derive(Debug)]
pub struct Pattern {
    ecma: &'static str,
    /// The translation that the compiler generated.
    regex: Option<&'static str>,
    /// The steps of a match for each byte of a text, if there is a translation.
    steps_per_byte: u64,
    /// `None` if the pattern is invalid.
    compiled: OnceLock<Option<pattern::Pattern>>,
}

impl Pattern {
    /// Creates a pattern from its text in the schema (ECMA-262) and its translation to the syntax of `regex-lite`.
    ///
    /// The translation must be valid: a pattern that does not compile matches no string.
    pub const fn new(ecma: &'static str, regex: &'static str) -> Self {
        Self { ecma, regex: Some(regex), steps_per_byte: 1, compiled: OnceLock::new() }
    }

    /// Sets the steps of a match for each byte of a text, from
    /// [`Translated::steps_per_byte`](crate::pattern::Translated::steps_per_byte): one, unless the pattern is large.
    #[must_use]
    pub const fn with_steps_per_byte(mut self, steps_per_byte: u64) -> Self {
        self.steps_per_byte = steps_per_byte;
        self
    }

    /// Creates a pattern without a translation, such as one with lookarounds or backreferences.
    ///
    /// It must be valid without the Unicode tables: a pattern that does not compile matches no string.
    pub const fn untranslated(ecma: &'static str) -> Self {
        Self { ecma, regex: None, steps_per_byte: 1, compiled: OnceLock::new() }
    }

    /// Creates a pattern without a translation, which needs the Unicode tables.
    ///
    /// It must be valid: a pattern that does not compile matches no string.
    ///
    /// # Panics
    ///
    /// At compile time, without the feature `patterns`.
    pub const fn with_tables(ecma: &'static str) -> Self {
        require_tables();
        Self::untranslated(ecma)
    }

    /// The pattern as written in the schema.
    pub const fn ecma(&self) -> &'static str {
        self.ecma
    }

    /// Returns true if the pattern matches somewhere in the string.
    ///
    /// # Errors
    ///
    /// If the match takes too many steps. Translated patterns do not fail.
    pub fn is_match(&self, text: &str) -> Result<bool, TooCostly> {
        self.is_match_within(text, &mut { u64::MAX })
    }

    fn is_match_within(&self, text: &str, left: &mut u64) -> Result<bool, TooCostly> {
        let compile = || match self.regex {
            Some(regex) => {
                pattern::Pattern::compile(regex, Engine::Linear, self.steps_per_byte).ok()
            }
            None => pattern::Pattern::new(self.ecma).ok(),
        };
        match self.compiled.get_or_init(compile) {
            Some(compiled) => compiled.is_match_within(text, left),
            None => Ok(false),
        }
    }

    /// Checks a text that is refused for its length, but only if that takes few steps.
    #[cold]
    pub(super) fn check_refused(&self, text: &str, issues: &mut Issues) {
        let given = issues.steps.min(MAX_EXPLANATION_STEPS);
        let mut left = given;
        if self.is_match_within(text, &mut left) == Ok(false) {
            issues.add(IssueKind::Pattern { pattern: self.ecma, found: shortened(text) });
        }
        issues.steps -= given - left;
    }

    pub(super) fn check(&self, text: &str, issues: &mut Issues) -> bool {
        let left = issues.steps;
        match self.is_match_within(text, &mut issues.steps) {
            Ok(true) => return true,
            Ok(false) => {
                issues.add(IssueKind::Pattern { pattern: self.ecma, found: shortened(text) });
            }
            Err(TooCostly { limit }) if limit < left => issues.add(IssueKind::TooCostly { limit }),
            Err(_) => {
                let limit = issues.limit;
                issues.give_up(Issue::new("", IssueKind::TooCostly { limit }));
            }
        }
        false
    }
}
