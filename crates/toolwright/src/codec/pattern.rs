//! Patterns in statics of generated code: translated at generation, compiled when they are first used.

use std::sync::OnceLock;

use super::issues::Issues;
use crate::issue::{IssueKind, shortened};
use crate::pattern::{self, Engine};

/// A regular expression of a schema.
#[derive(Debug)]
pub struct Pattern {
    ecma: &'static str,
    regex: &'static str,
    /// Nothing if the translation is not a regular expression.
    compiled: OnceLock<Option<pattern::Pattern>>,
}

impl Pattern {
    /// A pattern: as the schema has it (ECMA-262) and translated to the syntax of `regex-lite`.
    ///
    /// The translation must be valid: a pattern that does not compile matches no string.
    pub const fn new(ecma: &'static str, regex: &'static str) -> Self {
        Self { ecma, regex, compiled: OnceLock::new() }
    }

    /// Whether the pattern matches somewhere in the string.
    pub fn matches(&self, text: &str) -> bool {
        let compile = || pattern::Pattern::compile(self.regex, Engine::Linear).ok();
        let compiled = self.compiled.get_or_init(compile).as_ref();
        compiled.is_some_and(|compiled| compiled.is_match(text).is_ok_and(|matches| matches))
    }

    pub(super) fn check(&self, text: &str, issues: &mut Issues) -> bool {
        let matches = self.matches(text);
        if !matches {
            issues.add(IssueKind::Pattern { pattern: self.ecma, found: shortened(text) });
        }
        matches
    }
}
