//! A project on disk, which can be checked and generated.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use toolwright_dialect::{Dialect, DialectError};

use super::{Checked, Failure, Generated, Generation, PublishedTool};
use crate::config::{Breaking, CONFIG_FILE, Config, normalize_lexically};
use crate::diagnostic::{Diagnostic, files as mistakes, projects};
use crate::dialects::Dialects;
use crate::disk::{self, OutputError, ProjectText, ReadSources};
use crate::json::Style;
use crate::model::{self, Tool};
use crate::options::Options;
use crate::schema::published;
use crate::source::{Source, Sources, Span};
use crate::{Analysis, analyze};

/// A project: its schema files and its output folder.
#[derive(Debug)]
pub struct Project {
    /// The folder of the configuration, as shown in messages: empty for the current folder.
    root: PathBuf,
    config: Config,
    dialects: Arc<Dialects>,
    /// The text of the configuration.
    config_text: Sources,
    /// True if the schema is the configured one, not that of [`Project::with_schema`].
    has_own_schema: bool,
    schema: Vec<PathBuf>,
    out: PathBuf,
    /// The span of `out` in the configuration, if it is set there.
    out_span: Option<Span>,
}

/// Whether to write the output folder or to compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Bring the output folder up to date.
    Write,
    /// Compare the output folder, without changing it.
    Check,
}

