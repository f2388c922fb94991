//! The results of checking and generating, and their texts.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Severity};
use crate::disk::{self, Drift, IoError, OutputError, SetAside, Written};
use crate::render::{Format, printable, render};
use crate::source::Sources;

/// The most files that are named because they were kept.
const MAX_KEPT: usize = 10;

/// The result of [`super::Project::check`].
#[derive(Debug)]
pub struct Checked {
    /// The schema files.
    pub sources: Sources,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
}

/// A tool as it is published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedTool {
    /// Its name.
    pub name: String,
    /// The name of its toolset.
    pub toolset: String,
    /// The names of the agents that use it.
    pub agents: Vec<String>,
    /// Its description for models.
    pub description: String,
    /// The JSON Schema of its arguments, as compact text.
    pub args: String,
    /// The JSON Schema of its result, if a provider gets it: an agent implements the tool, and its model answers with the result.
    pub answer: Option<String>,
    /// True if it is hidden from models until they search for it.
    pub is_deferred: bool,
}

/// The result of [`super::Project::generate`].
#[derive(Debug)]
pub struct Generated {
    /// The schema files.
    pub sources: Sources,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// The output folder.
    pub out: PathBuf,
    /// The number of crates and files in it.
    pub size: Size,
    /// The changes made or the differences found.
    pub change: Change,
}

/// The size of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of crates.
    pub crates: usize,
    /// The number of files.
    pub files: usize,
}

/// The changes made or the differences found.
#[derive(Debug)]
pub enum Change {
    /// The output folder was brought up to date.
    Written(Written),
    /// The output folder was compared.
    Drift(Drift),
}

/// Why a project could not be opened, checked or generated.
#[derive(Debug)]
pub enum Failure {
    /// The schema or the configuration is wrong.
    Rejected {
        /// The schema files, or the configuration.
        sources: Sources,
        /// The errors, and the warnings.
        findings: Vec<Diagnostic>,
    },
    /// The output folder cannot be used, or the system reported an error.
    Output(OutputError),
    /// The system reported an error.
    Io(IoError),
}

impl Size {
    /// Counts the files at these paths, and the crates among them.
    pub(super) fn of<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut size = Self { crates: 0, files: 0 };
        for path in paths {
            size.files += 1;
            size.crates += usize::from(path.ends_with("/Cargo.toml"));
        }
        size
    }
}

impl Generated {
    /// Returns whether the output folder is now up to date.
    pub fn is_up_to_date(&self) -> bool {
        matches!(&self.change, Change::Drift(drift) if drift.is_empty())
            || matches!(self.change, Change::Written(_))
    }

    /// Returns the result as lines: the files that differ if it was compared, a summary, and what is left to do.
    pub fn report(&self, command: &str) -> String {
        let mut lines = self.drift_lines();
        lines.push(self.summary());
        lines.extend(self.advice(command));
        lines.join("\n") + "\n"
    }

    fn advice(&self, command: &str) -> Vec<String> {
        match &self.change {
            Change::Written(written) => {
                let mut lines = self.kept_lines(&written.foreign);
                // Of a new project, everything is new.
                if written.created.len() < self.size.files || !written.removed.is_empty() {
                    lines.extend(self.new_crate_lines(&written.created));
                }
                lines.extend(written.set_aside.as_ref().map(set_aside_line));
                lines.extend(written.old.as_deref().map(old_line));
                lines
            }
            Change::Drift(drift) if drift.is_empty() => Vec::new(),
            Change::Drift(drift) => {
                let run = format!(
                    "run `{command}` to bring {} up to date",
                    printable(&disk::slash_path(&self.out))
                );
                let stray = "; orphaned files that were not generated are yours to move or remove";
                vec![if drift.orphaned.is_empty() { run } else { run + stray }]
            }
        }
    }

    /// Names the new crates, as nothing depends on them yet.
    fn new_crate_lines(&self, created: &[String]) -> Vec<String> {
        let folders = created.iter().filter_map(|path| path.strip_suffix("/Cargo.toml"));
        let line = |folder: &str| {
            format!("new crate in {}; to use it, add a dependency on this path", self.shown(folder))
        };
        folders.map(line).collect()
    }

