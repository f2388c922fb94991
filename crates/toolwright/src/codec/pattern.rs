//! Patterns in statics of generated code, compiled when they are first used.

use std::sync::OnceLock;

use super::issues::Issues;
use crate::issue::{Issue, IssueKind};
use crate::json::shortened;
use crate::pattern::{self, Engine, TooCostly};

/// Ends the compilation of what needs the tables of Unicode, where they are not there.
#[cfg(feature = "patterns")]
pub(super) const fn require_tables() {}

#[cfg(not(feature = "patterns"))]
pub(super) const fn require_tables() {
    panic!(
        "this pattern asks for properties of characters, or for letters beyond ASCII regardless of case: turn on the \
         feature `patterns` of `toolwright`"
    );
}

/// A regular expression of a schema.
#[derive(Debug)]
pub struct Pattern {
    ecma: &'static str,
    /// Its translation, made at generation.
    regex: Option<&'static str>,
    /// Nothing if it is not a regular expression.
    compiled: OnceLock<Option<pattern::Pattern>>,
}

impl Pattern {
    /// A pattern as the schema has it (ECMA-262) and translated to the syntax of `regex-lite`.
    ///
    /// The translation must be valid: a pattern that does not compile matches no string.
    pub const fn new(ecma: &'static str, regex: &'static str) -> Self {
        Self { ecma, regex: Some(regex), compiled: OnceLock::new() }
    }

    /// A pattern that is read as the schema has it, when it is first used: one that looks around or refers to groups.
    ///
    /// It must be valid and need no tables of Unicode: a pattern that does not compile matches no string.
    pub const fn untranslated(ecma: &'static str) -> Self {
        Self { ecma, regex: None, compiled: OnceLock::new() }
    }

    /// A pattern that is read as the schema has it, when it is first used, with the tables of Unicode.
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

    /// The pattern as the schema has it.
    pub const fn ecma(&self) -> &'static str {
        self.ecma
    }

    /// Whether the pattern matches somewhere in the string.
    ///
    /// # Errors
    ///
    /// Too many steps are needed to find out. That never happens to a translated pattern.
    pub fn is_match(&self, text: &str) -> Result<bool, TooCostly> {
        self.is_match_within(text, &mut { u64::MAX })
    }

    fn is_match_within(&self, text: &str, left: &mut u64) -> Result<bool, TooCostly> {
        let compile = || match self.regex {
            Some(regex) => pattern::Pattern::compile(regex, Engine::Linear).ok(),
            None => pattern::Pattern::new(self.ecma).ok(),
        };
        match self.compiled.get_or_init(compile) {
            // What was translated takes no more than the text is long.
            Some(compiled) if self.regex.is_some() => compiled.is_match(text),
            Some(compiled) => compiled.is_match_within(text, left),
            None => Ok(false),
        }
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
