//! `toolwright gen`: updates a project's output folder, or reports how it differs.

use std::path::{Path, PathBuf};

use toolwright_codegen::project::{Failure, Generated, Mode, Project};

use crate::exit::Exit;
use crate::{print, progress};

/// The folders from the command line, which override those of the project.
pub(crate) struct Folders {
    /// The folder of schema files.
    pub(crate) schema: Option<PathBuf>,
    /// The folder of generated crates.
    pub(crate) out: Option<PathBuf>,
}

pub(crate) fn run(folders: &Folders, check: bool) -> Exit {
    let mode = if check { Mode::Check } else { Mode::Write };
    match folders.open().and_then(|project| progress::with_timer(|| project.generate(mode))) {
        Ok(generated) => report(&generated),
        Err(failure) => report_failure("gen", &failure),
    }
}

/// Prints the report of a successful generation.
pub(crate) fn report(generated: &Generated) -> Exit {
    print::err(&generated.render_warnings(print::human()));
    print::out(&generated.report("toolwright gen"));
    if generated.is_up_to_date() { Exit::Success } else { Exit::Rejected }
}

/// Prints why a command failed.
pub(crate) fn report_failure(command: &str, failure: &Failure) -> Exit {
    print::err(&failure.render(print::human()));
    print::err(&format!("{command}: {failure}; nothing was written\n"));
    Exit::from(failure)
}

impl Folders {
    /// Opens the project of the current folder.
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
