//! The findings of `check` about the imported parts of a document.

use std::collections::BTreeSet;

use super::place::{self, Path, place};
use super::{Draft, is_about_names, is_over_budget};
use toolwright_codegen::diagnostic::{Diagnostic, Severity, SourceId};
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::yaml::{self, Node};
use toolwright_codegen::{Source, Sources};

/// The path of the document among the files of a project. No other file has an empty path.
const DRAFT_PATH: &str = "";

/// The result of `check` on a document.
pub(super) struct Checked {
    pub(super) findings: Vec<Diagnostic>,
    /// True if there are more findings.
    pub(super) is_cut_off: bool,
    source: Option<SourceId>,
    root: Option<Node>,
}

impl Checked {
    /// Runs `check` and keeps the findings about imported parts.
    pub(super) fn of(document: &Json, draft: &Draft<'_>) -> Self {
        let (sources, mut findings) = check((draft.write)(document), draft.other_files);
        let ours = sources.iter().find(|(_, source)| source.path == DRAFT_PATH);
        let root = ours.and_then(|(id, source)| {
            yaml::parse(id, &source.text, &mut toolwright_codegen::diagnostic::Report::default())
        });
        let source = ours.map(|(id, _)| id);
        let is_cut_off = findings.iter().any(|finding| finding.code == "too-many-findings");
        let mut checked = Self { findings: Vec::new(), is_cut_off, source, root };
        let is_foreign = (draft.is_foreign)(document);
        findings.retain(|finding| {
            let places = checked.places(finding);
            let is_ours = |path: &[String]| !is_foreign(path);
            let is_everywhere = finding.span.is_none() && finding.severity == Severity::Error;
            let is_new = || !places.is_empty() && !(draft.had)(finding.code);
            let is_about_us =
                is_everywhere || places.iter().any(|(_, place)| is_ours(&place.path)) || is_new();
            counts(finding) && is_about_us
        });
        checked.findings = findings;
        checked
    }

    /// Returns whether a finding is about all tools together, so that leaving out a part of one does not help.
    pub(super) fn is_about_all(&self, finding: &Diagnostic) -> bool {
        let places = self.places(finding);
        places.is_empty() || is_over_budget(finding) && places.iter().all(|(_, place)| place.is_key)
    }

    /// The findings about the names of the service and the toolsets, which an import never changes.
    pub(super) fn of_owner(&self) -> Vec<Diagnostic> {
        let is_owner = |(_, place): &(u32, place::Place)| match place.path.as_slice() {
            [service] => service == "service",
            [toolsets, _] => toolsets == "toolsets" && place.is_key,
            _ => false,
        };
        let of_owner = self.findings.iter().filter(|finding| {
            is_about_names(finding.code) && self.places(finding).iter().all(is_owner)
        });
        of_owner.cloned().collect()
    }

    /// The places of a finding in the document, each with its offset in the text.
    pub(super) fn places(&self, finding: &Diagnostic) -> Vec<(u32, place::Place)> {
        let further = finding.labels.iter().map(|label| label.span);
        let spans = finding.span.into_iter().chain(further);
        let spans = spans.filter(|span| Some(span.source) == self.source);
        let found = spans.map(|span| match &self.root {
            Some(root) => (span.start, place(root, span)),
            None => (span.start, place::Place { path: Path::new(), is_key: false }),
        });
        found.collect()
    }
}

/// Returns whether an import avoids a finding. A wrong default is only a warning of `check`, but it is left out too: models must not
/// send it.
fn counts(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error || finding.code == "default-breaks-schema"
}

/// Returns the codes of the findings about a file.
pub(in super::super) fn codes(text: &str, other_files: &[Source]) -> BTreeSet<&'static str> {
    let (_, findings) = check(text.to_owned(), other_files);
    findings.iter().filter(|finding| counts(finding)).map(|finding| finding.code).collect()
}

/// Runs `check` on a file together with others.
fn check(text: String, other_files: &[Source]) -> (Sources, Vec<Diagnostic>) {
    let mut files = other_files.to_vec();
    files.push(Source { path: DRAFT_PATH.to_owned(), text });
    let sources = Sources::new(files);
    let findings = toolwright_codegen::check(&sources).unwrap_or_else(|findings| findings);
    (sources, findings)
}
