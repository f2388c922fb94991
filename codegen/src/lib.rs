//! The toolwright compiler: toolset schemas in, Rust crates out.

#![recursion_limit = "512"]
#![expect(unreachable_pub, reason = "stages are private; `pub` marks what other stages use")]

mod builder;
mod components;
#[cfg(feature = "project")]
mod config;
pub mod diagnostic;
pub mod disk;
mod emit;
mod files;
mod incremental;
mod json;
mod lower;
mod model;
mod naming;
pub mod options;
mod parallel;
#[cfg_attr(not(feature = "project"), allow(dead_code, reason = "only crates have manifests"))]
mod plan;
pub mod project;
mod prose;
pub mod render;
mod schema;
mod source;
mod syntax;
mod yaml;

pub use builder::{Build, BuildError, build};
pub use files::Files;
pub use naming::is_name;
pub use options::Options;
pub use source::{Source, Sources};
#[cfg(feature = "language-schema")]
pub use syntax::language_schema;

use diagnostic::{Diagnostic, Report};
use options::Layout;

/// Parts of the compiler for `toolwright-import` and for tests. They change without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::components::components;
    pub use crate::json::{Json, Style};
    pub use crate::lower::{header_mistake, lower, path_parts};
    pub use crate::prose::advice;

    pub mod keyword {
        pub use crate::schema::keyword::{
            Expected, expected, is_annotation, is_honoured, is_unsupported,
        };
    }
    pub mod model {
        pub use crate::model::{Implementation, Project, ToolId};
    }
    pub mod naming {
        pub use crate::naming::{
            Identifier, MAX_NAME, identifier, is_reserved_tool, is_reserved_type, is_type_name,
            pascal, pascal_part, screaming, snake, toolset_package, variants,
        };
    }
    pub mod schema {
        pub use crate::schema::published;
    }
    pub mod syntax {
        pub use crate::syntax::parse;
    }
    pub mod yaml {
        pub use crate::yaml::{Entry, Node, Value, parse, parse_foreign};
    }
}

/// What a compilation gives.
#[derive(Debug)]
pub struct Compiled {
    /// The generated files.
    pub files: Files,
    /// What was found that does not stand in the way.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles the schema files of one project.
///
/// # Errors
///
/// Every error and warning found, in the order of their places, when there is an error among them.
pub fn compile(sources: &Sources, options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    let Understood { lowered, warnings, .. } = understand(Vec::new(), sources, options)?;
    let mut mistakes = lower::check_types(&lowered.project, options.types.iter());
    if !mistakes.is_empty() {
        // The sources are those of the schema alone.
        for mistake in &mut mistakes {
            mistake.span = None;
        }
        return Err(mistakes);
    }
    let plans = plan::Plans::new(&lowered.project, &lowered.types, options);
    let files = emit::emit(&plans, options.layout);
    Ok(Compiled { files, warnings })
}

/// Finds what is wrong with the schema files of one project, and makes nothing of them: whatever can be wrong shows
/// before anything is planned.
///
/// # Errors
///
/// As [`compile`] does with options that say nothing else.
pub fn check(sources: &Sources) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let options = Options { has_patterns: true, ..Options::of(Layout::Modules) };
    understand(Vec::new(), sources, &options).map(|understood| understood.warnings)
}

/// A project without errors.
pub(crate) struct Understood {
    /// The documents as they were written.
    pub(crate) documents: Vec<syntax::Document>,
    /// What it means.
    pub(crate) lowered: lower::Lowered,
    /// What was found that does not stand in the way.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Reads and lowers schema files, after findings about the files themselves.
pub(crate) fn understand(
    reading: Vec<Diagnostic>,
    sources: &Sources,
    options: &Options,
) -> Result<Understood, Vec<Diagnostic>> {
    let mut report = Report::after(reading);
    let documents = syntax::parse(sources, &mut report);
    understand_documents(documents, report, sources, options)
}

/// Lowers documents that were read from the sources, with the findings of reading them.
pub(crate) fn understand_documents(
    documents: Vec<syntax::Document>,
    mut report: Report,
    sources: &Sources,
    options: &Options,
) -> Result<Understood, Vec<Diagnostic>> {
    let lowered = lower::lower(&documents, options.integers, &mut report);
    if let Some(pattern) = lowered.project.schemas.needs_tables
        && !options.has_patterns
    {
        report.add(diagnostic::schemas::needs_tables(pattern));
    }
    let is_refused = report.has_errors();
    let mut findings = report.into_findings();
    for finding in &mut findings {
        finding.stand_on_characters(sources);
    }
    if is_refused {
        Err(findings)
    } else {
        Ok(Understood { documents, lowered, warnings: findings })
    }
}

/// Lowers a project, for tests of the stages behind.
#[cfg(test)]
fn lowered(
    reading: Vec<Diagnostic>,
    sources: &Sources,
    options: &Options,
) -> Result<lower::Lowered, Vec<Diagnostic>> {
    understand(reading, sources, options).map(|understood| understood.lowered)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
