//! Findings as text for a reader or a program. Never decides what is a finding, never prints.

mod github;
mod human;
#[cfg(feature = "reports")]
mod json;
#[cfg(feature = "reports")]
mod sarif;

use crate::diagnostic::Diagnostic;
use crate::source::{LineColumn, Sources, Span};

/// Who the text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A person at a terminal, with or without ANSI colours.
    Human {
        /// Whether to use ANSI colours.
        color: bool,
    },
    /// A program: one JSON object a line.
    #[cfg(feature = "reports")]
    Json,
    /// A code scanning service: one SARIF 2.1.0 log.
    #[cfg(feature = "reports")]
    Sarif,
    /// GitHub Actions: one workflow command a line.
    Github,
}

/// Renders findings in the order given; the text is empty or ends with a newline.
pub fn render(findings: &[Diagnostic], sources: &Sources, format: Format) -> String {
    match format {
        Format::Human { color } => human::render(findings, sources, color),
        #[cfg(feature = "reports")]
        Format::Json => json::render(findings, sources),
        #[cfg(feature = "reports")]
        Format::Sarif => sarif::render(findings, sources),
        Format::Github => github::render(findings, sources),
    }
}

/// One line for a place and a message, as compilers print it: `path:line:column: message`.
pub fn one_line(finding: &Diagnostic, sources: &Sources) -> String {
    match finding.span {
        Some(span) => format!("{}: {}", Place::of(span, sources), finding.message),
        None => finding.message.clone(),
    }
}

/// A span as every format but the human one needs it.
struct Place<'a> {
    file: &'a str,
    start: LineColumn,
    end: LineColumn,
}

impl<'a> Place<'a> {
    fn of(span: Span, sources: &'a Sources) -> Self {
        let source = sources.get(span.source);
        Self {
            file: &source.path,
            start: sources.line_column(span),
            end: sources.line_column(Span { start: span.end.max(span.start), ..span }),
        }
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.start.line, self.start.column)
    }
}
