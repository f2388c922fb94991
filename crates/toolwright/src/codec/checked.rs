//! Checks values by a schema, for rules that a Rust type cannot express.

use std::fmt;
use std::sync::OnceLock;

use super::issues::Issues;
use super::pattern::require_tables;
use crate::issue::{Issue, IssueKind};
use crate::pointer::unescaped;
use crate::schema::{Document, Evaluation, ROOT, Schema, SchemaError};

/// A JSON Schema (2020-12) for rules that a Rust type cannot express, compiled on first use.
pub struct Validator {
    schema: &'static str,
    rules: &'static [&'static str],
    compiled: OnceLock<Result<Schema, SchemaError>>,
}

impl Validator {
    /// Creates a validator from a schema, as JSON text, and the keywords of its root that the type does not express.
    pub const fn new(schema: &'static str, rules: &'static [&'static str]) -> Self {
        Self { schema, rules, compiled: OnceLock::new() }
    }

    /// Creates a validator from a schema with a pattern that needs the Unicode tables.
    ///
    /// # Panics
    ///
    /// At compile time, without the feature `patterns`.
    pub const fn with_tables(schema: &'static str, rules: &'static [&'static str]) -> Self {
        require_tables();
        Self::new(schema, rules)
    }

    fn schema(&self) -> Result<&Schema, IssueKind> {
        let compiled = self.compiled.get_or_init(|| Schema::new(self.schema));
        compiled.as_ref().map_err(|error| IssueKind::Schema {
            message: format!("cannot be checked: its schema is wrong: {error}"),
        })
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Validator").field(&self.schema).finish()
    }
}

/// The evaluations of one value of a payload, one for each validator that was used. Each evaluation caches its results,
/// so that nested values are not checked again at each level.
pub(super) struct Evaluations<'a> {
    document: Document<'a>,
    evaluations: Vec<(&'static Validator, Evaluation<'static>)>,
}

impl<'a> Evaluations<'a> {
    /// Parses the value that begins at a byte of a text; `None` if it is not JSON.
    pub(super) fn of(text: &'a str, start: usize) -> Option<Self> {
        Some(Self { document: Document::read(text, start)?, evaluations: Vec::new() })
    }

    /// Returns the evaluations that hold the value at a byte of a text, and the value's index in their document.
    /// Replaces `known` if it does not hold the value. Returns `None` if the text is not JSON, which the scanner
    /// reports.
    pub(super) fn at<'v>(
        known: &'v mut Option<Box<Self>>,
        text: &'a str,
        start: usize,
    ) -> Option<(&'v mut Self, usize)> {
        let item = known.as_ref().and_then(|evaluations| evaluations.document.at(start));
        if item.is_none() {
            *known = Some(Box::new(Self::of(text, start)?));
        }
        Some((known.as_mut()?, item.unwrap_or_default()))
    }

    /// Returns the document and the evaluation by a validator, which may take the steps that are left.
    pub(super) fn by(
        &mut self,
        validator: &'static Validator,
        issues: &Issues,
    ) -> Result<(&Document<'a>, &mut Evaluation<'static>), IssueKind> {
        let known = self.evaluations.iter().position(|(known, _)| std::ptr::eq(*known, validator));
        let place = if let Some(place) = known {
            place
        } else {
            self.evaluations
                .push((validator, Evaluation::within(validator.schema()?, issues.limit)));
            self.evaluations.len() - 1
        };
        let evaluation = &mut self.evaluations[place].1;
        evaluation.set_steps(issues.steps);
        Ok((&self.document, evaluation))
    }

    /// Adds the issues of a value to those that its type has found since `mark`.
    pub(super) fn check(
        &mut self,
        validator: &'static Validator,
        item: usize,
        issues: &mut Issues,
        mark: usize,
    ) {
        let (document, evaluation) = match self.by(validator, issues) {
            Ok(pair) => pair,
            Err(issue) => return issues.add(issue),
        };
        let fits = evaluation.fits(document, ROOT, item);
        issues.steps = evaluation.steps();
        if fits && !evaluation.is_exhausted() {
            return;
        }
        let known = issues.since(mark);
        // A value of the wrong kind needs no further issues.
        let is_other = |issue: &Issue| {
            issue.pointer().is_empty() && matches!(issue.kind(), IssueKind::Type { .. })
        };
        if known.iter().any(is_other) {
            return;
        }
        let keys = known.iter().filter_map(|issue| issue.pointer().split('/').nth(1));
        let keys: Vec<_> = keys.map(unescaped).collect();
        let mut found = evaluation.explain_only(document, item, validator.rules, &keys);
        if found.is_empty() && issues.count() == mark {
            found = evaluation.explain(document, item);
        }
        issues.steps = evaluation.steps();
        if evaluation.is_exhausted() {
            return found.into_iter().for_each(|reason| issues.give_up(reason));
        }
        for issue in found {
            if !issues.since(mark).iter().any(|known| covers(known, &issue)) {
                issues.push(issue);
            }
        }
        if issues.count() == mark {
            let message = "does not fit its schema".to_owned();
            issues.push(Issue::new("", IssueKind::Schema { message }));
        }
    }
}

/// Returns true if an issue that a type found covers an issue that the schema found.
fn covers(known: &Issue, found: &Issue) -> bool {
    let are_both_choices = matches!(
        (known.kind(), found.kind()),
        (IssueKind::Variant { .. } | IssueKind::Tag { .. }, IssueKind::Constant { .. })
    );
    known == found || (are_both_choices && known.pointer() == found.pointer())
}
