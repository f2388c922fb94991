//! `toolwright gen`: brings a project's output folder up to date, or says how it differs.

use std::path::{Path, PathBuf};

use toolwright_codegen::project::{Failure, Generated, Mode, Project};

use crate::end::End;
use crate::print;

pub(crate) fn run(schema: Option<PathBuf>, out: Option<PathBuf>, check: bool) -> End {
    let mode = if check { Mode::Check } else { Mode::Write };
    match open(schema, out).and_then(|project| project.generate(mode)) {
        Ok(generated) => done(&generated),
        Err(failure) => failed("gen", &failure),
    }
}

/// Tells what came of a generation that ran.
pub(crate) fn done(generated: &Generated) -> End {
    print::err(&generated.render_warnings(print::human()));
    print::out(&generated.report("toolwright gen"));
    if generated.is_up_to_date() { End::Done } else { End::Rejected }
}

/// Tells why a command did not run.
pub(crate) fn failed(command: &str, failure: &Failure) -> End {
    print::err(&failure.render(print::human()));
    print::err(&format!("{command}: {failure}; nothing was written\n"));
    End::from(failure)
}

fn open(schema: Option<PathBuf>, out: Option<PathBuf>) -> Result<Project, Failure> {
    let mut project = Project::open(Path::new("."))?;
    if let Some(schema) = schema {
        project = project.with_schema(vec![schema]);
    }
    if let Some(out) = out {
        project = project.with_out(out);
    }
    Ok(project)
}
