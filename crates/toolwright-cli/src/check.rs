//! `toolwright check`: reports mistakes in schemas without writing files.

use std::path::{Path, PathBuf};

use toolwright_codegen::project::{Checked, Failure, Project, count, tally};
use toolwright_codegen::render::{Format, render};

use crate::exit::Exit;
use crate::{Deny, ReportFormat, print};

pub(crate) fn run(paths: Vec<PathBuf>, format: ReportFormat, deny: Option<Deny>) -> Exit {
    let paths: Vec<_> = paths.into_iter().map(|path| relative(&path)).collect();
    match Project::open(Path::new(".")) {
        Ok(project) if paths.is_empty() => report(&project, format, deny),
        Ok(project) => report(&project.with_schema(paths), format, deny),
        Err(failure) => report_failure(&failure, format),
    }
}

/// Checks a project and prints the findings.
pub(crate) fn report(project: &Project, format: ReportFormat, deny: Option<Deny>) -> Exit {
    match project.check() {
        Ok(checked) => report_checked(&checked, format, deny),
        Err(failure) => report_failure(&failure, format),
    }
}

/// Makes a path in the current folder relative to it, so that reports name files as a project does.
fn relative(path: &Path) -> PathBuf {
    let current = std::env::current_dir().ok();
    let relative = current.as_deref().and_then(|current| path.strip_prefix(current).ok());
    match relative {
        Some(relative) if relative.as_os_str().is_empty() => PathBuf::from("."),
        Some(relative) => relative.to_owned(),
        None => path.to_owned(),
    }
}

fn report_checked(checked: &Checked, format: ReportFormat, deny: Option<Deny>) -> Exit {
    print_report(&render(&checked.warnings, &checked.sources, format.into()), format);
    if format == ReportFormat::Human {
        let files = count(checked.sources.iter().count(), "file");
        print::out(&format!("check: {files}, {}\n", tally(&checked.warnings)));
    }
    if deny == Some(Deny::Warnings) && !checked.warnings.is_empty() {
        print::err(&format!("check: {}, denied\n", tally(&checked.warnings)));
        return Exit::Rejected;
    }
    Exit::Success
}

fn report_failure(failure: &Failure, format: ReportFormat) -> Exit {
    print_report(&failure.render(format.into()), format);
    print::err(&format!("check: {failure}\n"));
    Exit::from(failure)
}

/// Prints a report for people to standard error, and a report for programs to standard output.
fn print_report(text: &str, format: ReportFormat) {
    match format {
        ReportFormat::Human => print::err(text),
        _ => print::out(text),
    }
}

impl From<ReportFormat> for Format {
    fn from(format: ReportFormat) -> Self {
        match format {
            ReportFormat::Human => print::human(),
            ReportFormat::Json => Self::Json,
            ReportFormat::Sarif => Self::Sarif,
            ReportFormat::Github => Self::Github,
        }
    }
}