impl Project {
    /// Opens the project of a folder. `toolwright.toml` in this folder, or in the nearest one above that has it, sets the
    /// folders of the project; without such a file, the schema is in `schema` and the output in `gen`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or has a mistake.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let Some((root, text)) = configuration(folder)? else {
            let root = above(folder, 0);
            return Ok(Self::new(Config::default(), Dialects::default(), Sources::default(), root));
        };
        let (config, text) = parse(&root, text)?;
        match dialects(&root, &config) {
            Ok(dialects) => Ok(Self::new(config, dialects, text, root)),
            Err(findings) => Err(Failure::Rejected { sources: text, findings }),
        }
    }

    /// Returns the files that configure the project of a folder: its `toolwright.toml` and the files of dialects that this names.
    /// They may have mistakes, and those of dialects may be missing.
    pub fn configuration_files(folder: &Path) -> Vec<PathBuf> {
        let Ok(Some((root, text))) = configuration(folder) else { return Vec::new() };
        let mut files = vec![root.join(CONFIG_FILE)];
        if let Ok((config, _)) = parse(&root, text) {
            files.extend(config.dialect_files().map(|(file, _)| root.join(file)));
        }
        files
    }

    fn new(config: Config, dialects: Dialects, text: Sources, root: PathBuf) -> Self {
        Self {
            schema: vec![root.join(&config.project.schema)],
            out: root.join(config.project.out.get_ref()),
            out_span: config.out_span(),
            root,
            config,
            dialects: Arc::new(dialects),
            config_text: text,
            has_own_schema: true,
        }
    }

    /// Reads the schema from other files or folders. Relative paths start at the current folder. The schema need not have
    /// the types that the configuration names.
    #[must_use]
    pub fn with_schema(mut self, paths: Vec<PathBuf>) -> Self {
        self.schema = paths;
        self.has_own_schema = false;
        self
    }

    /// Generates into another folder. A relative path starts at the current folder.
    #[must_use]
    pub fn with_out(mut self, folder: PathBuf) -> Self {
        self.out = folder;
        self.out_span = None;
        self
    }

    /// Checks the tools against other dialects than those that the configuration names.
    ///
    /// # Errors
    ///
    /// If there is no such dialect; the error names a similar one.
    pub fn with_targets(mut self, ids: &[String]) -> Result<Self, DialectError> {
        let ids = ids.iter().map(|id| Ok(self.dialects.find(id)?.dated_id()));
        let targets = ids.collect::<Result<_, DialectError>>()?;
        // Nothing else has the dialects yet, as options are only created by methods that borrow the project.
        if let Some(dialects) = Arc::get_mut(&mut self.dialects) {
            dialects.targets = targets;
        }
        Ok(self)
    }

    /// Returns the schema files or folders.
    pub fn schema(&self) -> &[PathBuf] {
        &self.schema
    }

    /// Returns the output folder.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Returns the folder of the project's `toolwright.toml`; empty for the current folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the other schema files of the project. If `file` is not inside its schema folders, it is not part of the
    /// project, and there are none.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn beside(&self, file: &Path) -> Result<Vec<Source>, Failure> {
        let file = normalize_lexically(&absolute(file)?);
        let mut is_inside = false;
        for schema in &self.schema {
            let schema = normalize_lexically(&absolute(schema)?);
            is_inside |= file.starts_with(schema);
        }
        if !is_inside {
            return Ok(Vec::new());
        }
        let ReadSources { sources, .. } = disk::read_sources(&self.root, &self.schema)?;
        let mut others = Vec::new();
        for (_, source) in sources.readable() {
            let is_other = normalize_lexically(&absolute(Path::new(&source.path))?) != file;
            others.extend(is_other.then(|| source.clone()));
        }
        Ok(others)
    }

    /// Returns the project's dialects and its targets.
    pub fn dialects(&self) -> &Dialects {
        &self.dialects
    }

    /// Checks the schema without generating anything, and checks its tools against the dialects of the project.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn check(&self) -> Result<Checked, Failure> {
        if self.has_own_schema {
            self.check_out()?;
        }
        let mut generation = self.generation()?;
        generation.dialects = Some(&self.dialects);
        let (Analysis { mut warnings, .. }, found) = generation.analyze()?;
        warnings.extend(found);
        Ok(Checked { sources: generation.reading.sources, warnings })
    }

    /// Returns the tools as they are published, which is what a model or a client reads of them, and the bytes of the schema files.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn published_tools(&self) -> Result<(Vec<PublishedTool>, usize), Failure> {
        let (sources, Analysis { lowered, .. }) = self.analyze()?;
        let project = &lowered.project;
        let schema = |node| published(&project.schemas, node, Style::Compact);
        let mut agents = vec![Vec::new(); project.tools.len()];
        for agent in &project.agents {
            for tool in project.tools_of(agent) {
                let users = &mut agents[tool.position()];
                // An agent may list a tool and its toolset.
                if users.last() != Some(&agent.name.value) {
                    users.push(agent.name.value.clone());
                }
            }
        }
        let publish = |(index, tool): (usize, &Tool)| PublishedTool {
            name: tool.name.value.clone(),
            toolset: project[tool.toolset].name.value.clone(),
            agents: std::mem::take(&mut agents[index]),
            description: tool.description.clone(),
            args: schema(tool.args),
            answer: project.is_answered(tool).then(|| schema(tool.result)),
            is_deferred: tool.is_deferred,
        };
        let bytes = sources.iter().map(|(_, source)| source.text.len()).sum();
        Ok((project.tools.iter().enumerate().map(publish).collect(), bytes))
    }

    /// Returns whether the configuration makes generated structs and enums `#[non_exhaustive]`.
    pub fn is_non_exhaustive(&self) -> bool {
        self.config.is_non_exhaustive()
    }

    /// Returns the table `[breaking]` of the configuration. `viewpoints` and `rules` are the words that it may have.
    ///
    /// # Errors
    ///
    /// If it has another word.
    #[doc(hidden)]
    pub fn breaking(&self, viewpoints: &[&str], rules: &[&str]) -> Result<&Breaking, Failure> {
        self.config
            .breaking(viewpoints, rules)
            .map_err(|findings| Failure::Rejected { sources: self.config_text.clone(), findings })
    }

    /// Returns the meaning of the schema, for `toolwright-lock`.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    #[doc(hidden)]
    pub fn model(&self) -> Result<model::Project, Failure> {
        self.analyze().map(|(_, analysis)| analysis.lowered.project)
    }

    /// Returns the meaning of other schema files, such as those of an earlier version, with the options of this project.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    #[doc(hidden)]
    pub fn model_of(&self, sources: Sources) -> Result<model::Project, Failure> {
        match analyze(Vec::new(), &sources, &self.options()?) {
            Ok(analysis) => Ok(analysis.lowered.project),
            Err(findings) => Err(Failure::Rejected { sources, findings }),
        }
    }

    /// Reads and analyzes the schema.
    fn analyze(&self) -> Result<(Sources, Analysis), Failure> {
        // The configured output folder is checked, too.
        if self.has_own_schema {
            self.check_out()?;
        }
        let options = self.options()?;
        let ReadSources { sources, findings } = disk::read_sources(&self.root, &self.schema)?;
        match analyze(findings, &sources, &options) {
            Ok(analysis) => Ok((sources, analysis)),
            Err(findings) => Err(Failure::Rejected { sources, findings }),
        }
    }

    /// Compiles the schema, and writes or compares the output folder.
    ///
    /// Comparing looks at every byte. Writing only generates what changed since the last run, unless the project has
    /// targets, which are checked first.
    ///
    /// # Errors
    ///
    /// See [`Failure`]; the output folder is then unchanged.
    pub fn generate(&self, mode: Mode) -> Result<Generated, Failure> {
        self.check_out()?;
        let generation = self.generation()?;
        match mode {
            Mode::Write => generation.write(),
            Mode::Check => generation.compare(),
        }
    }

    fn generation(&self) -> Result<Generation<'_>, Failure> {
        let is_held = self.dialects.targets().next().is_some();
        Ok(Generation {
            options: self.options()?,
            config_text: &self.config_text,
            has_all_types: self.has_own_schema,
            reading: disk::read_sources(&self.root, &self.schema)?,
            dialects: is_held.then_some(&*self.dialects),
            out: &self.out,
        })
    }

    fn options(&self) -> Result<Options, Failure> {
        let mut options = self.config.options(&absolute(&self.root)?, &absolute(&self.out)?);
        options.dialects = self.dialects.emit.then(|| Arc::clone(&self.dialects));
        Ok(options)
    }

    /// Refuses an output folder that contains the schema or the project, whose files would count as strays, or that is
    /// reserved for other programs.
    fn check_out(&self) -> Result<(), Failure> {
        self.check_out_in(|path| Ok(normalize_lexically(&absolute(path)?)))?;
        // The author of a project chooses its links, too. Somebody who gives a folder to the command may choose a linked one.
        if self.out_span.is_some() {
            let root = normalize_lexically(&absolute(&self.root)?);
            if let Some(link) = disk::symlink_below(&root, &absolute(&self.out)?)? {
                return Err(OutputError::Symlink(link).into());
            }
            self.check_out_in(|path| Ok(normalize_lexically(&disk::real(&absolute(path)?)?)))?;
        }
        Ok(())
    }

    /// Does the same with paths in a form in which they can be compared.
    fn check_out_in(
        &self,
        comparable: impl Fn(&Path) -> Result<PathBuf, Failure>,
    ) -> Result<(), Failure> {
        let out = comparable(&self.out)?;
        let shown = self.out.display().to_string();
        let mut findings = Vec::new();
        for schema in &self.schema {
            if comparable(schema)?.starts_with(&out) {
                let content = format!("the schema {}", schema.display());
                findings.push(projects::overlapping_folders(self.out_span, &shown, &content));
            }
        }
        let root = comparable(&self.root)?;
        if findings.is_empty() && root.starts_with(&out) {
            findings.push(projects::overlapping_folders(self.out_span, &shown, "the project"));
        }
        // The path of the project itself is not checked.
        let parts = out.strip_prefix(&root).unwrap_or(&out).iter();
        let mut parts = parts.map(|part| part.to_string_lossy().to_lowercase());
        if let Some(reserved) = parts.find(|part| RESERVED.contains(&part.as_str())) {
            findings.push(projects::reserved_folder(self.out_span, &shown, &reserved));
        }
        if findings.is_empty() {
            return Ok(());
        }
        Err(Failure::Rejected { sources: self.config_text.clone(), findings })
    }
}

