//! Renders findings as workflow commands of GitHub Actions, which shows them beside the lines of a pull request.
//!
//! Escaping follows `escapeData` and `escapeProperty` of the `@actions/core` package. Other control and invisible characters
//! are escaped as in the other formats.

use std::fmt::Write as _;

use super::{Location, further_places, printable};
use crate::diagnostic::Diagnostic;
use crate::source::Sources;

pub(super) fn render(findings: &[Diagnostic], sources: &Sources) -> String {
    findings.iter().map(|finding| command(finding, sources)).collect()
}

fn command(finding: &Diagnostic, sources: &Sources) -> String {
    let place = finding.span.map(|span| Location::of(span, sources));
    let place = place.map_or_else(String::new, |Location { file, start, end, .. }| {
        let (line, column) = (start.line, start.column);
        // GitHub takes an end column only for a span on one line.
        let end = match (end.line == line, end.column > column) {
            (true, true) => format!("endColumn={},", end.column),
            (true, false) => String::new(),
            (false, _) => format!("endLine={},", end.line),
        };
        format!("file={},line={line},col={column},{end}", property(file))
    });
    let title = property(finding.code);
    format!("::{} {place}title={title}::{}\n", finding.severity, value(&text(finding, sources)))
}

/// Returns the message with the other places and the help as further lines, since an annotation has one place and one text.
fn text(finding: &Diagnostic, sources: &Sources) -> String {
    let mut text = finding.message.clone();
    for label in further_places(finding) {
        let _ = write!(text, "\n{}: {}", Location::of(label.span, sources), label.message);
    }
    if let Some(help) = &finding.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    text
}

fn value(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    printable(&text).into_owned()
}

fn property(text: &str) -> String {
    value(text).replace(':', "%3A").replace(',', "%2C")
}
