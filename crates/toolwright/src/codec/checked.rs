//! Values whose schema says more than a type can: a schema judges the text of the subtree.

use std::fmt;
use std::sync::OnceLock;

use super::issues::Issues;
use super::pattern::require_tables;
use crate::issue::{Issue, IssueKind};
use crate::pointer::unescaped;
use crate::schema::{Document, Evaluation, ROOT, Schema, SchemaError};

/// A JSON Schema (2020-12) for what a type does not say, compiled when it is first used.
pub struct Validator {
    schema: &'static str,
    rules: &'static [&'static str],
    compiled: OnceLock<Result<Schema, SchemaError>>,
}

impl Validator {
    /// The validator of a schema, as JSON text, and the keywords of its root that the type does not say.
    pub const fn new(schema: &'static str, rules: &'static [&'static str]) -> Self {
        Self { schema, rules, compiled: OnceLock::new() }
    }

    /// The same for a schema with a pattern that needs the tables of Unicode.
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

/// Verdicts on one value of a payload and what is in it, by every validator that was asked. Each remembers its own, so that a
/// value nested in itself is judged once and not once a level.
pub(super) struct Verdicts<'a> {
    document: Document<'a>,
    evaluations: Vec<(&'static Validator, Evaluation<'static>)>,
}

impl<'a> Verdicts<'a> {
    /// Of the value that begins at a byte of a text, if that is JSON.
    pub(super) fn of(text: &'a str, start: usize) -> Option<Self> {
        Some(Self { document: Document::read(text, start)?, evaluations: Vec::new() })
    }

    /// The verdicts that hold the value at a byte of a text, begun anew if those at hand do not, and its place among
    /// them. Nothing where the text is not JSON, which the scanner meets too.
    pub(super) fn at<'v>(
        known: &'v mut Option<Box<Self>>,
        text: &'a str,
        start: usize,
    ) -> Option<(&'v mut Self, usize)> {
        let item = known.as_ref().and_then(|verdicts| verdicts.document.at(start));
        if item.is_none() {
            *known = Some(Box::new(Self::of(text, start)?));
        }
        Some((known.as_mut()?, item.unwrap_or_default()))
    }

    /// The values, and what a validator says of them in the steps that are left.
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
        evaluation.go_on_within(issues.steps);
        Ok((&self.document, evaluation))
    }

    /// Adds what is wrong with a value to what its type has found since a mark.
    pub(super) fn check(
        &mut self,
        validator: &'static Validator,
        item: usize,
        issues: &mut Issues,
        mark: usize,
    ) {
        let (document, evaluation) = match self.by(validator, issues) {
            Ok(judge) => judge,
            Err(issue) => return issues.add(issue),
        };
        let fits = evaluation.fits(document, ROOT, item);
        issues.steps = evaluation.steps();
        if fits && !evaluation.is_exhausted() {
            return;
        }
        let known = issues.since(mark);
        // Of a value of another kind there is nothing more to say.
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
            if !issues.since(mark).iter().any(|known| tells(known, &issue)) {
                issues.push(issue);
            }
        }
        if issues.count() == mark {
            let message = "does not fit its schema".to_owned();
            issues.push(Issue::new("", IssueKind::Schema { message }));
        }
    }
}

/// Whether an issue that a type found tells what a schema found of the same value.
fn tells(known: &Issue, found: &Issue) -> bool {
    let are_alike = matches!(
        (known.kind(), found.kind()),
        (IssueKind::Variant { .. } | IssueKind::Tag { .. }, IssueKind::Constant { .. })
    );
    known == found || (are_alike && known.pointer() == found.pointer())
}
