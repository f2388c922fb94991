//! What checking and generating give, and how it is told in a line. Never decides where a line goes.

use std::fmt;
use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Severity};
use crate::disk::{self, Drift, IoError, OutputError, SetAside, Written};
use crate::render::{Format, printable, render};
use crate::source::Sources;

/// How many files that were left alone are named.
const KEPT_LINES: usize = 10;

/// What [`super::Project::check`] gives.
#[derive(Debug)]
pub struct Checked {
    /// What was read.
    pub sources: Sources,
    /// What was found that does not stand in the way.
    pub warnings: Vec<Diagnostic>,
}

/// What [`super::Project::generate`] gives.
#[derive(Debug)]
pub struct Generated {
    /// What was read.
    pub sources: Sources,
    /// What was found that does not stand in the way.
    pub warnings: Vec<Diagnostic>,
    /// The output folder.
    pub out: PathBuf,
    /// How much belongs into it.
    pub size: Size,
    /// What was done, or is to be done.
    pub change: Change,
}

/// How much is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// How many crates.
    pub crates: usize,
    /// How many files.
    pub files: usize,
}

/// The output folder after or without writing.
#[derive(Debug)]
pub enum Change {
    /// It was brought up to date.
    Written(Written),
    /// It was compared.
    Drift(Drift),
}

/// Why a project could not be opened, checked or generated.
#[derive(Debug)]
pub enum Failure {
    /// The schema or the configuration is wrong.
    Rejected {
        /// What was read.
        sources: Sources,
        /// What is wrong with it.
        findings: Vec<Diagnostic>,
    },
    /// The output folder is not as it must be, or the system refused.
    Output(OutputError),
    /// The system refused.
    Io(IoError),
}

impl Size {
    /// Of the files at these paths.
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
    /// Whether the output folder is now as it should be.
    pub fn is_up_to_date(&self) -> bool {
        matches!(&self.change, Change::Drift(drift) if drift.is_empty())
            || matches!(self.change, Change::Written(_))
    }

    /// The result in lines: files that differ if it was compared, a summary, and what is left to do.
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
                lines.extend(written.set_aside.as_ref().map(set_aside_line));
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

    /// Files that were left alone still count as drift, so they are named; a `target` folder has thousands.
    fn kept_lines(&self, foreign: &[String]) -> Vec<String> {
        let line = |path: &String| {
            format!("kept {}, which was not generated; move or remove it", self.shown(path))
        };
        let mut lines: Vec<String> = foreign.iter().take(KEPT_LINES).map(line).collect();
        if let Some(more) = foreign.len().checked_sub(KEPT_LINES).filter(|more| *more > 0) {
            lines.push(format!("kept {more} more"));
        }
        lines
    }

    /// A file of the output folder, in a message.
    fn shown(&self, path: &str) -> String {
        printable(&disk::slash_path(&self.out.join(path))).into_owned()
    }

    /// The warnings as text.
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
    /// Whether it is the user's text that must change, not something on disk.
    pub fn is_rejection(&self) -> bool {
        matches!(self, Self::Rejected { .. })
    }

    /// The findings as text; empty for failures that are not about a text.
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
    format!("moved {which} to {folder}: not known to be as generated; look and delete the folder")
}

/// How many findings there are of each severity, such as `2 errors, 1 warning`; `no errors` for none.
pub fn tally(findings: &[Diagnostic]) -> String {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    match (of(Severity::Error), of(Severity::Warning)) {
        (0, 0) => "no errors".to_owned(),
        (0, warnings) => count(warnings, "warning"),
        (errors, 0) => count(errors, "error"),
        (errors, warnings) => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
    }
}

/// A number and a noun that agree.
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