/// Folders of version control systems, and the folder with the records of earlier runs.
const RESERVED: [&str; 5] = [".git", ".hg", ".jj", ".svn", ".toolwright"];

fn linked_out(root: &Path) -> Failure {
    let path = disk::slash_path(&root.join(CONFIG_FILE));
    let sources = Sources::new(vec![Source { path, text: String::new() }]);
    let place = sources.iter().map(|(source, _)| Span { source, start: 0, end: 0 });
    let findings = place.map(mistakes::linked_out).collect();
    Failure::Rejected { sources, findings }
}

fn parse(root: &Path, text: String) -> Result<(Config, Sources), Failure> {
    let path = disk::slash_path(&root.join(CONFIG_FILE));
    let sources = Sources::new(vec![Source { path, text }]);
    let parsed = sources.iter().map(|(id, source)| Config::parse(&source.text, id)).next();
    match parsed.unwrap_or_else(|| Ok(Config::default())) {
        Ok(config) => Ok((config, sources)),
        Err(findings) => Err(Failure::Rejected { sources, findings }),
    }
}

/// Returns the nearest `toolwright.toml` in a folder or above, as its folder and its text.
fn configuration(folder: &Path) -> Result<Option<(PathBuf, String)>, Failure> {
    let absolute = absolute(folder)?;
    for (depth, ancestor) in absolute.ancestors().enumerate() {
        let root = above(folder, depth);
        match disk::read_inside(&ancestor.join(CONFIG_FILE), ancestor)? {
            ProjectText::Found(text) => return Ok(Some((root, text))),
            ProjectText::Missing => {}
            ProjectText::Outside => return Err(linked_out(&root)),
        }
    }
    Ok(None)
}

