//! The generators that are compared: their input, their output, and the commands that run them.

mod library;
mod npm;

use std::ffi::OsString;
use std::io;
use std::path::Path;

pub use library::{Run, typify_text};
pub use npm::{BAML_VERSION, Peers};

use crate::tools::Language;

/// A generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Generator {
    /// toolwright.
    Toolwright,
    /// A library that generates Rust from JSON Schema.
    Typify,
    /// A library that generates Rust from Protocol Buffers; protox parses the files, so protoc is not needed.
    ProstBuild,
    /// The command of BAML.
    Baml,
    /// A command that generates Rust from JSON Schema.
    Quicktype,
}

impl Generator {
    /// All generators, toolwright first.
    pub const ALL: [Self; 5] =
        [Self::Toolwright, Self::Typify, Self::ProstBuild, Self::Baml, Self::Quicktype];

    /// Returns its name and version.
    pub fn name(self) -> &'static str {
        match self {
            Self::Toolwright => "toolwright",
            Self::Typify => "typify 0.8",
            Self::ProstBuild => "prost-build 0.14",
            Self::Baml => "BAML 0.226",
            Self::Quicktype => "quicktype 26",
        }
    }

    /// Returns the language of its input.
    pub fn language(self) -> Language {
        match self {
            Self::Toolwright => Language::Yaml,
            Self::Typify | Self::Quicktype => Language::JsonSchema,
            Self::ProstBuild => Language::Proto,
            Self::Baml => Language::Baml,
        }
    }

    /// Describes its output for the table.
    pub fn emits(self) -> &'static str {
        match self {
            Self::Toolwright => {
                "crates: types, codecs that check every limit, service traits, specs with their JSON Schemas, call builders, \
                 executors, transforms, registration, manifests"
            }
            Self::Typify => "types with serde derives; lengths checked, builders off",
            Self::ProstBuild => "messages with prost derives",
            Self::Baml => "types, partial types, type builders, clients of functions",
            Self::Quicktype => "types with serde derives, in one file",
        }
    }

    /// Returns the program and arguments that generate from one folder into another, or `None` if the generator is not
    /// installed.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be listed or this program cannot be found.
    pub fn command(
        self,
        peers: &Peers,
        input: &Path,
        out: &Path,
    ) -> io::Result<Option<Vec<OsString>>> {
        match self {
            Self::Toolwright => library::command(Run::Toolwright { check: false }, input, out),
            Self::Typify => library::command(Run::Typify, input, out),
            Self::ProstBuild => library::command(Run::ProstBuild, input, out),
            Self::Baml => return Ok(peers.baml(input)),
            Self::Quicktype => return peers.quicktype(input, out),
        }
        .map(Some)
    }

    /// Returns the command that checks whether toolwright's output is up to date.
    ///
    /// # Errors
    ///
    /// Returns an error if this program cannot be found.
    pub fn check_command(input: &Path, out: &Path) -> io::Result<Vec<OsString>> {
        library::command(Run::Toolwright { check: true }, input, out)
    }
}
