//! The list of all kinds of findings, which `toolwright explain` shows.

use std::fmt;

use super::{
    Severity, clashes, consumers, files, form, http, names, schemas, templates, tools, yaml,
};
#[cfg(feature = "project")]
use super::{dialects, projects};
use toolwright::issue::nearest;

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its stable name, such as `duplicate-tool`.
    pub name: &'static str,
    /// How bad a finding of this kind is.
    pub severity: Severity,
    /// The explanation, a line break after each line.
    pub(super) text: &'static str,
}

/// The kinds of findings of one stage.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The title, which says what they are about.
    pub title: &'static str,
    /// The kinds.
    pub codes: &'static [Code],
}

/// Returns every kind of finding, in the order of the stages.
pub fn groups() -> Vec<Group> {
    let group = |title, codes| Group { title, codes };
    [
        group("files and folders", files::CODES),
        #[cfg(feature = "project")]
        group("projects", projects::CODES),
        group("YAML", yaml::CODES),
        group("keys and values of the language", form::CODES),
        group("names", names::CODES),
        group("JSON Schema", schemas::CODES),
        group("toolsets, tools and methods", tools::CODES),
        group("methods over HTTP", http::CODES),
        group("agents and servers", consumers::CODES),
        group("templates and examples", templates::CODES),
        group("names in Rust", clashes::CODES),
        #[cfg(feature = "project")]
        group("provider dialects", dialects::CODES),
    ]
    .to_vec()
}

impl Code {
    /// Returns the kind with this name, if any.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|code| code.name == name)
    }

    /// Returns the kind whose name is most similar to an unknown name, if any is similar.
    pub fn nearest(name: &str) -> Option<Self> {
        nearest(name, Self::all().map(|code| code.name)).and_then(Self::named)
    }

    /// Returns every kind.
    pub fn all() -> impl Iterator<Item = Self> {
        groups().into_iter().flat_map(|group| group.codes.iter().copied())
    }

    /// Returns the first line of the explanation.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim()
    }

    /// Returns the whole explanation: the rule, the reason for it, and what to do.
    pub fn explanation(&self) -> String {
        let line = |line: &str| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n";
        self.text.lines().map(line).collect()
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}
