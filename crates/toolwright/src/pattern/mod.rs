//! Patterns of JSON Schema: ECMA-262 regular expressions with the `u` flag (2020-12 core, section 6.4), which may match
//! anywhere in a string. They are translated for one of several engines.

mod backtrack;
mod class;
mod known;
mod parse;
mod property;
mod runs;
mod translate;
mod tree;

use std::fmt;
use std::sync::Arc;

pub use translate::{Engine, Translated, translate};

use backtrack::Backtracker;
use parse::parse;
pub(crate) use property::is_property;
use runs::Runs;

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Pattern {
    compiled: Compiled,
    /// See [`Translated::steps_per_byte`].
    steps_per_byte: u64,
}

/// The number of instructions of a linear pattern that count as one step at a byte, and of runs that do at a text.
const INSTRUCTIONS_PER_STEP: u64 = 8;

impl Translated {
    /// The largest number of steps of a match for a byte of a text. Not used by the backtracking engine, which counts its steps.
    pub fn steps_per_byte(&self) -> u64 {
        if self.is_runs() { 1 } else { (self.weight / INSTRUCTIONS_PER_STEP).max(1) }
    }

    fn is_runs(&self) -> bool {
        matches!(self.engine, Engine::Linear) && Runs::parse(&self.regex).is_some()
    }
}

/// Most patterns of tools are sequences of runs of character classes, such as `^[A-Z]{2,8}-[0-9]+$`. `Runs` matches
/// these in a single pass; `regex-lite` matches nearly all others.
#[derive(Clone, Debug)]
enum Compiled {
    Runs(Runs),
    Lite(Arc<regex_lite::Regex>),
    Backtracking(Arc<Backtracker>),
}

impl Compiled {
    /// Compiles a translated text that is no sequence of runs.
    fn new(regex: &str, engine: Engine) -> Result<Self, PatternError> {
        Ok(match engine {
            Engine::Linear => {
                let regex = regex_lite::Regex::new(regex).map_err(engine_error)?;
                Self::Lite(Arc::new(regex))
            }
            Engine::Backtracking => Self::Backtracking(Arc::new(Backtracker::new(regex)?)),
        })
    }
}

impl Pattern {
    /// Compiles an ECMA-262 pattern.
    ///
    /// # Errors
    ///
    /// If the pattern is invalid or cannot be translated: see [`translate`].
    pub fn new(ecma: &str) -> Result<Self, PatternError> {
        Self::from_translated(&translate(ecma)?)
    }

    /// Compiles a pattern that [`translate`] returned.
    ///
    /// # Errors
    ///
    /// If the engine does not accept the translation.
    pub fn from_translated(translated: &Translated) -> Result<Self, PatternError> {
        Self::compile(&translated.regex, translated.engine, translated.steps_per_byte())
    }

    /// Returns the steps of a pattern that take memory once it is compiled. Sequences of runs take nearly none.
    pub(crate) fn steps(translated: &Translated) -> u64 {
        if translated.is_runs() { 0 } else { translated.weight }
    }

    /// Compiles a translated text, unless an equal one was compiled before.
    pub(crate) fn compile(
        regex: &str,
        engine: Engine,
        steps_per_byte: u64,
    ) -> Result<Self, PatternError> {
        let runs = if engine == Engine::Linear { Runs::parse(regex) } else { None };
        let compiled = match runs {
            Some(runs) => Compiled::Runs(runs),
            None => known::compiled(
                regex,
                engine,
                steps_per_byte.saturating_mul(INSTRUCTIONS_PER_STEP),
            )?,
        };
        Ok(Self { compiled, steps_per_byte })
    }

    /// Returns true if the pattern matches somewhere in the text.
    ///
    /// # Errors
    ///
    /// If the match takes too many steps. Patterns of [`Engine::Linear`] do not fail.
    pub fn is_match(&self, text: &str) -> Result<bool, TooCostly> {
        let mut unlimited = u64::MAX;
        self.is_match_within(text, &mut unlimited)
    }

    /// Returns true if the pattern matches somewhere in the text, and subtracts the steps from those that are left of a
    /// budget. The limit of [`is_match`](Self::is_match) applies, too. For a pattern of [`Engine::Linear`] the steps of
    /// the worst case are subtracted.
    ///
    /// # Errors
    ///
    /// If the match takes too many steps, or more than are left.
    pub fn is_match_within(&self, text: &str, left: &mut u64) -> Result<bool, TooCostly> {
        // An empty text takes a step, too: a schema may have many patterns.
        let bytes = text.len().max(1) as u64;
        match &self.compiled {
            Compiled::Runs(runs) => {
                spend(left, bytes + runs.len() as u64 / INSTRUCTIONS_PER_STEP)?;
                Ok(runs.is_match(text.as_bytes()))
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

fn engine_error(error: impl fmt::Display) -> PatternError {
    PatternError { offset: 0, message: error.to_string(), help: None }
}

/// An error in a pattern. It displays as the message and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    offset: usize,
    message: String,
    help: Option<String>,
}

impl PatternError {
    /// The position of the error: the number of characters (code points) before it.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The message, without the position.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Advice on how to write the pattern instead, if there is any.
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

/// The error for a match that takes too many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooCostly {
    /// The limit of steps.
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
