//! Generates an output folder from schema files: in full, or only what changed since the last run, as
//! [`crate::incremental`] decides.

use std::fmt::Debug;
use std::path::Path;

use super::{Change, Failure, Generated, Size};
use crate::diagnostic::{Diagnostic, Report, Severity, shown};
#[cfg(feature = "project")]
use crate::dialects::Dialects;
use crate::disk::{self, LastRun, OutputState, ReadSources};
use crate::emit;
use crate::files::Files;
use crate::incremental::{Interface, Record};
use crate::lower;
use crate::model::Project;
use crate::options::Options;
use crate::plan::{Crate, Plans};
use crate::schema::Budget;
use crate::source::Sources;
use crate::syntax;
use crate::{Analysis, analyze, analyze_documents};

/// The inputs and the output folder of a run.
pub(crate) struct Generation<'a> {
    /// The schema files.
    pub(crate) reading: ReadSources,
    /// The options.
    pub(crate) options: Options,
    /// The text of `toolwright.toml`, for the spans in the options.
    pub(crate) config_text: &'a Sources,
    /// True if the schema is the project's own, which has to declare every type that the options name.
    pub(crate) has_all_types: bool,
    /// The dialects of the project, with its targets.
    #[cfg(feature = "project")]
    pub(crate) dialects: Option<&'a Dialects>,
    /// The output folder.
    pub(crate) out: &'a Path,
}

/// The result of a full run.
struct FullRun {
    files: Files,
    /// The record for the next run.
    record: Option<Record>,
    warnings: Vec<Diagnostic>,
}

