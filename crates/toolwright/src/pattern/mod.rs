//! Patterns of JSON Schema: ECMA-262 regular expressions with the `u` flag (2020-12 core, 6.4), which may match anywhere
//! in a string. They are translated for an engine and mean the same wherever they stand.

mod backtrack;
mod class;
mod parse;
mod property;
mod runs;
mod translate;
mod tree;

use std::fmt;

pub use translate::{Engine, Translated, translate};

use backtrack::Backtracker;
use parse::parse;
pub(crate) use property::is_property;
use runs::Runs;

/// A regular expression, ready to be matched.
#[derive(Clone, Debug)]
pub struct Pattern {
    compiled: Compiled,
}

/// Most patterns of tools are one run of character classes after another, such as `^[A-Z]{2,8}-[0-9]+$`. Those are
/// matched in one look at each byte; `regex-lite` matches nearly all others.
#[derive(Clone, Debug)]
enum Compiled {
    Runs(Runs),
    Lite(regex_lite::Regex),
    Backtracking(Backtracker),
}

impl Pattern {
    /// Compiles an ECMA-262 pattern.
    ///
    /// # Errors
    ///
    /// A pattern that is not valid, or that cannot be translated: see [`translate`].
    pub fn new(ecma: &str) -> Result<Self, PatternError> {
        Self::from_translated(&translate(ecma)?)
    }

    /// Compiles what [`translate`] returned.
    ///
    /// # Errors
    ///
    /// A text that the engine does not take.
    pub fn from_translated(translated: &Translated) -> Result<Self, PatternError> {
        let Translated { regex, engine, .. } = translated;
        Self::compile(regex, *engine)
    }

    /// Compiles a translated text.
    pub(crate) fn compile(regex: &str, engine: Engine) -> Result<Self, PatternError> {
        match engine {
            Engine::Linear => {
                let compiled = match Runs::parse(regex) {
                    Some(runs) => Compiled::Runs(runs),
                    None => Compiled::Lite(regex_lite::Regex::new(regex).map_err(unusable)?),
                };
                Ok(Self { compiled })
            }
            Engine::Backtracking => {
                Ok(Self { compiled: Compiled::Backtracking(Backtracker::new(regex)?) })
            }
        }
    }

    /// Whether the pattern matches somewhere in the text.
    ///
    /// # Errors
    ///
    /// Too many steps are needed to find out. A pattern of [`Engine::Linear`] never fails.
    pub fn is_match(&self, text: &str) -> Result<bool, TooCostly> {
        let mut unlimited = u64::MAX;
        self.is_match_within(text, &mut unlimited)
    }

    /// Whether the pattern matches somewhere in the text, by the steps that are left of a budget and no more than
    /// [`is_match`](Self::is_match) takes. What a pattern of [`Engine::Linear`] does is not counted.
    ///
    /// # Errors
    ///
    /// Too many steps are needed to find out, or more than are left.
    pub fn is_match_within(&self, text: &str, left: &mut u64) -> Result<bool, TooCostly> {
        match &self.compiled {
            Compiled::Runs(runs) => Ok(runs.match_whole(text.as_bytes())),
            Compiled::Lite(regex) => Ok(regex.is_match(text)),
            Compiled::Backtracking(regex) => regex.is_match(text, left),
        }
    }
}

fn unusable(error: impl fmt::Display) -> PatternError {
    PatternError { offset: 0, message: error.to_string(), help: None }
}

/// What is wrong with a pattern. It displays as the message and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    offset: usize,
    message: String,
    help: Option<String>,
}

impl PatternError {
    /// How many characters (code points) of the pattern are before the place of the error.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What was found, without its place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How to write the pattern instead, where there is a way.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl PatternError {
    fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.message, self.offset + 1)
    }
}

impl std::error::Error for PatternError {}

/// A match needs more steps than a pattern may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooCostly {
    /// How many steps a match may take.
    pub limit: u64,
}

impl fmt::Display for TooCostly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot be matched within {} steps", self.limit)
    }
}

impl std::error::Error for TooCostly {}

#[cfg(test)]
mod tests;
