//! Compiles schema texts, writes the generated modules, and writes an index of their tools.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::{any, fmt, fs, io};

use toolwright_codegen::diagnostic::{Diagnostic, Severity};
use toolwright_codegen::disk::{self, OutputError};
use toolwright_codegen::options::{Layout, Options};
use toolwright_codegen::{Files, Source, Sources, compile};

use crate::record::Outcome;

/// The modules generated so far.
pub(crate) struct Projects {
    folder: PathBuf,
    modules: String,
    tools: String,
}

impl Projects {
    /// Creates the folder for the modules. [`Self::add`] replaces those of an earlier run.
    pub(crate) fn new(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, modules: String::new(), tools: String::new() })
    }

    /// Writes the files of one project with one toolset as a module.
    pub(crate) fn add(
        &mut self,
        module: &str,
        toolset: &str,
        files: &Files,
    ) -> Result<(), OutputError> {
        disk::write(&self.folder.join(module), files)?;
        // Writing to a string does not fail.
        _ = writeln!(self.modules, "/// The accepted cases of `{toolset}`.");
        _ = writeln!(self.modules, "#[path = \"projects/{module}/mod.rs\"]\npub mod {module};");
        _ = writeln!(self.tools, "        ({module:?}, vec![");
        for tool in tools(files) {
            let tool = format!("{module}::{toolset}_tools::specs::{tool}");
            _ = writeln!(self.tools, "            crate::tools::tool({tool}),");
        }
        self.tools += "        ]),\n";
        Ok(())
    }

    /// Writes the index that the crate includes.
    pub(crate) fn finish(self) -> io::Result<()> {
        let index = self.folder.with_file_name("generated.rs");
        let Self { modules, tools, .. } = self;
        let all = format!(
            "/// Every module and its tools.\npub fn all() -> Vec<(&'static str, Vec<crate::tools::GeneratedTool>)> {{\n    vec![\n{tools}    ]\n}}\n"
        );
        fs::write(index, modules + &all)
    }
}

/// The names of the marker types of the tools.
fn tools(files: &Files) -> impl Iterator<Item = &str> {
    let specs = files.iter().filter(|(path, _)| path.ends_with("/specs.rs"));
    specs
        .flat_map(|(_, text)| text.split("\ntoolwright::tool!(").skip(1))
        .filter_map(|tool| tool.trim_start().split('(').next())
}

/// Compiles one project.
pub(crate) fn generate(path: &str, text: String) -> Result<Files, Outcome> {
    let sources = Sources::new(vec![Source { path: path.to_owned(), text }]);
    let options = Options { providers_only: true, ..Options::of(Layout::Modules) };
    match guarded(|| compile(&sources, &options))? {
        Ok(compiled) => Ok(compiled.files),
        Err(findings) => Err(refusal(&findings)),
    }
}

/// Turns a panic into an outcome, so that the other cases still run.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Outcome> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| Outcome::Panicked { message: panic_message(panic.as_ref()) })
}

/// The outcome of a compilation, without its files.
pub(crate) fn outcome(generated: Result<Files, Outcome>) -> Outcome {
    generated.map_or_else(|outcome| outcome, |_| Outcome::Accepted)
}

fn refusal(findings: &[Diagnostic]) -> Outcome {
    let error = findings.iter().find(|finding| finding.severity == Severity::Error);
    error.map_or_else(
        || Outcome::Panicked { message: "refused without an error".to_owned() },
        |error| Outcome::Refused { code: error.code.to_owned(), message: error.message.clone() },
    )
}

fn panic_message(panic: &(dyn any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted => f.write_str("accepted"),
            Self::Refused { code, message } => write!(f, "{code}: {message}"),
            Self::Panicked { message } => write!(f, "panicked: {message}"),
        }
    }
}
