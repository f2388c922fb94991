//! Findings as text for a reader or a program. Never decides what is a finding, never prints.

mod github;
mod human;
#[cfg(feature = "reports")]
mod json;
#[cfg(feature = "reports")]
mod sarif;

use crate::diagnostic::Diagnostic;
pub use crate::prose::printable;
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

/// Renders findings in the order given; the text is empty or ends with a newline. Whatever names and texts of others hold, a
/// line of it stays one, and nothing in it steers a terminal.
pub fn render(findings: &[Diagnostic], sources: &Sources, format: Format) -> String {
    match format {
        Format::Human { color } => human::render(findings, sources, color),
        #[cfg(feature = "reports")]
        Format::Json => printable_json(&json::render(findings, sources)),
        #[cfg(feature = "reports")]
        Format::Sarif => printable_json(&sarif::render(findings, sources)),
        Format::Github => github::render(findings, sources),
    }
}

/// The same JSON, with those characters escaped that JSON lets stand and a terminal does not.
#[cfg(feature = "reports")]
fn printable_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for (c, is_shown) in crate::prose::in_line(json) {
        if is_shown || c == '\n' {
            text.push(c);
        } else {
            let mut units = [0; 2];
            text.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    text
}

/// One line for a place and a message, as compilers print it: `path:line:column: message`.
pub fn one_line(finding: &Diagnostic, sources: &Sources) -> String {
    let message = printable(&finding.message);
    match finding.span {
        Some(span) => format!("{}: {message}", Place::of(span, sources)),
        None => message.into_owned(),
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
        write!(f, "{}:{}:{}", printable(self.file), self.start.line, self.start.column)
    }
}
