//! Finds the crates of toolwright for a new project: in a checkout, a git repository or a registry.

use std::path::{Path, PathBuf};

use toolwright_codegen::disk::{self, IoError};

use crate::print;

/// The release that this program belongs to, as a registry is asked for it.
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));

/// The options that choose a location.
#[derive(Debug, clap::Args)]
pub(crate) struct LocationArgs {
    /// Take the crates of toolwright from this checkout.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["git", "version"])]
    toolwright: Option<PathBuf>,
    /// Take them from a git repository.
    #[arg(long, value_name = "URL", requires = "rev", conflicts_with = "version")]
    git: Option<String>,
    /// The revision of that repository.
    #[arg(long, requires = "git")]
    rev: Option<String>,
    /// Take them from the registry, in this version.
    #[arg(long)]
    version: Option<String>,
}

/// The place of the crates.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// In a checkout, by its absolute path.
    Checkout(PathBuf),
    /// In a git repository.
    Git { url: String, rev: String },
    /// In the registry.
    Version(String),
}

/// Returns the place that was named. Otherwise it is the one that this program comes from: the repository that `cargo install`
/// took it from, the checkout it was built in, or the registry.
pub(super) fn find(args: LocationArgs) -> Result<Location, IoError> {
    match args {
        LocationArgs { toolwright: Some(checkout), .. } => {
            Ok(Location::Checkout(disk::checkout(&checkout)?))
        }
        LocationArgs { git: Some(url), rev: Some(rev), .. } => Ok(Location::Git { url, rev }),
        LocationArgs { version: Some(version), .. } => Ok(Location::Version(version)),
        _ => {
            let checkout = || disk::checkout(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
            let found = installed_from_git()
                .or_else(|| checkout().ok().map(Location::Checkout))
                .unwrap_or_else(|| Location::Version(VERSION.to_owned()));
            if let Location::Checkout(checkout) = &found {
                let checkout = disk::printable_path(checkout);
                print::err(&format!("note: using the crates of the checkout in {checkout}\n"));
            }
            Ok(found)
        }
    }
}

/// Reads the record that `cargo install` keeps beside the folder of programs.
fn installed_from_git() -> Option<Location> {
    let program = std::env::current_exe().ok()?;
    let record = program.parent()?.parent()?.join(".crates.toml");
    git_of_record(&disk::read_text(&record).ok()??)
}

fn git_of_record(record: &str) -> Option<Location> {
    let record: toml::Table = record.parse().ok()?;
    let mut packages = record.get("v1")?.as_table()?.keys();
    // `toolwright-cli 0.1.0 (git+https://example.org/toolwright?branch=main#0123abcd)`
    let (_, source) =
        packages.find(|package| package.starts_with("toolwright-cli "))?.split_once("(git+")?;
    let (url, rev) = source.strip_suffix(')')?.split_once('#')?;
    let url = url.split_once('?').map_or(url, |(url, _)| url);
    Some(Location::Git { url: url.to_owned(), rev: rev.to_owned() })
}

impl Location {
    /// Returns whether this is a folder of this machine.
    pub(super) fn is_checkout(&self) -> bool {
        matches!(self, Self::Checkout(_))
    }

    /// The keys of a dependency on a crate, in TOML.
    pub(super) fn of(&self, name: &str) -> String {
        match self {
            Self::Checkout(checkout) => {
                let folder = if name == "toolwright-codegen" {
                    "codegen".into()
                } else {
                    Path::new("crates").join(name)
                };
                format!("path = {}", quoted(&checkout.join(folder).to_string_lossy()))
            }
            Self::Git { url, rev } => format!("git = {}, rev = {}", quoted(url), quoted(rev)),
            Self::Version(version) => format!("version = {}", quoted(version)),
        }
    }

    /// The arguments of `cargo install` that bring this program to another machine, quoted for a shell.
    pub(super) fn install(&self) -> Option<String> {
        match self {
            Self::Checkout(_) => None,
            Self::Git { url, rev } => Some(format!("toolwright-cli --git '{url}' --rev '{rev}'")),
            Self::Version(version) => Some(format!("toolwright-cli --version '{version}'")),
        }
    }
}

/// Quotes a text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::{Location, git_of_record};

    #[test]
    fn the_record_of_cargo_install_names_repository_and_revision() {
        let record = |source: &str| {
            format!(
                "[v1]\n\"ripgrep 14.1.0 (git+https://e.org/rg#1)\" = [\"rg\"]\n\"toolwright-cli 0.1.0 ({source})\" = [\"toolwright\"]\n"
            )
        };
        let (url, rev) = ("https://e.org/t".to_owned(), "0a1b".to_owned());
        let git = Some(Location::Git { url, rev });
        for (source, expected) in [
            ("git+https://e.org/t?branch=main#0a1b", &git),
            ("git+https://e.org/t#0a1b", &git),
            ("registry+https://e.org/index", &None),
            ("path+file:///src/t", &None),
        ] {
            assert_eq!(git_of_record(&record(source)), *expected, "{source}");
        }
        assert_eq!(git_of_record("v1 = 3"), None);
    }
}
