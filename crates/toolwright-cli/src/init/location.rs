//! Finds the crates of toolwright for a new project: in a checkout, a git repository or a registry.

use std::path::{Path, PathBuf};

use toolwright_codegen::disk::{self, IoError};

use crate::print;

/// The version requirement for the release of this program.
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));

/// The options that choose the location.
#[derive(Debug, clap::Args)]
pub(crate) struct LocationArgs {
    /// Use the toolwright crates of this checkout.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["git", "version"])]
    toolwright: Option<PathBuf>,
    /// Use the toolwright crates of a git repository.
    #[arg(long, value_name = "URL", requires = "rev", conflicts_with = "version")]
    git: Option<String>,
    /// The revision of the git repository.
    #[arg(long, requires = "git")]
    rev: Option<String>,
    /// Use this version of the toolwright crates from the registry.
    #[arg(long, value_parser = version_requirement)]
    version: Option<String>,
}

/// The location of the toolwright crates.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A checkout, by its absolute path.
    Checkout(PathBuf),
    /// A revision of a git repository.
    Git { url: String, rev: String },
    /// A version in the registry.
    Version(String),
}

/// Accepts a version or a requirement for versions, as in a manifest.
fn version_requirement(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ".+-*^~=<>, ".contains(c);
    if text.chars().all(is_part) && text.contains(|c: char| c.is_ascii_digit() || c == '*') {
        return Ok(text.to_owned());
    }
    Err("expected a version such as `0.1`".to_owned())
}

/// Returns the location from the command line. Otherwise returns where this program comes from: the git repository that
/// `cargo install` used, the checkout that it was built in, or the registry.
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

/// Reads the repository from `.crates.toml`, in which `cargo install` records its sources.
fn installed_from_git() -> Option<Location> {
    let program = std::env::current_exe().ok()?;
    let record = program.parent()?.parent()?.join(".crates.toml");
    parse_crates_toml(&disk::read_text(&record).ok()??)
}

fn parse_crates_toml(record: &str) -> Option<Location> {
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
    /// Returns whether the location is a folder of this machine.
    pub(super) fn is_checkout(&self) -> bool {
        matches!(self, Self::Checkout(_))
    }

    /// Returns the TOML keys of a dependency on a crate.
    pub(super) fn dependency(&self, name: &str) -> String {
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

    /// Returns the arguments of `cargo install` for this program, quoted for a shell, or `None` for a checkout.
    pub(super) fn install_arguments(&self) -> Option<String> {
        match self {
            Self::Checkout(_) => None,
            Self::Git { url, rev } => {
                Some(format!("toolwright-cli --git {} --rev {}", argument(url), argument(rev)))
            }
            Self::Version(version) => {
                Some(format!("toolwright-cli --version {}", argument(version)))
            }
        }
    }
}

/// Quotes a text for a POSIX shell.
fn argument(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::{Location, parse_crates_toml};

    #[test]
    fn crates_toml_names_repository_and_revision() {
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
            assert_eq!(parse_crates_toml(&record(source)), *expected, "{source}");
        }
        assert_eq!(parse_crates_toml("v1 = 3"), None);
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        let (url, rev) = ("file:///a'; b #".to_owned(), "$(c)".to_owned());
        let arguments = Location::Git { url, rev }.install_arguments().unwrap();
        assert_eq!(arguments, r"toolwright-cli --git 'file:///a'\''; b #' --rev '$(c)'");
    }
}
