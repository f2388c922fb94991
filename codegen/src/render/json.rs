//! Findings as JSON lines. The keys are relied on by others; see "Commands others rely on".

use serde::Serialize;

use super::Place;
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
    labels: Vec<FurtherPlace<'a>>,
    help: Option<&'a str>,
}

#[derive(Serialize)]
struct FurtherPlace<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    message: &'a str,
}

pub(super) fn render(findings: &[Diagnostic], sources: &Sources) -> String {
    let text = |finding| {
        serde_json::to_string(&row(finding, sources)).expect("texts and numbers have a JSON form")
    };
    findings.iter().map(|finding| text(finding) + "\n").collect()
}

fn row<'a>(finding: &'a Diagnostic, sources: &'a Sources) -> Row<'a> {
    let place = finding.span.map(|span| Place::of(span, sources));
    let length = finding.span.map(|span| length(span, sources));
    Row {
        code: finding.code,
        severity: finding.severity.to_string(),
        message: &finding.message,
        file: place.as_ref().map(|place| place.file),
        line: place.as_ref().map(|place| place.start.line),
        column: place.as_ref().map(|place| place.start.column),
        length,
        labels: finding.labels.iter().map(|label| further(label, sources)).collect(),
        help: finding.help.as_deref(),
    }
}

fn further<'a>(label: &'a Label, sources: &'a Sources) -> FurtherPlace<'a> {
    let place = Place::of(label.span, sources);
    FurtherPlace {
        file: place.file,
        line: place.start.line,
        column: place.start.column,
        message: &label.message,
    }
}

/// In characters.
fn length(span: Span, sources: &Sources) -> usize {
    let covered = sources.get(span.source).text.get(span.start as usize..span.end as usize);
    covered.map_or(0, |text| text.chars().count())
}
