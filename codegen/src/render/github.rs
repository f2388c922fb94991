//! Findings as GitHub Actions workflow commands, which it shows beside the lines of a pull request.
//!
//! Escaping follows `escapeData` and `escapeProperty` of the `@actions/core` package.

use std::fmt::Write as _;

use super::{Place, word};
use crate::diagnostic::Diagnostic;
use crate::source::Sources;

pub(super) fn render(findings: &[Diagnostic], sources: &Sources) -> String {
    findings.iter().map(|finding| command(finding, sources)).collect()
}

fn command(finding: &Diagnostic, sources: &Sources) -> String {
    let place = finding.span.map(|span| Place::of(span, sources));
    let place = place.map_or_else(String::new, |Place { file, start, .. }| {
        format!("file={},line={},col={},", property(file), start.line, start.column)
    });
    let title = property(finding.code);
    format!(
        "::{} {place}title={title}::{}\n",
        word(finding.severity),
        value(&text(finding, sources))
    )
}

/// An annotation has one place and one text, so further places and advice become lines of the text.
fn text(finding: &Diagnostic, sources: &Sources) -> String {
    let mut text = finding.message.clone();
    for label in &finding.labels {
        let _ = write!(text, "\n{}: {}", Place::of(label.span, sources), label.message);
    }
    if let Some(help) = &finding.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    text
}

fn value(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    value(text).replace(':', "%3A").replace(',', "%2C")
}