    /// Names the files that were kept, because they count as drift; only the first, because a `target` folder has thousands.
    fn kept_lines(&self, foreign: &[String]) -> Vec<String> {
        let line = |path: &String| {
            format!("kept {}, which was not generated; move or remove it", self.shown(path))
        };
        let mut lines: Vec<String> = foreign.iter().take(MAX_KEPT).map(line).collect();
        if let Some(more) = foreign.len().checked_sub(MAX_KEPT).filter(|more| *more > 0) {
            lines.push(format!("kept {more} more"));
        }
        lines
    }

    /// Returns the path of an output file for a message.
    fn shown(&self, path: &str) -> String {
        printable(&disk::slash_path(&self.out.join(path))).into_owned()
    }

    /// Returns the warnings as text.
    pub fn render_warnings(&self, format: Format) -> String {
        render(&self.warnings, &self.sources, format)
    }

    fn summary(&self) -> String {
        let Size { crates, files } = self.size;
        let size = format!("gen: {}, {}", count(crates, "crate"), count(files, "file"));
        match &self.change {
            Change::Written(Written { written, unchanged, removed, .. }) => {
                format!(
                    "{size}: {} written, {} unchanged, {} removed",
                    written.len(),
                    unchanged.len(),
                    removed.len()
                )
            }
            Change::Drift(drift) if drift.is_empty() => format!("{size}: up to date"),
            Change::Drift(Drift { missing, stale, orphaned }) => {
                format!(
                    "{size}: {} missing, {} stale, {} orphaned",
                    missing.len(),
                    stale.len(),
                    orphaned.len()
                )
            }
        }
    }

    fn drift_lines(&self) -> Vec<String> {
        let Change::Drift(Drift { missing, stale, orphaned }) = &self.change else {
            return Vec::new();
        };
        let kinds = [("missing", missing), ("stale", stale), ("orphaned", orphaned)];
        let line = |kind, path: &String| format!("{kind} {}", self.shown(path));
        kinds
            .iter()
            .flat_map(|(kind, paths)| paths.iter().map(move |path| line(kind, path)))
            .collect()
    }
}

impl Failure {
    /// Returns whether the schema or the configuration must change, not something else on disk.
    pub fn is_rejection(&self) -> bool {
        matches!(self, Self::Rejected { .. })
    }

    /// Returns the findings as text; empty for other failures.
    pub fn render(&self, format: Format) -> String {
        match self {
            Self::Rejected { sources, findings } => render(findings, sources, format),
            Self::Output(_) | Self::Io(_) => String::new(),
        }
    }
}

fn set_aside_line(SetAside { folder, files }: &SetAside) -> String {
    let folder = disk::printable_path(folder);
    let which = match files.as_slice() {
        [file] => printable(file).into_owned(),
        files => count(files.len(), "file"),
    };
    format!(
        "moved {which} to {folder}: perhaps edited since it was generated; check, then delete the folder"
    )
}

fn old_line(old: &Path) -> String {
    let old = disk::printable_path(old);
    format!("cannot remove the old version of the output folder: check {old}, then delete it")
}

/// Returns the number of findings of each severity, such as `2 errors, 1 warning`; `no errors` if there are none.
pub fn tally(findings: &[Diagnostic]) -> String {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    match (of(Severity::Error), of(Severity::Warning)) {
        (0, 0) => "no errors".to_owned(),
        (0, warnings) => count(warnings, "warning"),
        (errors, 0) => count(errors, "error"),
        (errors, warnings) => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
    }
}

/// Returns a number with its noun, in the plural if needed.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected { findings, .. } => f.write_str(&tally(findings)),
            Self::Output(error) => error.fmt(f),
            Self::Io(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Diagnostic> for Failure {
    fn from(finding: Diagnostic) -> Self {
        Self::Rejected { sources: Sources::default(), findings: vec![finding] }
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::Output(error)
    }
}

impl From<IoError> for Failure {
    fn from(failure: IoError) -> Self {
        Self::Io(failure)
    }
}