impl Generation<'_> {
    /// Brings the output folder up to date, generating only what changed since the last run if possible. A project with targets
    /// is always generated in full, since these concern all of its tools.
    pub(crate) fn write(self) -> Result<Generated, Failure> {
        if !self.is_held()
            && let Some(generated) = self.update()?
        {
            return Ok(generated);
        }
        self.with_full_run(|out, FullRun { files, record, .. }| {
            let record = record.as_ref().map(Record::text);
            Ok(Change::Written(disk::write_recorded(out, files, record.as_deref())?))
        })
    }

    /// Compares every byte of the output folder with the result of a full run. Does not use the record.
    #[cfg(feature = "project")]
    pub(crate) fn compare(self) -> Result<Generated, Failure> {
        self.with_full_run(|out, FullRun { files, .. }| Ok(Change::Drift(disk::drift(out, files)?)))
    }

    fn with_full_run(
        mut self,
        change: impl FnOnce(&Path, &FullRun) -> Result<Change, Failure>,
    ) -> Result<Generated, Failure> {
        let run = self.run_in_full()?;
        let change = change(self.out, &run)?;
        let (sources, out) = (self.reading.sources, self.out.to_owned());
        let size = Size::of(paths(&run.files));
        Ok(Generated { sources, warnings: run.warnings, out, size, change })
    }

    /// Analyzes the schema, and checks it against the configuration. Also returns what the dialects find.
    pub(crate) fn analyze(&mut self) -> Result<(Analysis, Vec<Diagnostic>), Failure> {
        let ReadSources { sources, findings } = &self.reading;
        let analysis = match analyze(findings.clone(), sources, &self.options) {
            Ok(analysis) => analysis,
            Err(findings) => return Err(self.rejected(findings)),
        };
        let project = &analysis.lowered.project;
        let reserved = lower::check_packages(project, &self.options);
        if !reserved.is_empty() {
            return Err(self.rejected([analysis.warnings, reserved].concat()));
        }
        let (unknown_tools, found) = self.judge(project);
        let mut mistakes = lower::check_types(project, &self.options.types, self.has_all_types);
        mistakes.extend(unknown_tools);
        if !mistakes.is_empty() {
            let mistakes = shown(mistakes);
            let sources = self.config_text.clone();
            return Err(Failure::Rejected { sources, findings: mistakes });
        }
        if found.iter().any(|finding| finding.severity == Severity::Error) {
            return Err(self.rejected([analysis.warnings, found].concat()));
        }
        Ok((analysis, found))
    }

    fn rejected(&mut self, findings: Vec<Diagnostic>) -> Failure {
        Failure::Rejected { sources: std::mem::take(&mut self.reading.sources), findings }
    }

    fn run_in_full(&mut self) -> Result<FullRun, Failure> {
        let (Analysis { documents, lowered, mut warnings }, found) = self.analyze()?;
        let interfaces: Vec<Interface> = documents.iter().map(Interface::of).collect();
        // They are as large as everything else and no longer needed.
        drop(documents);
        let plans = Plans::new(&lowered.project, &lowered.types, &self.options);
        let files = emit::emit(&plans, self.options.layout);
        let schemas = &lowered.project.schemas;
        let record = self.generator().and_then(|generator| {
            let (sources, left) = (&self.reading.sources, Budget::instructions_beside(schemas));
            Record::new(&generator, sources, &interfaces, paths(&files), &warnings, left)
        });
        // The record has no findings of dialects, which a run without dialects must not show.
        warnings.extend(found);
        Ok(FullRun { files, record, warnings })
    }

    /// Generates only what changed since the last run. Returns `None` and changes nothing if a full run is needed.
    fn update(&self) -> Result<Option<Generated>, Failure> {
        if !self.reading.findings.is_empty() {
            return Ok(None);
        }
        let Some(found) = disk::read_record(self.out) else { return Ok(None) };
        let Some(last) = LastRun::parse(&found) else { return Ok(None) };
        let Some(mut record) = Record::parse(last.compiler_record) else { return Ok(None) };
        // Compared first, because reading the folder may take long.
        if !self.generator().is_some_and(|generator| record.is_of(&generator)) {
            return Ok(None);
        }
        let Some(state) = OutputState::read(self.out, &last) else { return Ok(None) };
        let outdated = record.update(&self.reading.sources, &state.touched);
        let Some(outdated) = outdated else { return Ok(None) };
        let mut report = Report::default();
        let documents = syntax::parse(&outdated.sources, &mut report);
        if !record.has_interfaces_of(&outdated.sources, &documents) {
            return Ok(None);
        }
        // A full run reports the errors, because it sees all of them.
        let analysis = analyze_documents(documents, report, &outdated.sources, &self.options);
        let Ok(Analysis { lowered, warnings, .. }) = analysis else { return Ok(None) };
        if !lower::check_types(&lowered.project, &self.options.types, false).is_empty() {
            return Ok(None);
        }
        // Files with warnings are compiled in every run.
        let has_changed = record.text() != last.compiler_record;
        let instructions = Budget::instructions_of(&lowered.project.schemas);
        if has_changed && !record.spend_instructions(instructions) {
            return Ok(None);
        }
        record.set_warnings(&outdated.sources, &warnings);
        let files = if outdated.crates.is_empty() {
            Files::default()
        } else {
            let plans = Plans::new(&lowered.project, &lowered.types, &self.options);
            let is_outdated = |krate: &Crate| outdated.crates.contains(&krate.dir);
            emit::emit_crates(&plans, self.options.layout, is_outdated)
        };
        let written = disk::update(self.out, &state, &outdated.crates, &files, &record.text())?;
        Ok(written.map(|written| Generated {
            sources: outdated.sources,
            warnings,
            out: self.out.to_owned(),
            size: Size::of(last.paths.iter().copied()),
            change: Change::Written(written),
        }))
    }

    /// Returns what the output depends on besides the schema files: the options, and the build of this program, because
    /// different builds of one version may generate different code. Returns `None` if the build is unknown.
    fn generator(&self) -> Option<impl Debug> {
        Some((&self.options, disk::build_time()?))
    }
}

#[cfg(feature = "project")]
impl Generation<'_> {
    /// Returns whether there are targets.
    fn is_held(&self) -> bool {
        self.dialects.is_some()
    }

    /// Returns the mistakes in exceptions for unknown tools, and what the dialects find.
    fn judge(&self, project: &Project) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        let Some(dialects) = self.dialects else { return Default::default() };
        let unknown_tools =
            if self.has_all_types { dialects.unknown_tools(project) } else { Vec::new() };
        (unknown_tools, dialects.findings(project))
    }
}

#[cfg(not(feature = "project"))]
#[expect(clippy::unused_self, reason = "as with the feature")]
impl Generation<'_> {
    fn is_held(&self) -> bool {
        false
    }

    fn judge(&self, _: &Project) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        Default::default()
    }
}

/// Returns the paths of all files in the output folder, in order.
fn paths(files: &Files) -> impl Iterator<Item = &str> {
    std::iter::once(disk::MARKER).chain(files.iter().map(|(path, _)| path))
}
