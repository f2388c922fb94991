//! Findings: errors and warnings about a schema. The submodules declare every kind, grouped by the stage that finds it:
//! one constructor for each code, with the text that `toolwright explain` prints.

mod catalog;
pub(crate) mod clashes;
pub(crate) mod consumers;
#[cfg(feature = "project")]
pub(crate) mod dialects;
pub(crate) mod files;
pub(crate) mod form;
pub(crate) mod http;
pub(crate) mod names;
#[cfg(feature = "project")]
pub(crate) mod projects;
pub(crate) mod schemas;
pub(crate) mod templates;
pub(crate) mod tools;
pub(crate) mod yaml;

pub use crate::source::{LineColumn, SourceId, Span, Spanned};
pub use catalog::{Code, Group, groups};

use crate::source::Sources;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It prevents generation.
    Error,
    /// It does not prevent generation.
    Warning,
}

/// One finding: what was found, where, what was expected and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable name of the kind of finding: one of [`groups`], such as `duplicate-tool`, or `TWD101` for dialects.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What was found and what was expected, in one sentence without a full stop.
    pub message: String,
    /// The place it is about, if any; a missing folder has none.
    pub span: Option<Span>,
    /// The text shown at `span`.
    pub label: String,
    /// Related places, such as those of other equal names.
    pub labels: Vec<Label>,
    /// What to do, if the message does not make it clear.
    pub help: Option<String>,
}

/// The most findings that are shown.
const MAX_FINDINGS: usize = 2000;

/// The most unknown words of one kind that get a suggestion.
pub(crate) const MAX_SUGGESTIONS: usize = 100;

/// Returns the first findings of a list that may be too long to be shown, and the number of the others.
pub(crate) fn shown(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let left_out = findings.len().saturating_sub(MAX_FINDINGS);
    if left_out > 0 {
        findings.sort_by_key(|finding| finding.severity);
        findings.truncate(MAX_FINDINGS);
        findings.push(files::too_many_findings(left_out));
    }
    findings
}

/// The most findings that are kept, warnings and errors each: a few lines of schema can have millions.
const MAX_KEPT: usize = 5 * MAX_FINDINGS;

/// A related place of a [`Diagnostic`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The text shown there.
    pub message: String,
}

/// Collects findings, so that one run shows them all.
#[derive(Debug, Default)]
pub struct Report {
    findings: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    /// The number of findings that were not kept.
    lost: usize,
    has_unread_definitions: bool,
}

/// Declares kinds of findings: for each its explanation, severity, code, and constructor.
macro_rules! mistakes {
    ($(
        $(#[doc = $line:literal])+
        $severity:ident $code:literal
        $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block
    )+) => {
        pub(super) const CODES: &[crate::diagnostic::Code] = &[$(
            crate::diagnostic::Code {
                name: $code,
                severity: crate::diagnostic::Severity::$severity,
                text: concat!($($line, "\n"),+),
            },
        )+];

        $(
            $(#[doc = $line])+
            pub(crate) fn $name($($argument: $type),*) -> crate::diagnostic::Diagnostic {
                crate::diagnostic::Diagnostic {
                    code: $code,
                    severity: crate::diagnostic::Severity::$severity,
                    ..$body
                }
            }
        )+
    };
}
use mistakes;

/// Returns a finding at a span; its constructor sets the code and the severity.
fn at(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic { span: Some(span), ..nowhere(message) }
}

/// Returns a finding without a place in a file.
fn nowhere(message: impl Into<String>) -> Diagnostic {
    Diagnostic {
        code: "",
        severity: Severity::Error,
        message: message.into(),
        span: None,
        label: String::new(),
        labels: Vec::new(),
        help: None,
    }
}

/// Returns a finding about several conflicting places, at the first of them.
fn among(mut places: Vec<(Span, String)>, message: impl Into<String>) -> Diagnostic {
    places.sort();
    let mut places = places.into_iter();
    let Some((span, label)) = places.next() else { return nowhere(message) };
    places
        .fold(at(span, message).labelled(label), |finding, (span, label)| finding.also(span, label))
}

/// Labels the places of equal things: `first here`, then `again here`.
fn repeated(places: Vec<Span>) -> Vec<(Span, String)> {
    let first = places.iter().min().copied();
    let word = |span| if Some(span) == first { "first here" } else { "again here" };
    places.into_iter().map(|span| (span, word(span).to_owned())).collect()
}

/// Returns in words how often something appears.
fn times(count: usize) -> String {
    if count == 2 { "twice".to_owned() } else { format!("{count} times") }
}

/// Returns a number, as a word if it is two.
fn number(count: usize) -> String {
    if count == 2 { "two".to_owned() } else { count.to_string() }
}

impl Diagnostic {
    /// Widens every span to whole characters: a span that was computed by counting bytes may split one.
    pub(crate) fn widen_to_char_boundaries(&mut self, sources: &Sources) {
        let others = self.labels.iter_mut().map(|label| &mut label.span);
        for span in self.span.iter_mut().chain(others) {
            *span = sources.to_char_boundaries(*span);
        }
    }

    fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    fn also(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Report {
    /// Creates a report with the findings from reading files. If there are any, some definitions may be unread.
    pub(crate) fn after(findings: Vec<Diagnostic>) -> Self {
        let mut report = Self { has_unread_definitions: !findings.is_empty(), ..Self::default() };
        for finding in findings {
            report.add(finding);
        }
        report
    }

    /// Adds a finding.
    pub(crate) fn add(&mut self, finding: Diagnostic) {
        let count = match finding.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        if *count <= MAX_KEPT {
            self.findings.push(finding);
        } else {
            self.lost += 1;
        }
    }

    /// Adds the findings about a part of the project.
    pub(crate) fn extend(&mut self, part: Self) {
        let (errors, warnings) = (self.errors + part.errors, self.warnings + part.warnings);
        self.has_unread_definitions |= part.has_unread_definitions;
        self.lost += part.lost;
        part.findings.into_iter().for_each(|finding| self.add(finding));
        (self.errors, self.warnings) = (errors, warnings);
    }

    /// Returns whether there are more errors than are shown, so that further ones need not be found. Warnings do not count: no
    /// number of them may hide the only error.
    pub(crate) fn is_full(&self) -> bool {
        self.errors > MAX_FINDINGS
    }

    /// Returns whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Returns the number of errors.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Records that some definitions could not be read.
    pub(crate) fn note_unread_definitions(&mut self) {
        self.has_unread_definitions = true;
    }

    /// Returns whether some definitions could not be read, so that an unknown name may be one of them.
    pub(crate) fn has_unread_definitions(&self) -> bool {
        self.has_unread_definitions
    }

    /// Returns the findings in the order of their places, each once: a YAML alias repeats findings. If there are too many,
    /// errors are kept before warnings, and a last finding gives the number of those left out.
    pub fn into_findings(mut self) -> Vec<Diagnostic> {
        let in_order = |a: &Diagnostic, b: &Diagnostic| (a.span, a.code).cmp(&(b.span, b.code));
        self.findings.sort_by(in_order);
        self.findings.dedup();
        let left_out = self.findings.len().saturating_sub(MAX_FINDINGS) + self.lost;
        if left_out > 0 {
            self.findings.sort_by_key(|finding| finding.severity);
            self.findings.truncate(MAX_FINDINGS);
            self.findings.sort_by(in_order);
            self.findings.push(files::too_many_findings(left_out));
        }
        self.findings
    }
}
