//! Limits the work for one project: compiling patterns and checking examples. The limits count steps, not time, so that the
//! result depends on the input alone.

use std::sync::Arc;

use toolwright::issue::IssueKind;
use toolwright::pattern::{self, PatternError, translate};
use toolwright::schema::Schema;
use toolwright::{InvalidPayload, Issue};

use super::{NodeId, Pattern, Schemas};

/// The most instructions of all different patterns of a project.
const MAX_INSTRUCTIONS: u64 = 300_000;

/// The cost of compiling a pattern regardless of its length, in instructions.
const OVERHEAD: u64 = 30;

/// The most steps for checking all examples and defaults, unless the input has more bytes.
const MAX_STEPS: u64 = 10_000_000;

/// The steps that take about as long as compiling a schema inside another one.
const STEPS_PER_SCHEMA: u64 = 16;

/// The remaining budget of a project.
#[derive(Clone, Debug)]
pub struct Budget {
    instructions: u64,
    steps: u64,
    exhausted: bool,
    /// The schema that was compiled last, if it could be: a schema may have thousands of examples.
    compiled: Option<(NodeId, Option<Arc<Schema>>)>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { instructions: MAX_INSTRUCTIONS, steps: MAX_STEPS, exhausted: false, compiled: None }
    }
}

impl Budget {
    /// Returns the budget for an input of some bytes.
    pub fn of(bytes: usize) -> Self {
        Self { steps: MAX_STEPS.max(bytes as u64), ..Self::default() }
    }

    /// Returns the instructions of all different patterns of some schemas.
    pub(crate) fn instructions_of(schemas: &Schemas) -> u64 {
        schemas.patterns.values().map(|pattern| pattern.translated.weight + OVERHEAD).sum()
    }

    /// Returns the instructions that a project with these schemas does not use.
    pub(crate) fn instructions_beside(schemas: &Schemas) -> u64 {
        MAX_INSTRUCTIONS.saturating_sub(Self::instructions_of(schemas))
    }

    /// Translates a pattern that is not known yet. Returns the reason and advice if it cannot be used.
    pub(super) fn translated(&mut self, ecma: &str) -> Result<Pattern, (String, Option<String>)> {
        let wrong = |error: PatternError| (error.to_string(), error.help().map(str::to_owned));
        let translated = translate(ecma).map_err(wrong)?;
        let cost = translated.weight + OVERHEAD;
        self.instructions = self.instructions.checked_sub(cost).ok_or_else(|| {
            let all = "the patterns of this project have";
            (format!("{all} more than {MAX_INSTRUCTIONS} steps in total"), None)
        })?;
        pattern::Pattern::from_translated(&translated).map_err(wrong)?;
        Ok(Pattern { ecma: ecma.to_owned(), translated: Arc::new(translated) })
    }

    /// Returns the schema of a node, compiled by `compile` unless it was the last one.
    pub(super) fn compiled(
        &mut self,
        node: NodeId,
        compile: impl FnOnce(&mut Self) -> Option<Schema>,
    ) -> Option<Arc<Schema>> {
        match &self.compiled {
            Some((known, schema)) if *known == node => schema.clone(),
            _ => {
                let schema = compile(self).map(Arc::new);
                self.compiled = Some((node, schema.clone()));
                schema
            }
        }
    }

    /// Checks a value. Accepts it if the budget is used up.
    pub(super) fn check(&mut self, schema: &Schema, json: &str) -> Result<(), InvalidPayload> {
        let is_costly = |issue: &Issue| matches!(issue.kind(), IssueKind::TooCostly { .. });
        match schema.check_within(json.as_bytes(), &mut self.steps) {
            Err(invalid) if invalid.issues().iter().any(is_costly) => {
                self.exhausted = true;
                Ok(())
            }
            verdict => verdict,
        }
    }

    /// Spends the steps for compiling some schemas; returns whether the budget was sufficient.
    pub(super) fn spend_schemas(&mut self, schemas: usize) -> bool {
        let left = self.steps.checked_sub(STEPS_PER_SCHEMA * schemas as u64);
        self.exhausted |= left.is_none();
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    /// Returns whether something was not checked because the budget was used up, and clears that flag.
    pub fn take_exhausted(&mut self) -> bool {
        std::mem::take(&mut self.exhausted)
    }
}
