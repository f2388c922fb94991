//! The API for build scripts, which generates modules in `OUT_DIR` from a folder of schemas. No other module prints to cargo.

use std::fmt;
use std::path::{Path, PathBuf};

use toolwright::untrusted::line;

use crate::diagnostic::{Diagnostic, Severity};
use crate::disk;
use crate::options::{DomainType, Layout, Options, RustPath, StdTrait, TypeOptions};
use crate::project::{Failure, Generation, tally};
use crate::render::{Format, one_line};
use crate::source::Sources;

/// Compiles the schemas of a folder into `OUT_DIR`. A complete `build.rs`:
///
/// ```no_run
/// fn main() -> Result<(), toolwright_codegen::BuildError> {
///     toolwright_codegen::build("schema")
/// }
/// ```
///
/// The crate then includes the index of the generated modules:
///
/// ```ignore
/// include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
/// ```
///
/// # Errors
///
/// Returns an error if there are mistakes in the schemas, after printing them, or if the system refuses to read or write.
pub fn build(schema: impl Into<PathBuf>) -> Result<(), BuildError> {
    Build::new(schema).generate()
}

/// A compilation in a build script, with its options.
#[derive(Debug)]
pub struct Build {
    schema: PathBuf,
    out_dir: Option<PathBuf>,
    providers_only: bool,
    has_patterns: bool,
    non_exhaustive: bool,
    /// Paths of derive macros, each with the type that derives it, or `None` for all types.
    derives: Vec<(Option<String>, String)>,
    /// Named types, each with the path and the traits of the domain type that replaces it.
    domain_types: Vec<(String, String, Vec<StdTrait>)>,
}

/// An error of a compilation in a build script. Its `Debug` output is that of its `Display`, since `main` prints the former.
pub struct BuildError {
    message: String,
}

impl Build {
    /// Creates a compilation of the schemas in a folder. A relative path starts at the folder of the package.
    pub fn new(schema: impl Into<PathBuf>) -> Self {
        Self {
            schema: schema.into(),
            out_dir: None,
            providers_only: false,
            has_patterns: false,
            non_exhaustive: false,
            derives: Vec::new(),
            domain_types: Vec::new(),
        }
    }

    /// Leaves out agents, MCP servers and HTTP clients, so that the package needs `toolwright` alone.
    #[must_use]
    pub fn providers_only(mut self, providers_only: bool) -> Self {
        self.providers_only = providers_only;
        self
    }

    /// Declares that the package turns on the feature `patterns` of `toolwright`. Without this, a pattern that needs the
    /// feature is a warning.
    #[must_use]
    pub fn has_patterns(mut self, has_patterns: bool) -> Self {
        self.has_patterns = has_patterns;
        self
    }

    /// Makes generated structs and enums `#[non_exhaustive]`, and adds setters to structs. Turn it on if the package exports
    /// them: users of the package then compile after an optional property or a value of an enum was added.
    #[must_use]
    pub fn non_exhaustive(mut self, non_exhaustive: bool) -> Self {
        self.non_exhaustive = non_exhaustive;
        self
    }

    /// Makes every generated struct and enum derive a macro, such as `schemars::JsonSchema`, in addition to its usual traits.
    #[must_use]
    pub fn derive(mut self, path: impl Into<String>) -> Self {
        self.derives.push((None, path.into()));
        self
    }

    /// Makes a named type, given as `service.Type`, derive a macro.
    #[must_use]
    pub fn derive_on(mut self, name: impl Into<String>, path: impl Into<String>) -> Self {
        self.derives.push((Some(name.into()), path.into()));
        self
    }

    /// Replaces a named type, given as `service.Type`, by a type of your own. It has to implement
    /// `toolwright::codec::DomainType`, `Clone`, `Debug`, `PartialEq` and the given traits. Its path may begin with `crate::`.
    #[must_use]
    pub fn domain_type(
        mut self,
        name: impl Into<String>,
        path: impl Into<String>,
        traits: &[StdTrait],
    ) -> Self {
        self.domain_types.push((name.into(), path.into(), traits.to_vec()));
        self
    }

    /// Sets the output folder, which is `$OUT_DIR/toolwright` by default.
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Compiles the schemas, and prints for cargo the files to watch and the warnings.
    ///
    /// # Errors
    ///
    /// Returns an error if there are mistakes in the schemas, after printing them, if the path of a macro or a type is
    /// invalid, or if the system refuses to read or write.
    pub fn generate(&self) -> Result<(), BuildError> {
        // Printed first, so that a build that fails on a schema runs again when the schema changes.
        if is_visible_line(&self.schema.to_string_lossy()) {
            println!("cargo::rerun-if-changed={}", self.schema.display());
        }
        let (folder, options) = (self.folder()?, self.options()?);
        self.try_generate(&folder, options).map_err(|failure| report(&failure))
    }

