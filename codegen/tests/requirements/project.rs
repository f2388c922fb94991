//! Compiles projects that are written as one text, and compares the results.

use std::collections::BTreeMap;

use toolwright_codegen::diagnostic::Span;
use toolwright_codegen::{Files, Options, Source, Sources, compile};

/// Splits a text into the files of a project. A line `### name` begins each file; the line with the version is added.
pub(crate) fn sources(text: &str) -> Vec<Source> {
    let parts = text.split("### ").skip(1);
    let source = |part: &str| {
        let (path, text) = part.split_once('\n').expect("a line break after the name");
        Source { path: path.to_owned(), text: format!("toolwright: 1\n{text}") }
    };
    parts.map(source).collect()
}

/// Compiles a project and ignores the warnings.
pub(crate) fn generated(text: &str) -> Files {
    generated_from(sources(text))
}

/// Compiles files in the given order and ignores the warnings.
pub(crate) fn generated_from(files: Vec<Source>) -> Files {
    let sources = Sources::new(files);
    match compile(&sources, &Options::default()) {
        Ok(compiled) => compiled.files,
        Err(findings) => panic!("{findings:#?}"),
    }
}

/// Compiles a project; if that fails, returns the code, the message and the text at the places of each finding.
pub(crate) fn refusals(text: &str) -> Vec<String> {
    let sources = Sources::new(sources(text));
    let Err(findings) = compile(&sources, &Options::default()) else { return Vec::new() };
    let place = |span: Span| {
        let source = sources.get(span.source);
        format!("{}:{}", source.path, &source.text[span.start as usize..span.end as usize])
    };
    let line = |finding: toolwright_codegen::diagnostic::Diagnostic| {
        let others = finding.labels.iter().map(|label| label.span);
        let places: Vec<String> = finding.span.into_iter().chain(others).map(place).collect();
        format!("{}: {} @ {}", finding.code, finding.message, places.join(", "))
    };
    findings.into_iter().map(line).collect()
}

/// Returns the files below a folder by their paths relative to it.
pub(crate) fn below<'f>(files: &'f Files, folder: &str) -> BTreeMap<&'f str, &'f str> {
    let inside = |(path, text): (&'f str, &'f str)| Some((path.strip_prefix(folder)?, text));
    files.iter().filter_map(inside).collect()
}

/// Returns the paths below a folder, relative to it.
pub(crate) fn paths<'f>(files: &'f Files, folder: &str) -> Vec<&'f str> {
    below(files, folder).into_keys().collect()
}

/// Returns the Rust files.
pub(crate) fn rust(files: &Files) -> impl Iterator<Item = (&str, &str)> {
    files.iter().filter(|(path, _)| path.rsplit_once('.').is_some_and(|(_, kind)| kind == "rs"))
}

/// Returns the lines that occur in only one of two texts, without indentation: those of the first, then those of the second.
pub(crate) fn differing<'t>(one: &'t str, other: &'t str) -> Vec<&'t str> {
    let only = |one: &'t str, other: &str| {
        let lines = one.lines().map(str::trim);
        lines.filter(|line| !other.lines().any(|known| known.trim() == *line)).collect::<Vec<_>>()
    };
    [only(one, other), only(other, one)].concat()
}
