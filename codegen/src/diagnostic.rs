//! What can be wrong with a schema, as a value. Never prints: [`crate::render`] does.

use crate::source::{Sources, Span};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is generated.
    Error,
    /// Generation goes on.
    Warning,
}

/// One finding: what was found, where, what was expected and what to do.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// A stable kebab-case name of the kind of finding, such as `duplicate-tool`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What was found and what was expected, in one sentence without a full stop.
    pub message: String,
    /// The place it is about, where there is one; a missing folder has none.
    pub span: Option<Span>,
    /// What is to be seen at `span`.
    pub label: String,
    /// Further places that belong to it, such as the first of two equal names.
    pub labels: Vec<Label>,
    /// What to do, where that is not plain from the message.
    pub help: Option<String>,
}

/// More than anybody reads at once; drawing each of them takes a look at the file.
const MAX_FINDINGS: usize = 2000;

/// A further place of a [`Diagnostic`].
#[derive(Clone, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is to be seen there.
    pub message: String,
}

/// Collects findings, so that one run shows them all.
#[derive(Debug, Default)]
pub struct Report {
    findings: Vec<Diagnostic>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            span: Some(span),
            label: String::new(),
            labels: Vec::new(),
            help: None,
        }
    }

    /// A warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// An error that belongs to no place in a file.
    pub fn unplaced(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            span: None,
            label: String::new(),
            labels: Vec::new(),
            help: None,
        }
    }

    /// Says what is to be seen at the main place.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a further place.
    #[must_use]
    pub fn also(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    /// Makes every place one of whole characters: a place may have been made of another by counting bytes.
    pub(crate) fn stand_on_characters(&mut self, sources: &Sources) {
        let further = self.labels.iter_mut().map(|label| &mut label.span);
        for span in self.span.iter_mut().chain(further) {
            *span = sources.whole(*span);
        }
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Report {
    /// Adds a finding.
    pub fn add(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }

    /// Whether there are more findings than will be shown, so that advice on another is wasted.
    pub fn is_full(&self) -> bool {
        self.findings.len() > MAX_FINDINGS
    }

    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Whether every error, if there is any, is of a kind.
    pub fn has_only(&self, is_of_kind: impl Fn(&Diagnostic) -> bool) -> bool {
        let mut errors = self.findings.iter().filter(|found| found.severity == Severity::Error);
        errors.all(is_of_kind)
    }

    /// The findings in the order of their places: errors and warnings together. Of very many, errors before warnings,
    /// the first are given, and how many are left out.
    pub fn into_findings(mut self) -> Vec<Diagnostic> {
        self.findings.sort_by_key(|finding| finding.span);
        let left_out = self.findings.len().saturating_sub(MAX_FINDINGS);
        if left_out > 0 {
            self.findings.sort_by_key(|finding| finding.severity);
            self.findings.truncate(MAX_FINDINGS);
            self.findings.sort_by_key(|finding| finding.span);
            let message = format!("{left_out} more findings are not shown");
            let finding = Diagnostic::unplaced("too-many-findings", message);
            self.findings.push(finding.help("correct those that are shown, and check again"));
        }
        self.findings
    }
}