    fn try_generate(&self, folder: &Path, options: Options) -> Result<(), Failure> {
        let reading = disk::read_sources(Path::new(""), std::slice::from_ref(&self.schema))?;
        let paths = reading.sources.iter().map(|(_, source)| source.path.as_str());
        for path in paths.filter(|path| is_visible_line(path)) {
            println!("cargo::rerun-if-changed={path}");
        }
        // Options in code have no place in a file.
        let config_text = &Sources::default();
        let generation = Generation {
            reading,
            options,
            config_text,
            has_all_types: true,
            #[cfg(feature = "project")]
            dialects: None,
            out: folder,
        };
        let generated = generation.write()?;
        warn(&generated.warnings, &generated.sources);
        Ok(())
    }

    fn options(&self) -> Result<Options, BuildError> {
        let mut options = Options {
            providers_only: self.providers_only,
            has_patterns: self.has_patterns,
            non_exhaustive: self.non_exhaustive,
            ..Options::of(Layout::Modules)
        };
        for (name, text) in &self.derives {
            let path = RustPath::of_derive(text).map_err(BuildError::new)?;
            let list = match name {
                None => &mut options.derive,
                Some(name) => &mut options_of(&mut options.types, name).derive,
            };
            if list.contains(&path) {
                return Err(BuildError::new(format!(
                    "`{text}` is already derived; remove the second call"
                )));
            }
            list.push(path);
        }
        for (name, path, traits) in &self.domain_types {
            let path = RustPath::of_type(path).map_err(BuildError::new)?;
            let domain = DomainType { path, traits: traits.clone() };
            let known = options_of(&mut options.types, name);
            if known.domain.is_some() {
                return Err(BuildError::new(format!(
                    "`{name}` already has a domain type; remove the second call"
                )));
            }
            if !known.derive.is_empty() {
                return Err(BuildError::new(format!(
                    "`{name}` has both `domain_type` and `derive_on`, but a domain type derives macros where you define it; \
                     remove one of the two calls"
                )));
            }
            known.domain = Some(domain);
        }
        Ok(options)
    }

    fn folder(&self) -> Result<PathBuf, BuildError> {
        let given = self.out_dir.clone();
        let usual =
            || std::env::var_os("OUT_DIR").map(|folder| Path::new(&folder).join("toolwright"));
        given.or_else(usual).ok_or_else(|| BuildError {
            message: "the variable OUT_DIR is not set, so there is no output folder; run this from a build script, or set \
                      a folder with `out_dir`"
                .to_owned(),
        })
    }
}

/// Returns whether cargo may be told to watch a file: the name could contain a line with an instruction to cargo, and cargo
/// prints the names unchanged if the build fails. The folder of a file is watched anyway.
fn is_visible_line(path: &str) -> bool {
    line(path, usize::MAX) == path
}

/// Returns the options of a named type, and adds them if there are none yet.
fn options_of<'o>(types: &'o mut Vec<TypeOptions>, name: &str) -> &'o mut TypeOptions {
    let at = types.iter().position(|known| known.name == name).unwrap_or(types.len());
    if at == types.len() {
        let name = name.to_owned();
        types.push(TypeOptions { name, span: None, derive: Vec::new(), domain: None });
    }
    &mut types[at]
}

/// Prints warnings for cargo, one line each.
fn warn(warnings: &[Diagnostic], sources: &Sources) {
    for warning in warnings {
        println!("cargo::warning={}", one_line(warning, sources));
    }
}

/// Prints errors: one line each for cargo, and the full rendering to standard error, which cargo shows below.
fn report(failure: &Failure) -> BuildError {
    if let Failure::Rejected { sources, findings } = failure {
        for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
            println!("cargo::error={}", one_line(finding, sources));
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

impl BuildError {
    fn new(message: String) -> Self {
        Self { message }
    }
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

#[cfg(test)]
mod tests {
    #[test]
    fn files_whose_names_could_be_instructions_or_control_a_terminal_are_not_named_to_cargo() {
        assert!(super::is_visible_line("schema/größe 1.yaml"));
        for hidden in ["\ncargo::warning=x", "\r", "\u{1b}[2J", "\u{202e}", "\t"] {
            assert!(!super::is_visible_line(&format!("schema/{hidden}.yaml")), "{hidden:?}");
        }
    }
}
