//! Renders findings for people, in the style of rustc.

use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet,
};
use toolwright::untrusted::characters;

use super::printable;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{SourceId, Sources, Span};

/// The most places of a finding that are shown. Each takes time in proportion to all others.
const MAX_PLACES: usize = 20;

/// The longest line that is shown in a snippet, in bytes.
const MAX_LINE: usize = 4096;

/// The most bytes from the first place of a finding to the last one in a file, if both are shown in a snippet.
const MAX_SNIPPET: usize = 1 << 16;

pub(super) fn render(findings: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for finding in findings {
        text.push_str(&renderer.render(&[group(finding, sources)]));
        text.push_str("\n\n");
    }
    text
}

fn group<'a>(finding: &'a Diagnostic, sources: &'a Sources) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(printable(&finding.message)).id(finding.code);
    let group = Group::with_title(title);
    let group = if is_on_long_line(finding, sources) || is_far_apart(finding, sources) {
        group.elements(mentions(finding, sources))
    } else {
        group.elements(snippets(finding, sources))
    };
    let group = match finding.labels.len().saturating_sub(MAX_PLACES - 1) {
        0 => group,
        1 => group.element(Level::NOTE.message("and 1 more place")),
        more => group.element(Level::NOTE.message(format!("and {more} more places"))),
    };
    match &finding.help {
        Some(help) => group.element(Level::HELP.message(printable(help))),
        None => group,
    }
}

/// Returns whether a place is on a line that is too long to be shown: it would be unreadable, and slow to render.
fn is_on_long_line(finding: &Diagnostic, sources: &Sources) -> bool {
    places(finding).into_iter().any(|(_, span, _)| {
        let text = sources.get(span.source).text.as_str();
        let place = inside(span, text);
        let lines = lines_around(std::iter::once(place.start..place.start), text);
        lines.len() > MAX_LINE
    })
}

/// Returns whether two places in a file are so far from each other that the renderer would read much text for them.
fn is_far_apart(finding: &Diagnostic, sources: &Sources) -> bool {
    let mut files: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    for (_, span, _) in places(finding) {
        let source = sources.get(span.source);
        let place = inside(span, &source.text);
        let range = files.entry(source.path.as_str()).or_insert_with(|| place.clone());
        *range = range.start.min(place.start)..range.end.max(place.end);
    }
    files.values().any(|range| range.len() > MAX_SNIPPET)
}

/// Returns the position of each place without a snippet.
fn mentions<'a>(finding: &'a Diagnostic, sources: &'a Sources) -> Vec<Element<'a>> {
    let mention = |(kind, span, label): (AnnotationKind, Span, &'a str)| {
        let (path, at) = (printable(&sources.get(span.source).path), sources.line_column(span));
        if matches!(kind, AnnotationKind::Primary) {
            Origin::path(path).line(at.line).char_column(at.column).into()
        } else {
            let text = format!("{}: {path}:{}:{}", printable(label), at.line, at.column);
            Level::NOTE.message(text).into()
        }
    };
    places(finding).into_iter().map(mention).collect()
}

/// Returns one snippet for each file, in the order of the finding's places.
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

/// Returns the snippet of a file, with the lines from the first place to the last.
fn snippet<'a>(
    file: SourceId,
    places: &[(AnnotationKind, Span, &'a str)],
    sources: &'a Sources,
) -> Snippet<'a, Annotation<'a>> {
    let source = sources.get(file);
    let text = source.text.as_str();
    let here = || places.iter().filter(|(_, span, _)| span.source == file);
    let lines = lines_around(here().map(|(_, span, _)| inside(*span, text)), text);
    let annotations = here().map(|(kind, span, label)| {
        let label = Some(printable(label)).filter(|label| !label.is_empty());
        let span = inside(*span, text);
        let place = |place: usize| drawn_place(&text[lines.clone()], place - lines.start);
        kind.span(place(span.start)..place(span.end)).label(label)
    });
    Snippet::source(drawn(&text[lines.clone()]).collect::<String>())
        .line_start(sources.line(file, lines.start).0)
        .path(printable(&source.path))
        .annotations(annotations)
}

/// Replaces hidden characters by U+FFFD. ASCII control characters are kept, since the renderer shows symbols for them.
fn drawn(text: &str) -> impl Iterator<Item = char> {
    characters(text).map(|(c, is_hidden)| {
        if is_hidden && !c.is_ascii_control() { char::REPLACEMENT_CHARACTER } else { c }
    })
}

/// Maps a byte offset in a text to that in the drawn text.
fn drawn_place(text: &str, place: usize) -> usize {
    drawn(text).take(text[..place].chars().count()).map(char::len_utf8).sum()
}

/// Returns the range of the lines from the first place to the last. The renderer reads every line that it gets for each
/// finding, and a large file may have many.
fn lines_around(places: impl Iterator<Item = Range<usize>> + Clone, text: &str) -> Range<usize> {
    let first = places.clone().map(|place| place.start).min().unwrap_or(0);
    let last = places.map(|place| place.end).max().unwrap_or(text.len());
    let start = text[..first].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[last..].find('\n').map_or(text.len(), |newline| last + newline + 1);
    start..end
}

/// Returns the place of a finding and the first of the others.
fn places(finding: &Diagnostic) -> Vec<(AnnotationKind, Span, &str)> {
    let main = finding.span.map(|span| (AnnotationKind::Primary, span, finding.label.as_str()));
    let further = finding.labels.iter().take(MAX_PLACES - 1);
    let further =
        further.map(|label| (AnnotationKind::Context, label.span, label.message.as_str()));
    main.into_iter().chain(further).collect()
}

/// Limits a span to the text, since the renderer panics otherwise.
fn inside(span: Span, text: &str) -> Range<usize> {
    let end = text.ceil_char_boundary((span.end as usize).min(text.len()));
    text.floor_char_boundary((span.start as usize).min(end))..end
}
