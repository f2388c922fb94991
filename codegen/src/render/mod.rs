//! Renders findings as text for people and programs.

mod github;
mod human;
#[cfg(feature = "reports")]
mod json;
#[cfg(feature = "reports")]
mod sarif;

#[cfg(feature = "reports")]
use toolwright::untrusted::visible_json;

use crate::diagnostic::{Diagnostic, Label};
pub use crate::prose::{printable, without_commands};
use crate::source::{LineColumn, Sources, Span};

/// The format of rendered findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Text with source snippets, for people at a terminal.
    Human {
        /// True if to use ANSI colors.
        color: bool,
    },
    /// JSON Lines: one object for each finding.
    #[cfg(feature = "reports")]
    Json,
    /// A SARIF 2.1.0 log, for code scanning services.
    #[cfg(feature = "reports")]
    Sarif,
    /// Workflow commands of GitHub Actions, one for each finding.
    Github,
}

/// Renders findings in the order given. The text is empty or ends with a newline. Line breaks, terminal control characters and
/// [commands](without_commands) in names and texts of a schema are escaped.
pub fn render(findings: &[Diagnostic], sources: &Sources, format: Format) -> String {
    let text = match format {
        Format::Human { color } => human::render(findings, sources, color),
        #[cfg(feature = "reports")]
        Format::Json => visible_json(&json::render(findings, sources)).into_owned(),
        #[cfg(feature = "reports")]
        Format::Sarif => visible_json(&sarif::render(findings, sources)).into_owned(),
        Format::Github => github::render(findings, sources),
    };
    without_commands(&text).into_owned()
}

/// The most further places of a finding in texts for programs.
const MAX_FURTHER_PLACES: usize = 1000;

/// Returns the further places of a finding that are in texts for programs.
fn further_places(finding: &Diagnostic) -> impl Iterator<Item = &Label> {
    finding.labels.iter().take(MAX_FURTHER_PLACES)
}

/// Renders a finding as one line, as compilers do: `path:line:column: message`.
pub fn one_line(finding: &Diagnostic, sources: &Sources) -> String {
    let message = printable(&finding.message);
    match finding.span {
        Some(span) => format!("{}: {message}", Location::of(span, sources)),
        None => message.into_owned(),
    }
}

/// A span as lines and columns, for all formats but the human one.
struct Location<'a> {
    file: &'a str,
    start: LineColumn,
    end: LineColumn,
}

impl<'a> Location<'a> {
    fn of(span: Span, sources: &'a Sources) -> Self {
        let source = sources.get(span.source);
        Self {
            file: &source.path,
            start: sources.line_column(span),
            end: sources.line_column(Span { start: span.end.max(span.start), ..span }),
        }
    }
}

impl std::fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", printable(self.file), self.start.line, self.start.column)
    }
}
