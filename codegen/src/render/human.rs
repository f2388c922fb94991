//! Findings as a person reads them, in the manner of rustc. Never used by programs.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{SourceId, Sources, Span};

pub(super) fn render(findings: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let blocks =
        findings.iter().map(|finding| renderer.render(&[group(finding, sources)]) + "\n\n");
    blocks.collect()
}

fn group<'a>(finding: &'a Diagnostic, sources: &'a Sources) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(finding.message.as_str()).id(finding.code);
    let group = Group::with_title(title).elements(snippets(finding, sources));
    match &finding.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

/// One snippet for each file, in the order the finding names them.
fn snippets<'a>(finding: &'a Diagnostic, sources: &'a Sources) -> Vec<Snippet<'a, Annotation<'a>>> {
    let places = places(finding);
    let mut files: Vec<SourceId> = Vec::new();
    for (_, span, _) in &places {
        if !files.contains(&span.source) {
            files.push(span.source);
        }
    }
    files.into_iter().map(|file| snippet(file, &places, sources)).collect()
}

/// Only the lines between the places are handed on: the renderer reads all that it gets, for every finding.
fn snippet<'a>(
    file: SourceId,
    places: &[(AnnotationKind, Span, &'a str)],
    sources: &'a Sources,
) -> Snippet<'a, Annotation<'a>> {
    let source = sources.get(file);
    let here = || places.iter().filter(|(_, span, _)| span.source == file);
    let ranges = || here().map(|(_, span, _)| inside(*span, &source.text));
    let first = ranges().map(|range| range.start).min().unwrap_or_default();
    let last = ranges().map(|range| range.end).max().unwrap_or_default();
    let (line, start) = sources.line(file, first);
    let end = source.text[last..].find('\n').map_or(source.text.len(), |length| last + length + 1);
    let annotations = here().map(|(kind, span, label)| {
        let label = Some(*label).filter(|label| !label.is_empty());
        let range = inside(*span, &source.text);
        kind.span(range.start - start..range.end - start).label(label)
    });
    Snippet::source(&source.text[start..end])
        .line_start(line)
        .path(source.path.as_str())
        .annotations(annotations.collect::<Vec<_>>())
}

fn places(finding: &Diagnostic) -> Vec<(AnnotationKind, Span, &str)> {
    let main = finding.span.map(|span| (AnnotationKind::Primary, span, finding.label.as_str()));
    let further = finding.labels.iter();
    let further =
        further.map(|label| (AnnotationKind::Context, label.span, label.message.as_str()));
    main.into_iter().chain(further).collect()
}

/// The renderer insists on a range inside the text, so a span past its end is drawn at the end.
fn inside(span: Span, text: &str) -> std::ops::Range<usize> {
    let end = text.floor_char_boundary(span.end as usize);
    text.floor_char_boundary((span.start as usize).min(end))..end
}
