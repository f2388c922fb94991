//! The API for build scripts: a schema folder in, modules in `OUT_DIR` out. The one place that talks to cargo.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Severity};
use crate::disk;
use crate::options::{Layout, Options};
use crate::project::{Failure, Generation, tally};
use crate::render::{Format, one_line};
use crate::source::Sources;

/// Compiles the schemas of a folder into `OUT_DIR`. The whole of a usual `build.rs`:
///
/// ```no_run
/// fn main() -> Result<(), toolwright_codegen::BuildError> {
///     toolwright_codegen::build("schema")
/// }
/// ```
///
/// The crate then includes the index of what was generated:
///
/// ```ignore
/// include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
/// ```
///
/// # Errors
///
/// When a schema is wrong, after printing what is wrong and where; or when the system refuses to read or write.
pub fn build(schema: impl Into<PathBuf>) -> Result<(), BuildError> {
    Build::new(schema).generate()
}

/// A build script's compilation, with its options.
#[derive(Debug)]
pub struct Build {
    schema: PathBuf,
    out_dir: Option<PathBuf>,
    providers_only: bool,
}

/// Why a build script's compilation failed. Its `Debug` reads as its `Display`, since that is what `main` prints.
pub struct BuildError {
    message: String,
}

impl Build {
    /// The schemas of a folder, relative to the package's folder as paths in build scripts are.
    pub fn new(schema: impl Into<PathBuf>) -> Self {
        Self { schema: schema.into(), out_dir: None, providers_only: false }
    }

    /// Leaves out agents, MCP servers and HTTP clients, so that the package needs `toolwright` alone.
    #[must_use]
    pub fn providers_only(mut self, providers_only: bool) -> Self {
        self.providers_only = providers_only;
        self
    }

    /// Writes into this folder instead of `$OUT_DIR/toolwright`.
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Compiles, and tells cargo what to watch and what was found.
    ///
    /// # Errors
    ///
    /// When a schema is wrong, after printing what is wrong and where; or when the system refuses to read or write.
    pub fn generate(&self) -> Result<(), BuildError> {
        // Told first: a build that fails on a schema must run again when the schema changes.
        println!("cargo::rerun-if-changed={}", self.schema.display());
        let folder = self.folder()?;
        self.try_generate(&folder).map_err(|failure| report(&failure))
    }

    fn try_generate(&self, folder: &Path) -> Result<(), Failure> {
        let reading = disk::read_sources(std::slice::from_ref(&self.schema))?;
        for (_, source) in reading.sources.iter() {
            println!("cargo::rerun-if-changed={}", source.path);
        }
        let generation = Generation { reading, options: self.options(), out: folder };
        let generated = generation.write()?;
        warn(&generated.warnings, &generated.sources);
        Ok(())
    }

    fn options(&self) -> Options {
        Options { providers_only: self.providers_only, ..Options::of(Layout::Modules) }
    }

    fn folder(&self) -> Result<PathBuf, BuildError> {
        let given = self.out_dir.clone();
        let usual =
            || std::env::var_os("OUT_DIR").map(|folder| Path::new(&folder).join("toolwright"));
        given.or_else(usual).ok_or_else(|| BuildError {
            message: "the variable OUT_DIR is not set, so there is no folder to write into; run this from a build \
                      script, or name a folder with `out_dir`"
                .to_owned(),
        })
    }
}

/// A warning is one line to cargo.
fn warn(warnings: &[Diagnostic], sources: &Sources) {
    for warning in warnings {
        println!("cargo::warning={}", one_line(warning, sources).replace('\n', " "));
    }
}

/// An error is one line to cargo, which shows what stands on standard error below it: there, all of it is drawn.
fn report(failure: &Failure) -> BuildError {
    if let Failure::Rejected { sources, findings } = failure {
        for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
            println!("cargo::error={}", one_line(finding, sources).replace('\n', " "));
        }
    }
    eprint!("{}", failure.render(Format::Human { color: false }));
    let message = match failure {
        Failure::Rejected { findings, .. } => {
            format!("the toolset schema has {}; see above", tally(findings))
        }
        other => other.to_string(),
    };
    BuildError { message }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}
