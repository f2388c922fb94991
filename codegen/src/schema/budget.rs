//! How much work one project may ask for: patterns to be compiled, examples to be held against them. Never measures
//! time, so that what is refused depends on the input alone.

use std::collections::BTreeMap;

use toolwright::issue::IssueKind;
use toolwright::pattern::{self, PatternError, translate};
use toolwright::schema::Schema;
use toolwright::{InvalidPayload, Issue};

use super::Pattern;

/// How many instructions all different patterns of a project may have together.
const MAX_INSTRUCTIONS: u64 = 300_000;

/// The cost of compiling any pattern, however short, in instructions.
const OVERHEAD: u64 = 30;

/// How many instructions may be tried on the characters of all examples and defaults.
const MAX_STEPS: u64 = 10_000_000;

/// The rest of a project's budget.
#[derive(Clone, Debug)]
pub struct Budget {
    known: BTreeMap<String, Pattern>,
    instructions: u64,
    steps: u64,
    exhausted: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            known: BTreeMap::new(),
            instructions: MAX_INSTRUCTIONS,
            steps: MAX_STEPS,
            exhausted: false,
        }
    }
}

impl Budget {
    /// Translates a pattern, or says why it cannot be used and how it could.
    pub(super) fn translated(&mut self, ecma: &str) -> Result<Pattern, (String, Option<String>)> {
        if let Some(pattern) = self.known.get(ecma) {
            return Ok(pattern.clone());
        }
        let wrong = |error: PatternError| (error.to_string(), error.help().map(str::to_owned));
        let translated = translate(ecma).map_err(wrong)?;
        let cost = translated.weight + OVERHEAD;
        self.instructions = self.instructions.checked_sub(cost).ok_or_else(|| {
            let all = "the patterns of this project have";
            (format!("{all} more than {MAX_INSTRUCTIONS} steps in all"), None)
        })?;
        pattern::Pattern::from_translated(&translated).map_err(wrong)?;
        let pattern = Pattern { ecma: ecma.to_owned(), translated };
        self.known.insert(ecma.to_owned(), pattern.clone());
        Ok(pattern)
    }

    /// Checks a value. Accepts it if the budget is used up.
    pub(super) fn judge(&mut self, schema: &Schema, json: &str) -> Result<(), InvalidPayload> {
        let is_costly = |issue: &Issue| matches!(issue.kind(), IssueKind::TooCostly { .. });
        match schema.check_within(json.as_bytes(), &mut self.steps) {
            Err(invalid) if invalid.issues().iter().any(is_costly) => {
                self.exhausted = true;
                Ok(())
            }
            verdict => verdict,
        }
    }

    /// Takes what looking at so many schemas costs; whether there is enough left.
    pub(super) fn spend(&mut self, schemas: usize) -> bool {
        let left = self.steps.checked_sub(schemas as u64);
        self.exhausted |= left.is_none();
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    /// Takes the flag that says whether something was not tried because the budget was used up.
    pub fn take_exhausted(&mut self) -> bool {
        std::mem::take(&mut self.exhausted)
    }
}
