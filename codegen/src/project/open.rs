//! A project on disk, and the two things done with it: check and generate. Never how generating goes.

use std::path::{Path, PathBuf};

use super::{Checked, Failure, Generated, Generation, type_mistakes};
use crate::config::{CONFIG_FILE, Config, plain};
use crate::diagnostic::{files as mistakes, projects};
use crate::disk::{self, ReadSources};
use crate::options::Options;
use crate::source::{Source, Sources, Span};
use crate::{Analysis, analyze};

/// A folder with schemas, and where its generated crates go.
#[derive(Debug)]
pub struct Project {
    /// As it is shown: empty for the current folder.
    root: PathBuf,
    config: Config,
    /// The text of the configuration.
    config_text: Sources,
    /// Whether the schema is the one that the configuration is about.
    has_own_schema: bool,
    schema: Vec<PathBuf>,
    out: PathBuf,
    /// The span of `out` in the configuration, if it is set there.
    place_of_out: Option<Span>,
}

/// Whether generation changes anything on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Bring the output folder up to date.
    Write,
    /// Only say how it differs.
    Check,
}

impl Project {
    /// Opens the project a folder belongs to: `toolwright.toml` there or above says where things are, and without one
    /// the schema is in `schema`, the output in `gen`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or does not say what it should.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let absolute = absolute(folder)?;
        for (depth, ancestor) in absolute.ancestors().enumerate() {
            let file = ancestor.join(CONFIG_FILE);
            let root = above(folder, depth);
            if disk::links_outside(&file, &[ancestor])? {
                return Err(linked_out(&root));
            }
            if let Some(text) = disk::read_regular(&file)? {
                let (config, text) = parse(&root, text)?;
                return Ok(Self::new(config, text, root));
            }
        }
        Ok(Self::new(Config::default(), Sources::default(), above(folder, 0)))
    }

    fn new(config: Config, text: Sources, root: PathBuf) -> Self {
        Self {
            schema: vec![root.join(&config.project.schema)],
            out: root.join(config.project.out.get_ref()),
            place_of_out: config.place_of_out(),
            root,
            config,
            config_text: text,
            has_own_schema: true,
        }
    }

    /// Reads the schema from other files or folders, which are not taken from the project's folder. They need not have the
    /// types that the configuration names.
    #[must_use]
    pub fn with_schema(mut self, paths: Vec<PathBuf>) -> Self {
        self.schema = paths;
        self.has_own_schema = false;
        self
    }

    /// Generates into another folder, which is not taken from the project's folder.
    #[must_use]
    pub fn with_out(mut self, folder: PathBuf) -> Self {
        self.out = folder;
        self.place_of_out = None;
        self
    }

    /// The schema files or folders.
    pub fn schema(&self) -> &[PathBuf] {
        &self.schema
    }

    /// The output folder.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// The folder of the project's `toolwright.toml`; empty for the current folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The schema files of the project beside one of them; none where it is not among them, since it is then no part of
    /// the project.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn beside(&self, file: &Path) -> Result<Vec<Source>, Failure> {
        let file = plain(&absolute(file)?);
        let mut is_inside = false;
        for schema in &self.schema {
            let schema = plain(&absolute(schema)?);
            is_inside |= file.starts_with(schema);
        }
        if !is_inside {
            return Ok(Vec::new());
        }
        let ReadSources { sources, .. } = disk::read_sources(&self.root, &self.schema)?;
        let mut others = Vec::new();
        for (_, source) in sources.readable() {
            let is_other = plain(&absolute(Path::new(&source.path))?) != file;
            others.extend(is_other.then(|| source.clone()));
        }
        Ok(others)
    }

    /// Reads and compiles the schema and keeps nothing.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn check(&self) -> Result<Checked, Failure> {
        // What the configuration says wrongly is a mistake too.
        if self.has_own_schema {
            self.refuse_folder()?;
        }
        let options = self.options()?;
        let ReadSources { sources, findings } = disk::read_sources(&self.root, &self.schema)?;
        match analyze(findings, &sources, &options) {
            Ok(Analysis { lowered, warnings, .. }) => {
                let has_all = self.has_own_schema;
                let mistakes = type_mistakes(&lowered.project, &options, has_all);
                if !mistakes.is_empty() {
                    let sources = self.config_text.clone();
                    return Err(Failure::Rejected { sources, findings: mistakes });
                }
                Ok(Checked { sources, warnings })
            }
            Err(findings) => Err(Failure::Rejected { sources, findings }),
        }
    }

    /// Reads and compiles the schema, and writes or compares the output folder.
    ///
    /// Writing does no more than what changed since the last run asks for; comparing looks at every byte.
    ///
    /// # Errors
    ///
    /// See [`Failure`]; the output folder is then as it was.
    pub fn generate(&self, mode: Mode) -> Result<Generated, Failure> {
        self.refuse_folder()?;
        let generation = Generation {
            options: self.options()?,
            config_text: &self.config_text,
            has_all_types: self.has_own_schema,
            reading: disk::read_sources(&self.root, &self.schema)?,
            out: &self.out,
        };
        match mode {
            Mode::Write => generation.write(),
            Mode::Check => generation.compare(),
        }
    }

    fn options(&self) -> Result<Options, Failure> {
        Ok(self.config.options(&absolute(&self.root)?, &absolute(&self.out)?))
    }

    /// Refuses an output folder that is not for output alone: schemas in it would be taken for strays, as would all else of
    /// the project, and what other programs keep would be replaced.
    fn refuse_folder(&self) -> Result<(), Failure> {
        let out = plain(&absolute(&self.out)?);
        let shown = self.out.display().to_string();
        let mut findings = Vec::new();
        for schema in &self.schema {
            if plain(&absolute(schema)?).starts_with(&out) {
                let held = format!("the schema {}", schema.display());
                findings.push(projects::overlapping_folders(self.place_of_out, &shown, &held));
            }
        }
        let root = plain(&absolute(&self.root)?);
        if findings.is_empty() && root.starts_with(&out) {
            findings.push(projects::overlapping_folders(self.place_of_out, &shown, "the project"));
        }
        // The path of the project itself is not checked.
        let parts = out.strip_prefix(&root).unwrap_or(&out).iter();
        let mut parts = parts.map(|part| part.to_string_lossy().to_lowercase());
        if let Some(kept) = parts.find(|part| KEPT.contains(&part.as_str())) {
            findings.push(projects::kept_folder(self.place_of_out, &shown, &kept));
        }
        if findings.is_empty() {
            return Ok(());
        }
        Err(Failure::Rejected { sources: self.config_text.clone(), findings })
    }
}

/// Folders that version control keeps to itself, and that of records of earlier runs.
const KEPT: [&str; 5] = [".git", ".hg", ".jj", ".svn", ".toolwright"];

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

/// The folder so many levels above, as a person in it would write it.
fn above(folder: &Path, depth: usize) -> PathBuf {
    if depth > 0 && folder.is_absolute() {
        return folder.ancestors().nth(depth).unwrap_or(folder).to_owned();
    }
    let here = if folder == Path::new(".") { Path::new("") } else { folder };
    std::iter::repeat_n("..", depth).fold(here.to_owned(), |path, up| path.join(up))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    Ok(disk::absolute(path)?)
}
