//! From schema files on disk to an output folder on disk: in full, or only what the last run's record says is needed.
//! Never decides what is needed: [`crate::incremental`] does.

use std::path::{Path, PathBuf};

use super::{Change, Failure, Generated, Size};
use crate::diagnostic::Diagnostic;
use crate::disk::{self, Moment, Notes, ReadSources};
use crate::emit;
use crate::files::Files;
use crate::incremental::{self, Inputs, Record, Scope};
use crate::lower::Lowered;
use crate::options::Options;
use crate::plan::Plans;
use crate::{Understood, understand};

/// What is to be generated, and where to.
pub(crate) struct Generation<'a> {
    /// The schema files or folders, as they were given.
    pub(crate) schema: &'a [PathBuf],
    /// What they hold.
    pub(crate) reading: ReadSources,
    /// How it is laid out.
    pub(crate) options: Options,
    /// The output folder.
    pub(crate) out: &'a Path,
}

/// What one run in full gives.
struct Whole {
    files: Files,
    warnings: Vec<Diagnostic>,
}

impl Generation<'_> {
    /// Brings the output folder up to date, with no more work than the changes since the last run ask for.
    pub(crate) fn write(self) -> Result<Generated, Failure> {
        match self.update()? {
            Some(generated) => Ok(generated),
            None => self.wholly(|out, files| {
                let begun = Moment::now();
                let written = disk::write(out, files)?;
                if written.written.is_empty() && written.removed.is_empty() {
                    // What comes of it matters to the speed of the next run alone.
                    let _ = begun.confirm(out, incremental::NAME);
                }
                Ok(Change::Written(written))
            }),
        }
    }

    /// Compares every byte of the output folder with what a run in full gives.
    #[cfg(feature = "project")]
    pub(crate) fn compare(self) -> Result<Generated, Failure> {
        self.wholly(|out, files| Ok(Change::Drift(disk::drift(out, files)?)))
    }

    fn wholly(
        self,
        change: impl FnOnce(&Path, &Files) -> Result<Change, Failure>,
    ) -> Result<Generated, Failure> {
        let (whole, out) = (self.whole(), self.out);
        let sources = self.reading.sources;
        match whole {
            Ok(Whole { files, warnings }) => {
                let (change, size) =
                    (change(out, &files)?, Size::of(files.iter().map(|(path, _)| path)));
                Ok(Generated { sources, warnings, out: out.to_owned(), size, change })
            }
            Err(findings) => Err(Failure::Rejected { sources, findings }),
        }
    }

    fn whole(&self) -> Result<Whole, Vec<Diagnostic>> {
        let ReadSources { sources, findings } = &self.reading;
        let Understood { documents, lowered, warnings } = understand(findings.clone(), sources)?;
        let interfaces = incremental::interfaces(&documents);
        // Not needed any more, and as large as everything else until then.
        drop(documents);
        let plans = Plans::new(&lowered.project, &lowered.types, &self.options);
        let mut files = emit::emit(&plans, self.options.layout);
        let record = self.inputs().map(|inputs| {
            let paths = files.iter().map(|(path, _)| path);
            inputs.record(&interfaces, paths, &warnings).text()
        });
        if let Some(record) = record {
            files.add(incremental::NAME.to_owned(), record);
        }
        Ok(Whole { files, warnings })
    }

    /// Does what the record of the last run leaves to do; none, and nothing done, if that is not enough.
    fn update(&self) -> Result<Option<Generated>, Failure> {
        if !self.reading.findings.is_empty() {
            return Ok(None);
        }
        // Another run may be exchanging what is looked at; what is truly wrong shows again in full.
        let Ok(notes) = Notes::read(self.out, incremental::NAME) else { return Ok(None) };
        let Some(inputs) = self.inputs() else { return Ok(None) };
        let Ok(survey) = notes.survey() else { return Ok(None) };
        let last = Record::parse(survey.record).filter(|last| last.is_about(&survey.listed));
        let Some(last) = last else { return Ok(None) };
        let Some(touched) = last.crates_of(&survey.touched) else { return Ok(None) };
        let Some(scope) = inputs.scope(&last, &touched) else { return Ok(None) };
        let sources = inputs.select(&scope);
        // What is wrong is told after a run in full, which sees all of it.
        let Ok(Understood { lowered, warnings, .. }) = understand(Vec::new(), &sources) else {
            return Ok(None);
        };
        let files = self.files(&lowered, &scope);
        let record = inputs.renewed(last, &scope, &sources, &warnings).text();
        let written =
            disk::update(self.out, &survey, &scope.crates, &files, (incremental::NAME, &record))?;
        Ok(written.map(|written| {
            let size = Size::of(survey.listed.iter().copied());
            let change = Change::Written(written);
            Generated { sources, warnings, out: self.out.to_owned(), size, change }
        }))
    }

    fn files(&self, lowered: &Lowered, scope: &Scope) -> Files {
        if scope.crates.is_empty() {
            return Files::default();
        }
        let plans = Plans::new(&lowered.project, &lowered.types, &self.options);
        emit::emit_crates(&plans, self.options.layout, |krate| scope.crates.contains(&krate.dir))
    }

    fn inputs(&self) -> Option<Inputs<'_>> {
        let roots: Vec<String> = self.schema.iter().map(|path| disk::shown(path)).collect();
        Inputs::new(&self.reading.sources, &roots, &self.options)
    }
}
