//! What can be wrong with a schema, as values. The modules below list every mistake: one constructor a code, with the
//! text that `toolwright explain` prints, grouped by the stage that finds it. Never prints, never looks for mistakes.

mod catalog;
pub(crate) mod clashes;
pub(crate) mod consumers;
pub(crate) mod files;
pub(crate) mod form;
pub(crate) mod http;
pub(crate) mod names;
#[cfg(feature = "project")]
pub(crate) mod projects;
pub(crate) mod schemas;
pub(crate) mod tools;
pub(crate) mod words;
pub(crate) mod yaml;

pub use crate::source::{LineColumn, SourceId, Span, Spanned};
pub use catalog::{Code, Group, groups};

use crate::source::Sources;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is generated.
    Error,
    /// Generation goes on.
    Warning,
}

/// One finding: what was found, where, what was expected and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable kebab-case name of the kind of finding, such as `duplicate-tool`: one of [`groups`].
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What was found and what was expected, in one sentence without a full stop.
    pub message: String,
    /// The place it is about, where there is one; a missing folder has none.
    pub span: Option<Span>,
    /// What is to be seen at `span`.
    pub label: String,
    /// Further places that belong to it, such as the other ones of several equal names.
    pub labels: Vec<Label>,
    /// What to do, where that is not plain from the message.
    pub help: Option<String>,
}

/// More than anybody reads at once; drawing each of them takes a look at the file.
const MAX_FINDINGS: usize = 2000;

/// A further place of a [`Diagnostic`].
#[derive(Clone, Debug, PartialEq, Eq)]
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
    errors: usize,
    misses_names: bool,
}

/// Declares mistakes: for each its explanation, severity, code, and the constructor that words it.
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

/// The words of a finding at a place; its constructor adds the code.
fn at(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic { span: Some(span), ..nowhere(message) }
}

/// The words of a finding that belongs to no place in a file.
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

/// The words of a finding about several places that cannot all stand: the first in order is its own.
fn among(mut places: Vec<(Span, String)>, message: impl Into<String>) -> Diagnostic {
    places.sort();
    let mut places = places.into_iter();
    let Some((span, label)) = places.next() else { return nowhere(message) };
    places
        .fold(at(span, message).labelled(label), |finding, (span, label)| finding.also(span, label))
}

/// The places of equal things, with a label each.
fn given(places: Vec<Span>) -> Vec<(Span, String)> {
    let first = places.iter().min().copied();
    let word = |span| if Some(span) == first { "first here" } else { "again here" };
    places.into_iter().map(|span| (span, word(span).to_owned())).collect()
}

/// How often something stands where it may stand once.
fn times(count: usize) -> String {
    if count == 2 { "twice".to_owned() } else { format!("{count} times") }
}

/// A number of things that cannot all stand, in words where they are two.
fn number(count: usize) -> String {
    if count == 2 { "two".to_owned() } else { count.to_string() }
}

impl Diagnostic {
    /// Makes every place one of whole characters: a place may have been made of another by counting bytes.
    pub(crate) fn stand_on_characters(&mut self, sources: &Sources) {
        let further = self.labels.iter_mut().map(|label| &mut label.span);
        for span in self.span.iter_mut().chain(further) {
            *span = sources.whole(*span);
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

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Report {
    /// Begins with what was found while reading files. Names of a file that could not be read are missed.
    pub(crate) fn after(findings: Vec<Diagnostic>) -> Self {
        let mut report = Self { misses_names: !findings.is_empty(), ..Self::default() };
        for finding in findings {
            report.add(finding);
        }
        report
    }

    /// Adds a finding.
    pub(crate) fn add(&mut self, finding: Diagnostic) {
        self.errors += usize::from(finding.severity == Severity::Error);
        self.findings.push(finding);
    }

    /// Adds what was found in a part of the project by itself.
    pub(crate) fn extend(&mut self, part: Self) {
        self.errors += part.errors;
        self.misses_names |= part.misses_names;
        self.findings.extend(part.findings);
    }

    /// Whether there are more findings than will be shown, so that advice on another is wasted.
    pub(crate) fn is_full(&self) -> bool {
        self.findings.len() > MAX_FINDINGS
    }

    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// How many findings are errors.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Notes that definitions could not be read, so that their users are not blamed for naming them.
    pub(crate) fn miss_names(&mut self) {
        self.misses_names = true;
    }

    /// Whether a name that is not known may be one that could not be read.
    pub(crate) fn misses_names(&self) -> bool {
        self.misses_names
    }

    /// The findings in the order of their places, errors and warnings together. What an alias of YAML repeats is
    /// said once. Of very many, errors before warnings, the first are given, and how many are left out.
    pub fn into_findings(mut self) -> Vec<Diagnostic> {
        let in_order = |a: &Diagnostic, b: &Diagnostic| (a.span, a.code).cmp(&(b.span, b.code));
        self.findings.sort_by(in_order);
        self.findings.dedup();
        let left_out = self.findings.len().saturating_sub(MAX_FINDINGS);
        if left_out > 0 {
            self.findings.sort_by_key(|finding| finding.severity);
            self.findings.truncate(MAX_FINDINGS);
            self.findings.sort_by(in_order);
            self.findings.push(files::too_many_findings(left_out));
        }
        self.findings
    }
}
