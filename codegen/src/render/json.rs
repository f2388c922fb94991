//! Renders findings as JSON Lines. Programs of users read these keys, so they must not change.

use serde::Serialize;

use super::{Location, further_places};
use crate::diagnostic::{Diagnostic, Label};
use crate::source::{Sources, Span};

#[derive(Serialize)]
struct Row<'a> {
    code: &'a str,
    severity: String,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    length: Option<usize>,
    labels: Vec<LabelRow<'a>>,
    help: Option<&'a str>,
}

#[derive(Serialize)]
struct LabelRow<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    message: &'a str,
}

pub(super) fn render(findings: &[Diagnostic], sources: &Sources) -> String {
    let text = |finding| {
        serde_json::to_string(&row(finding, sources))
            .expect("strings and numbers serialize to JSON")
    };
    findings.iter().map(|finding| text(finding) + "\n").collect()
}

fn row<'a>(finding: &'a Diagnostic, sources: &'a Sources) -> Row<'a> {
    let place = finding.span.map(|span| Location::of(span, sources));
    let length = finding.span.map(|span| length(span, sources));
    Row {
        code: finding.code,
        severity: finding.severity.to_string(),
        message: &finding.message,
        file: place.as_ref().map(|place| place.file),
        line: place.as_ref().map(|place| place.start.line),
        column: place.as_ref().map(|place| place.start.column),
        length,
        labels: further_places(finding).map(|label| label_row(label, sources)).collect(),
        help: finding.help.as_deref(),
    }
}

fn label_row<'a>(label: &'a Label, sources: &'a Sources) -> LabelRow<'a> {
    let place = Location::of(label.span, sources);
    LabelRow {
        file: place.file,
        line: place.start.line,
        column: place.start.column,
        message: &label.message,
    }
}

/// Returns the length of a span in characters.
fn length(span: Span, sources: &Sources) -> usize {
    let covered = sources.get(span.source).text.get(span.start as usize..span.end as usize);
    covered.map_or(0, |text| text.chars().count())
}
