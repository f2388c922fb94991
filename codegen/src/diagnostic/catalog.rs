//! The list of all mistakes, as `toolwright explain` shows it. Never says which of them a schema has.

use std::fmt;

#[cfg(feature = "project")]
use super::projects;
use super::{Severity, clashes, consumers, files, form, http, names, schemas, tools, words, yaml};
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

/// Kinds of findings that one stage makes.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// What they are about.
    pub title: &'static str,
    /// The kinds.
    pub codes: &'static [Code],
}

/// Every kind of finding, in the order of the stages that make them.
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
        group("templates and examples", words::CODES),
        group("names in Rust", clashes::CODES),
    ]
    .to_vec()
}

impl Code {
    /// The kind of a name, where there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|code| code.name == name)
    }

    /// The kind whose name is nearest to one that there is none of.
    pub fn nearest(name: &str) -> Option<Self> {
        nearest(name, Self::all().map(|code| code.name)).and_then(Self::named)
    }

    /// Every kind.
    pub fn all() -> impl Iterator<Item = Self> {
        groups().into_iter().flat_map(|group| group.codes.iter().copied())
    }

    /// What kind of mistake it is, in one line.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim()
    }

    /// The whole explanation: the rule, why there is one, and what to do.
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
