//! The generators that are compared: what each is given, what it makes of it, and how it is started. Never measures.

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
    /// Ours.
    Toolwright,
    /// JSON Schema to Rust, a library.
    Typify,
    /// Protocol Buffers to Rust, a library; protox reads the files, so that no protoc is needed.
    ProstBuild,
    /// BAML's command.
    Baml,
    /// JSON Schema to Rust, a command.
    Quicktype,
}

impl Generator {
    /// All of them, ours first.
    pub const ALL: [Self; 5] =
        [Self::Toolwright, Self::Typify, Self::ProstBuild, Self::Baml, Self::Quicktype];

    /// Its name and version.
    pub fn name(self) -> &'static str {
        match self {
            Self::Toolwright => "toolwright",
            Self::Typify => "typify 0.8",
            Self::ProstBuild => "prost-build 0.14",
            Self::Baml => "BAML 0.226",
            Self::Quicktype => "quicktype 26",
        }
    }

    /// What it is given.
    pub fn language(self) -> Language {
        match self {
            Self::Toolwright => Language::Yaml,
            Self::Typify | Self::Quicktype => Language::JsonSchema,
            Self::ProstBuild => Language::Proto,
            Self::Baml => Language::Baml,
        }
    }

    /// What it makes of that, as the table says it.
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

    /// The program and arguments that generate from one folder into another; none if it is not installed.
    ///
    /// # Errors
    ///
    /// When the input cannot be listed or this program not be found.
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

    /// What compares the output of ours with what it should be.
    ///
    /// # Errors
    ///
    /// When this program cannot be found.
    pub fn check_command(input: &Path, out: &Path) -> io::Result<Vec<OsString>> {
        library::command(Run::Toolwright { check: true }, input, out)
    }
}
