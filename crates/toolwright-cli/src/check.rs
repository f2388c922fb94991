//! `toolwright check`: reports what is wrong with schemas. Writes no file.

use std::path::{Path, PathBuf};

use toolwright_codegen::project::{Checked, Failure, Project, count, tally};
use toolwright_codegen::render::{Format, render};

use crate::end::End;
use crate::{ReportFormat, print};

pub(crate) fn run(paths: Vec<PathBuf>, format: ReportFormat) -> End {
    match check(paths) {
        Ok(checked) => passed(&checked, format),
        Err(failure) => failed(&failure, format),
    }
}

fn check(paths: Vec<PathBuf>) -> Result<Checked, Failure> {
    let project = Project::open(Path::new("."))?;
    let project = if paths.is_empty() { project } else { project.with_schema(paths) };
    project.check()
}

fn passed(checked: &Checked, format: ReportFormat) -> End {
    report(&render(&checked.warnings, &checked.sources, format.into()), format);
    if format == ReportFormat::Human {
        let files = count(checked.sources.iter().count(), "file");
        print::out(&format!("check: {files}, {}\n", tally(&checked.warnings)));
    }
    End::Done
}

fn failed(failure: &Failure, format: ReportFormat) -> End {
    report(&failure.render(format.into()), format);
    print::err(&format!("check: {failure}\n"));
    End::from(failure)
}

/// A person's report goes where errors go; a program's is what the command is for.
fn report(text: &str, format: ReportFormat) {
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
