//! A project in one text, and what came of it as facts to compare. Never asserts.

use std::collections::BTreeMap;

use toolwright_codegen::diagnostic::Span;
use toolwright_codegen::{Files, Options, Source, Sources, compile};

/// The files of a project: each begins with `### name`, and the version is written for it.
pub(crate) fn sources(text: &str) -> Vec<Source> {
    let parts = text.split("### ").skip(1);
    let source = |part: &str| {
        let (path, text) = part.split_once('\n').expect("a line break after the name");
        Source { path: path.to_owned(), text: format!("toolwright: 1\n{text}") }
    };
    parts.map(source).collect()
}

/// What a project becomes. Its warnings are of no interest here.
pub(crate) fn generated(text: &str) -> Files {
    generated_from(sources(text))
}

/// What files become, in whatever order they come.
pub(crate) fn generated_from(files: Vec<Source>) -> Files {
    let sources = Sources::new(files);
    match compile(&sources, &Options::default()) {
        Ok(compiled) => compiled.files,
        Err(findings) => panic!("{findings:#?}"),
    }
}

/// Why a project is refused: of each finding the code, the message, and the words at its places.
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

/// The files below a folder, by their path in it.
pub(crate) fn below<'f>(files: &'f Files, folder: &str) -> BTreeMap<&'f str, &'f str> {
    let inside = |(path, text): (&'f str, &'f str)| Some((path.strip_prefix(folder)?, text));
    files.iter().filter_map(inside).collect()
}

/// The paths below a folder.
pub(crate) fn paths<'f>(files: &'f Files, folder: &str) -> Vec<&'f str> {
    below(files, folder).into_keys().collect()
}

/// The Rust among the files.
pub(crate) fn rust(files: &Files) -> impl Iterator<Item = (&str, &str)> {
    files.iter().filter(|(path, _)| path.rsplit_once('.').is_some_and(|(_, kind)| kind == "rs"))
}

/// The lines that two texts do not share, in order, without their indentation.
pub(crate) fn differing<'t>(one: &'t str, other: &'t str) -> Vec<&'t str> {
    let only = |one: &'t str, other: &str| {
        let lines = one.lines().map(str::trim);
        lines.filter(|line| !other.lines().any(|known| known.trim() == *line)).collect::<Vec<_>>()
    };
    [only(one, other), only(other, one)].concat()
}
