//! `toolwright check`: reports what is wrong with schemas. Writes no file.

use std::path::{Path, PathBuf};

use toolwright_codegen::project::{Checked, Failure, Project, count, tally};
use toolwright_codegen::render::{Format, render};

use crate::end::End;
use crate::{Deny, ReportFormat, print};

pub(crate) fn run(paths: Vec<PathBuf>, format: ReportFormat, deny: Option<Deny>) -> End {
    let paths = paths.into_iter().map(|path| from_here(&path)).collect();
    match check(paths) {
        Ok(checked) => passed(&checked, format, deny),
        Err(failure) => failed(&failure, format),
    }
}

fn check(paths: Vec<PathBuf>) -> Result<Checked, Failure> {
    let project = Project::open(Path::new("."))?;
    let project = if paths.is_empty() { project } else { project.with_schema(paths) };
    project.check()
}

/// A path as seen from the current folder, where it is below: reports name files as a project does.
fn from_here(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    match below {
        Some(below) if below.as_os_str().is_empty() => PathBuf::from("."),
        Some(below) => below.to_owned(),
        None => path.to_owned(),
    }
}

fn passed(checked: &Checked, format: ReportFormat, deny: Option<Deny>) -> End {
    report(&render(&checked.warnings, &checked.sources, format.into()), format);
    if format == ReportFormat::Human {
        let files = count(checked.sources.iter().count(), "file");
        print::out(&format!("check: {files}, {}\n", tally(&checked.warnings)));
    }
    if deny == Some(Deny::Warnings) && !checked.warnings.is_empty() {
        print::err(&format!("check: {}, denied\n", tally(&checked.warnings)));
        return End::Rejected;
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
