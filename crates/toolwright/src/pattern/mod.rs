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
    /// How many steps a byte of a text takes at the worst; only what backtracks counts its own.
    steps_per_byte: u64,
}

/// How many instructions of a linear pattern are tried at a byte in one step.
const INSTRUCTIONS_PER_STEP: u64 = 8;

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
        let Translated { regex, engine, weight, .. } = translated;
        let compiled = Self::compile(regex, *engine)?;
        Ok(Self { steps_per_byte: (weight / INSTRUCTIONS_PER_STEP).max(1), ..compiled })
    }

    /// Compiles a translated text.
    pub(crate) fn compile(regex: &str, engine: Engine) -> Result<Self, PatternError> {
        let compiled = match engine {
            Engine::Linear => match Runs::parse(regex) {
                Some(runs) => Compiled::Runs(runs),
                None => Compiled::Lite(regex_lite::Regex::new(regex).map_err(unusable)?),
            },
            Engine::Backtracking => Compiled::Backtracking(Backtracker::new(regex)?),
        };
        Ok(Self { compiled, steps_per_byte: 1 })
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
    /// [`is_match`](Self::is_match) takes. A pattern of [`Engine::Linear`] takes what it would need at the worst.
    ///
    /// # Errors
    ///
    /// Too many steps are needed to find out, or more than are left.
    pub fn is_match_within(&self, text: &str, left: &mut u64) -> Result<bool, TooCostly> {
        let bytes = text.len() as u64;
        match &self.compiled {
            Compiled::Runs(runs) => {
                spend(left, bytes)?;
                Ok(runs.match_whole(text.as_bytes()))
            }
            Compiled::Lite(regex) => {
                spend(left, bytes.saturating_mul(self.steps_per_byte))?;
                Ok(regex.is_match(text))
            }
            Compiled::Backtracking(regex) => regex.is_match(text, left),
        }
    }
}

fn spend(left: &mut u64, steps: u64) -> Result<(), TooCostly> {
    *left = left.checked_sub(steps).ok_or(TooCostly { limit: *left })?;
    Ok(())
}

fn unusable(error: impl fmt::Display) -> PatternError {
    PatternError { offset: 0, message: error.to_string(), help: None }
}

/// An error in a pattern. It displays as the message and its place.
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

    /// The message, without its place.
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
