//! The toolwright compiler, which generates Rust crates from toolset schemas.

#![recursion_limit = "512"]
#![expect(unreachable_pub, reason = "stages are private; `pub` marks what other stages use")]

mod boxes;
mod builder;
mod components;
#[cfg(feature = "project")]
mod config;
pub mod diagnostic;
#[cfg(feature = "project")]
pub mod dialects;
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
#[cfg(feature = "project")]
mod values;
mod yaml;

pub use builder::{Build, BuildError, build};
pub use files::Files;
pub use naming::is_name;
pub use options::Options;
pub use source::{Source, Sources};
#[cfg(feature = "language-schema")]
pub use syntax::language_schema;

/// The reference of the schema language, in Markdown.
#[doc = include_str!("language.md")]
#[cfg(feature = "language-schema")]
pub const LANGUAGE: &str = include_str!("language.md");

/// The reference of `toolwright.toml`, in Markdown.
#[doc = include_str!("configuration.md")]
#[cfg(feature = "project")]
pub const CONFIGURATION: &str = include_str!("configuration.md");

use diagnostic::{Diagnostic, Report};
use options::Layout;

/// Parts of the compiler for `toolwright-import` and for tests. They change without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::components::components;
    pub use crate::json::{Json, Style};
    pub use crate::lower::{header_mistake, lower, path_parts};
    pub use crate::parallel::map as parallel_map;
    pub use crate::prose::advice;
    pub use crate::source::with_line_feeds;

    pub mod keyword {
        pub use crate::schema::keyword::{
            Expected, expected, is_annotation, is_supported, is_unsupported,
        };
    }
    pub mod model {
        pub use crate::model::{
            Implementation, InjectionSource, Project, Strictness, Tool, ToolId,
        };
    }
    pub mod naming {
        pub use crate::naming::{
            Identifier, MAX_NAME, identifier, is_reserved_tool, is_reserved_type, is_type_name,
            pascal, pascal_part, screaming, snake, toolset_package, variants,
        };
    }
    pub mod schema {
        #[cfg(feature = "project")]
        pub use crate::schema::read_values;
        pub use crate::schema::{
            Additional, Annotations, Assertion, Node, NodeId, NumberRules, Operand, Property,
            Schemas, Shape, Variant, aliased, published,
        };
    }
    pub mod syntax {
        pub use crate::syntax::parse;
    }
    #[cfg(feature = "project")]
    pub mod values {
        pub use crate::values::{
            Arrays, End, Judge, Numbers, Object, Objects, Part, Rest, Strings, View, retained,
            rows, sorted, values, witness,
        };
    }
    pub mod yaml {
        pub use crate::yaml::{Entry, Node, Value, parse, parse_foreign};
    }
}

/// The result of a compilation.
#[derive(Debug)]
pub struct Compiled {
    /// The generated files.
    pub files: Files,
    /// The warnings, in the order of their places.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles the schema files of one project.
///
/// # Errors
///
/// If there are errors, returns all errors and warnings, in the order of their places.
pub fn compile(sources: &Sources, options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    let Analysis { lowered, warnings, .. } = analyze(Vec::new(), sources, options)?;
    let mut mistakes = lower::check_types(&lowered.project, &options.types, true);
    if !mistakes.is_empty() {
        // The spans are in the text of the options, which is not one of the sources.
        for mistake in &mut mistakes {
            mistake.span = None;
        }
        return Err(mistakes);
    }
    let plans = plan::Plans::new(&lowered.project, &lowered.types, options);
    let files = emit::emit(&plans, options.layout);
    Ok(Compiled { files, warnings })
}

/// Checks the schema files of one project without generating anything. Returns the warnings.
///
/// # Errors
///
/// Returns the same errors and warnings as [`compile`] with the feature `patterns` and without options for types.
pub fn check(sources: &Sources) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let options = Options { has_patterns: true, ..Options::of(Layout::Modules) };
    analyze(Vec::new(), sources, &options).map(|analysis| analysis.warnings)
}

/// The parsed and lowered schema files of a project without errors.
pub(crate) struct Analysis {
    /// The parsed documents.
    pub(crate) documents: Vec<syntax::Document>,
    /// The project that the documents describe.
    pub(crate) lowered: lower::Lowered,
    /// The warnings.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Parses and lowers schema files. `reading` has the findings about the files themselves.
pub(crate) fn analyze(
    reading: Vec<Diagnostic>,
    sources: &Sources,
    options: &Options,
) -> Result<Analysis, Vec<Diagnostic>> {
    let mut report = Report::after(reading);
    let documents = syntax::parse(sources, &mut report);
    analyze_documents(documents, report, sources, options)
}

/// Lowers documents that were parsed from the sources. `report` has the findings so far.
pub(crate) fn analyze_documents(
    documents: Vec<syntax::Document>,
    mut report: Report,
    sources: &Sources,
    options: &Options,
) -> Result<Analysis, Vec<Diagnostic>> {
    let lowered = lower::lower(&documents, options.integers, &mut report);
    if let Some(pattern) = lowered.project.schemas.needs_tables
        && !options.has_patterns
    {
        report.add(diagnostic::schemas::needs_tables(pattern));
    }
    let has_errors = report.has_errors();
    let mut findings = report.into_findings();
    for finding in &mut findings {
        finding.widen_to_char_boundaries(sources);
    }
    if has_errors { Err(findings) } else { Ok(Analysis { documents, lowered, warnings: findings }) }
}

/// Lowers a project, for tests of the later stages.
#[cfg(test)]
fn lowered(
    reading: Vec<Diagnostic>,
    sources: &Sources,
    options: &Options,
) -> Result<lower::Lowered, Vec<Diagnostic>> {
    analyze(reading, sources, options).map(|analysis| analysis.lowered)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
