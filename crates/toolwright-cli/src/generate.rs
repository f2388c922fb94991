//! `toolwright gen`: brings a project's output folder up to date, or says how it differs.

use std::path::{Path, PathBuf};

use toolwright_codegen::project::{Failure, Generated, Mode, Project};

use crate::end::End;
use crate::{print, progress};

/// Where things are, if not where the project says.
pub(crate) struct Places {
    /// The folder of schema files.
    pub(crate) schema: Option<PathBuf>,
    /// The folder of generated crates.
    pub(crate) out: Option<PathBuf>,
}

pub(crate) fn run(places: &Places, check: bool) -> End {
    let mode = if check { Mode::Check } else { Mode::Write };
    match places.open().and_then(|project| progress::shown(|| project.generate(mode))) {
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

impl Places {
    /// The project of the current folder.
    pub(crate) fn open(&self) -> Result<Project, Failure> {
        let mut project = Project::open(Path::new("."))?;
        if let Some(schema) = &self.schema {
            project = project.with_schema(vec![schema.clone()]);
        }
        if let Some(out) = &self.out {
            project = project.with_out(out.clone());
        }
        Ok(project)
    }
}
