//! Regular expressions of a schema: as JSON Schema wants, they may match anywhere in the string.
//!
//! Most patterns of tools are one run of character classes after another, such as `^[A-Z]{2,8}-[0-9]+$`. Those are
//! matched here, in one look at each byte; `regex-lite` does the rest.

use std::sync::OnceLock;

use regex_lite::Regex;

use super::issues::Issues;
use super::runs::Runs;
use crate::issue::{IssueKind, shortened};

/// A regular expression of a schema, compiled when it is first used.
#[derive(Debug)]
pub struct Pattern {
    ecma: &'static str,
    regex: &'static str,
    compiled: OnceLock<Compiled>,
}

#[derive(Debug)]
enum Compiled {
    Runs(Runs),
    Regex(Regex),
    /// Not a regular expression: it matches nothing.
    Broken,
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
        match self.compiled.get_or_init(|| compile(self.regex)) {
            Compiled::Runs(runs) => runs.match_whole(text.as_bytes()),
            Compiled::Regex(regex) => regex.is_match(text),
            Compiled::Broken => false,
        }
    }

    pub(super) fn check(&self, text: &str, issues: &mut Issues) -> bool {
        let matches = self.matches(text);
        if !matches {
            issues.add(IssueKind::Pattern { pattern: self.ecma, found: shortened(text) });
        }
        matches
    }
}

fn compile(regex: &str) -> Compiled {
    if let Some(runs) = Runs::parse(regex) {
        return Compiled::Runs(runs);
    }
    Regex::new(regex).map_or(Compiled::Broken, Compiled::Regex)
}
