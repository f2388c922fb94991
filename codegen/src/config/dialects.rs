//! Parses the table `[dialects]`: the targets of a project, and which losses it allows.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use toolwright_dialect::{Dialect, Policy};

use crate::diagnostic::files;
use crate::dialects::{self, Strict};
use crate::source::{self, SourceId, Span};

/// Options for provider dialects.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Dialects {
    targets: Vec<Spanned<String>>,
    files: Vec<Spanned<PathBuf>>,
    strict: Strict,
    emit: bool,
    policy: Policy,
    tools: BTreeMap<Spanned<String>, Policy>,
}

impl Dialects {
    /// Returns the project's own files of dialects, each with its span.
    pub(super) fn files(&self) -> impl Iterator<Item = (&Path, Range<usize>)> {
        self.files.iter().map(|file| (file.as_ref().as_path(), file.span()))
    }

    /// Resolves the targets, among the built-in dialects and those of the project.
    pub(super) fn resolve(
        &self,
        own: Vec<Dialect>,
        source: SourceId,
    ) -> Result<dialects::Dialects, Vec<(Span, String)>> {
        let mut mistakes = Vec::new();
        let mut resolved = dialects::Dialects {
            own,
            targets: Vec::new(),
            strict: self.strict,
            emit: self.emit,
            policy: levels(&self.policy),
            exceptions: BTreeMap::new(),
        };
        for target in &self.targets {
            let span = files::span(source, target.span());
            match resolved.find(target.as_ref()) {
                Err(error) => mistakes.push((span, error.to_string())),
                Ok(row) => {
                    let id = row.dated_id();
                    if resolved.targets.contains(&id) {
                        mistakes.push((span, format!("the target `{}` is listed twice", row.id())));
                    } else {
                        resolved.targets.push(id);
                    }
                }
            }
        }
        for (tool, policy) in &self.tools {
            let span = files::span(source, tool.span());
            let exception = source::Spanned { value: levels(policy), span };
            resolved.exceptions.insert(tool.as_ref().clone(), exception);
        }
        if mistakes.is_empty() { Ok(resolved) } else { Err(mistakes) }
    }

    /// Returns the mistakes, each with its span.
    pub(super) fn mistakes(&self) -> Vec<(Range<usize>, String)> {
        let unexplained = self.tools.iter().filter(|(_, policy)| policy.because.is_none());
        let mut mistakes: Vec<_> =
            unexplained.map(|(tool, _)| (tool.span(), NO_REASON.to_owned())).collect();
        if let (true, Some(first)) = (self.targets.is_empty(), self.tools.keys().next()) {
            mistakes.push((first.span(), NO_TARGETS.to_owned()));
        }
        mistakes
    }
}

/// Returns a policy without its reason, which can be long: each tool has a copy of its policy in each target.
fn levels(policy: &Policy) -> Policy {
    Policy { because: None, ..policy.clone() }
}

const NO_REASON: &str = "an exception needs a reason; expected `because = \"…\"` in this table";
const NO_TARGETS: &str = "nothing is checked without targets; expected `targets = [\"openai-responses\"]`, or the like, under `[dialects]`";