/// The most dialects that a project has itself.
const MAX_DIALECTS: usize = 500;

/// Reads the project's own dialects, and resolves its targets.
fn dialects(root: &Path, config: &Config) -> Result<Dialects, Vec<Diagnostic>> {
    let mut own = Vec::new();
    let mut findings = Vec::new();
    let mut listed = BTreeSet::new();
    for (file, span) in config.dialect_files() {
        // The same path may be written in several ways, such as with `./`.
        let parts = file.components().filter(|part| *part != Component::CurDir);
        let is_new = listed.insert(parts.collect::<PathBuf>());
        let found =
            if is_new { rows(root, file) } else { Err("the file is listed twice".to_owned()) };
        let added = found.and_then(|rows| {
            own.extend(rows);
            let found = own.len();
            if found > MAX_DIALECTS {
                return Err(format!(
                    "found {found} dialects in all, expected at most {MAX_DIALECTS}"
                ));
            }
            Ok(())
        });
        if let Err(error) = added {
            let message = format!("{}: {error}", disk::printable_path(file));
            findings.push(projects::bad_config(span, message));
        }
        if own.len() > MAX_DIALECTS {
            break;
        }
    }
    if findings.is_empty() { config.dialects(own) } else { Err(findings) }
}

/// Reads a file of dialects. Messages quote it, so it has to be in the project.
fn rows(root: &Path, file: &Path) -> Result<Vec<Dialect>, String> {
    let is_inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !file.components().all(is_inside) {
        return Err("expected a path in the project, without `..`".to_owned());
    }
    let path = root.join(file);
    match disk::read_inside(&path, root).map_err(|error| error.to_string())? {
        ProjectText::Found(text) => Dialect::from_toml(&text).map_err(|error| error.to_string()),
        ProjectText::Missing => Err("there is no such file".to_owned()),
        ProjectText::Outside => {
            Err("a symlink leads out of the project, so it is not read; put a copy into it"
                .to_owned())
        }
    }
}

/// Returns the folder `depth` levels above, as a person would write it.
fn above(folder: &Path, depth: usize) -> PathBuf {
    let mut path = if folder == Path::new(".") { PathBuf::new() } else { folder.to_owned() };
    for _ in 0..depth {
        if path.file_name().is_some() {
            path.pop();
        } else {
            path.push("..");
        }
    }
    path
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    Ok(disk::absolute(path)?)
}
