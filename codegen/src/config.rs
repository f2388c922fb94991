//! Parses `toolwright.toml`: the folders of a project, the options of generated code and the `[package]` table and
//! dependencies of generated crates.

mod breaking;
mod dialects;
mod rust;

use std::fmt;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use semver::Version;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use toml::de::{DeTable, DeValue, Deserializer};
use toml::{Spanned, Value};
use toolwright_dialect::Dialect;

use crate::diagnostic::{Diagnostic, files, projects, shown};
use crate::naming::MAX_NAME;
use crate::options::{self, Dependency, Layout, Options};
use crate::source::{SourceId, Span};
pub use breaking::Breaking;
use dialects::Dialects;
use rust::Rust;

/// The file's name.
pub const CONFIG_FILE: &str = "toolwright.toml";

/// The contents of the file. Every key has a default, so a project needs no file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The folders.
    #[serde(default)]
    pub project: Folders,
    #[serde(default)]
    rust: Rust,
    #[serde(default)]
    package: Package,
    #[serde(default)]
    crates: Crates,
    #[serde(default)]
    dialects: Dialects,
    #[serde(default)]
    pub(crate) breaking: Breaking,
    /// The id of the file, for spans.
    #[serde(skip)]
    source: Option<SourceId>,
}

/// The folders of a project, relative to the folder of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Folders {
    /// The folder of schema files; `schema` by default.
    pub schema: PathBuf,
    /// The folder of generated crates; `gen` by default.
    pub out: Spanned<PathBuf>,
}

/// The `[package]` table of generated manifests. Keys that cargo can inherit from a workspace also take
/// `{ workspace = true }`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Package {
    prefix: Option<Spanned<String>>,
    version: Option<Spanned<Value>>,
    rust_version: Option<Spanned<Value>>,
    license: Option<Spanned<Value>>,
    repository: Option<Spanned<Value>>,
    publish: Option<Spanned<Value>>,
    vectors: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Crates {
    #[serde(rename = "workspace_lints")]
    workspace_lints: bool,
    #[serde(rename = "non_exhaustive")]
    non_exhaustive: bool,
    toolwright: Option<Spanned<Dependency>>,
    toolwright_runtime: Option<Spanned<Dependency>>,
    toolwright_mcp: Option<Spanned<Dependency>>,
    toolwright_http: Option<Spanned<Dependency>>,
}

impl Default for Folders {
    fn default() -> Self {
        Self { schema: "schema".into(), out: Spanned::new(0..0, "gen".into()) }
    }
}

impl Config {
    /// Parses the text of the file, which has the id `source`.
    ///
    /// # Errors
    ///
    /// Returns every mistake in the file, with its span.
    pub fn parse(text: &str, source: SourceId) -> Result<Self, Vec<Diagnostic>> {
        let mut config = deserialized(text, source)?;
        config.source = Some(source);
        let crates = config.crates.all().into_iter().flatten();
        let crates = crates.chain(config.rust.dependencies().map(|(_, location)| location));
        let unlocated = crates.filter_map(|location| {
            let wrong = match location.as_ref() {
                found if !has_one_location(found) => NOT_ONE_LOCATION,
                found if length(found) > MAX_COPIED => TOO_LONG,
                found if config.package.is_published() && is_local(found) => LOCAL_ONLY,
                _ => return None,
            };
            Some((location.span(), wrong))
        });
        let mut mistakes: Vec<_> = unlocated
            .chain(config.package.mistakes())
            .map(|(span, message)| (span, message.to_owned()))
            .chain(config.rust.mistakes())
            .chain(config.dialects.mistakes())
            .chain(config.breaking.mistakes())
            .map(|(span, message)| projects::bad_config(files::span(source, span), message))
            .collect();
        mistakes.sort_by_key(|mistake| mistake.span);
        if mistakes.is_empty() { Ok(config) } else { Err(shown(mistakes)) }
    }

    /// Returns the project's own files of dialects, each with its span.
    pub(crate) fn dialect_files(&self) -> impl Iterator<Item = (&Path, Span)> {
        let source = self.source;
        self.dialects
            .files()
            .filter_map(move |(file, span)| Some((file, files::span(source?, span))))
    }

    /// Resolves the targets of the project. `own` are the dialects in [`Self::dialect_files`].
    ///
    /// # Errors
    ///
    /// Returns a finding for each target that does not exist.
    pub(crate) fn dialects(
        &self,
        own: Vec<Dialect>,
    ) -> Result<crate::dialects::Dialects, Vec<Diagnostic>> {
        let Some(source) = self.source else { return Ok(crate::dialects::Dialects::default()) };
        let mistake = |(span, message)| projects::bad_config(span, message);
        self.dialects
            .resolve(own, source)
            .map_err(|mistakes| shown(mistakes.into_iter().map(mistake).collect()))
    }

    /// Returns the table `[breaking]`, if it names only these viewpoints and rules.
    ///
    /// # Errors
    ///
    /// Returns a finding for each other word.
    pub(crate) fn breaking(
        &self,
        viewpoints: &[&str],
        rules: &[&str],
    ) -> Result<&Breaking, Vec<Diagnostic>> {
        let Some(source) = self.source else { return Ok(&self.breaking) };
        let mistake = |(span, message)| projects::bad_config(files::span(source, span), message);
        let unknown = self.breaking.unknown(viewpoints, rules);
        let mistakes: Vec<Diagnostic> = unknown.into_iter().map(mistake).collect();
        if mistakes.is_empty() { Ok(&self.breaking) } else { Err(shown(mistakes)) }
    }

    /// Returns whether generated structs and enums are `#[non_exhaustive]`.
    pub(crate) fn is_non_exhaustive(&self) -> bool {
        self.crates.non_exhaustive
    }

    /// Returns the span of `out` in the file, if the file sets it.
    pub(crate) fn out_span(&self) -> Option<Span> {
        let span = self.project.out.span();
        self.source.filter(|_| !span.is_empty()).map(|source| files::span(source, span))
    }

    /// Returns the compiler's options for crates in `out`. Both paths are absolute.
    pub fn options(&self, root: &Path, out: &Path) -> Options {
        let default = Options::of(Layout::Crates);
        let relative_to_out = |location: &Spanned<Dependency>| {
            let location = location.as_ref();
            let path = location.path.as_ref().map(|path| match Path::new(path) {
                path if path.is_absolute() => slashes(path),
                path => slashes(&relative(out, &root.join(path))),
            });
            Dependency { path, ..location.clone() }
        };
        let dependency = |location: &Option<Spanned<Dependency>>, default| {
            location.as_ref().map_or(default, relative_to_out)
        };
        let extra = |(name, location): (&str, _)| (name.to_owned(), relative_to_out(location));
        Options {
            layout: Layout::Crates,
            has_patterns: true,
            providers_only: false,
            vectors: self.package.vectors,
            workspace_lints: self.crates.workspace_lints,
            non_exhaustive: self.crates.non_exhaustive,
            integers: self.rust.integers,
            derive: self.rust.derive(),
            types: self.source.map(|source| self.rust.types(source)).unwrap_or_default(),
            dependencies: self.rust.dependencies().map(extra).collect(),
            package: self.package.options(),
            dialects: None,
            toolwright: dependency(&self.crates.toolwright, default.toolwright),
            runtime: dependency(&self.crates.toolwright_runtime, default.runtime),
            mcp: dependency(&self.crates.toolwright_mcp, default.mcp),
            http: dependency(&self.crates.toolwright_http, default.http),
        }
    }
}

/// The most bytes of a text that each generated crate has, and of the macros that each type derives.
const MAX_COPIED: usize = 1024;

const TOO_LONG: &str =
    "found more than 1024 bytes, expected fewer, as each generated crate has a copy";

/// Returns the bytes of the texts of a location.
fn length(location: &Dependency) -> usize {
    let Dependency { path, version, registry, git, branch, tag, rev, features, .. } = location;
    let texts = [path, version, registry, git, branch, tag, rev].into_iter().flatten();
    texts.chain(features).map(String::len).sum()
}

/// The most mistakes that deserialization reports; each costs another pass over the file.
const MAX_MISTAKES: usize = 20;

/// Deserializes the file. The deserializer stops at the first mistake, so the key with it is removed and the rest
/// deserialized again.
fn deserialized(text: &str, source: SourceId) -> Result<Config, Vec<Diagnostic>> {
    let mistake = |error: &toml::de::Error| {
        let span = files::span(source, error.span().unwrap_or_default());
        projects::bad_config(span, error.message().replace('\n', ", "))
    };
    let mut table = DeTable::parse(text).map_err(|error| vec![mistake(&error)])?;
    let mut mistakes = Vec::new();
    while mistakes.len() < MAX_MISTAKES {
        match Config::deserialize(Deserializer::from(table.clone())) {
            Ok(config) if mistakes.is_empty() => return Ok(config),
            Ok(_) => break,
            Err(error) => {
                mistakes.push(mistake(&error));
                let is_removed = error.span().is_some_and(|at| remove_key(table.get_mut(), &at));
                if !is_removed {
                    break;
                }
            }
        }
    }
    mistakes.sort_by_key(|mistake| mistake.span);
    Err(mistakes)
}

/// Removes the innermost key that covers a span, by itself or by its value; returns whether there is one.
fn remove_key(table: &mut DeTable<'_>, at: &Range<usize>) -> bool {
    let is_around = |outer: Range<usize>| outer.start <= at.start && at.end <= outer.end;
    let is_deeper = |value: &mut Spanned<DeValue<'_>>| match value.get_mut() {
        DeValue::Table(inner) => remove_key(inner, at),
        _ => false,
    };
    if table.iter_mut().any(|(_, value)| is_deeper(value)) {
        return true;
    }
    let found = table.iter().find(|(key, value)| is_around(key.span()) || is_around(value.span()));
    let key = found.map(|(key, _)| key.clone());
    key.is_some_and(|key| table.remove(&key).is_some())
}

impl Crates {
    fn all(&self) -> [&Option<Spanned<Dependency>>; 4] {
        [&self.toolwright, &self.toolwright_runtime, &self.toolwright_mcp, &self.toolwright_http]
    }
}

impl Package {
    /// Returns the keys that generated manifests take over.
    fn keys(&self) -> [(&'static str, &Option<Spanned<Value>>); 5] {
        [
            ("version", &self.version),
            ("rust-version", &self.rust_version),
            ("license", &self.license),
            ("repository", &self.repository),
            ("publish", &self.publish),
        ]
    }

    fn options(&self) -> options::Package {
        let mut keys = options::Package::default().keys;
        for (key, value) in self.keys() {
            let Some(value) = value.as_ref().map(|value| value.as_ref().to_string()) else {
                continue;
            };
            match keys.iter_mut().find(|(name, _)| *name == key) {
                Some((_, default)) => *default = value,
                None => keys.push((key, value)),
            }
        }
        let version = self.version.as_ref().and_then(|version| version.as_ref().as_str());
        options::Package {
            prefix: self.prefix.as_ref().map(|prefix| prefix.as_ref().clone()).unwrap_or_default(),
            published: version.filter(|_| self.is_published()).map(str::to_owned),
            keys,
        }
    }

    fn is_published(&self) -> bool {
        let publish = self.publish.as_ref().map(Spanned::as_ref);
        publish.is_some_and(|publish| *publish != Value::from(false))
    }

    /// Returns the mistakes, each with its span.
    fn mistakes(&self) -> Vec<(Range<usize>, &'static str)> {
        let mut mistakes = Vec::new();
        if let Some(prefix) = &self.prefix {
            if !is_prefix(prefix.as_ref()) {
                mistakes.push((prefix.span(), BAD_PREFIX));
            } else if prefix.as_ref().len() > MAX_NAME {
                mistakes.push((prefix.span(), LONG_PREFIX));
            }
        }
        for (key, value) in self.keys() {
            let Some(value) = value else { continue };
            let is_right = match value.as_ref() {
                Value::Table(table) => {
                    *table == [("workspace".to_owned(), true.into())].into_iter().collect()
                }
                Value::String(_) => key != "publish",
                Value::Boolean(_) => key == "publish",
                Value::Array(names) => key == "publish" && names.iter().all(Value::is_str),
                _ => false,
            };
            match (key, value.as_ref()) {
                ("publish", _) if !is_right => mistakes.push((value.span(), BAD_PUBLISH)),
                _ if !is_right => mistakes.push((value.span(), NOT_A_STRING)),
                (_, found) if found.to_string().len() > MAX_COPIED => {
                    mistakes.push((value.span(), TOO_LONG));
                }
                ("version", Value::String(text)) if Version::parse(text).is_err() => {
                    mistakes.push((value.span(), BAD_VERSION));
                }
                ("rust-version", Value::String(text)) if !is_rust_version(text) => {
                    mistakes.push((value.span(), OLD_RUST.as_str()));
                }
                _ => {}
            }
        }
        if let Some(publish) = self.publish.as_ref().filter(|_| self.is_published())
            && !self.version.as_ref().is_some_and(|version| version.as_ref().is_str())
        {
            mistakes.push((publish.span(), MISSING_VERSION));
        }
        mistakes
    }
}

/// Accepts a table or a version alone, as Cargo does.
impl<'de> Deserialize<'de> for Dependency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableOrVersion;

        impl<'de> Visitor<'de> for TableOrVersion {
            type Value = Dependency;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a version such as `\"0.1\"`, or a table such as `{ path = \"…\" }`")
            }

            fn visit_str<E>(self, version: &str) -> Result<Dependency, E> {
                Ok(Dependency::of_version(version))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Dependency, A::Error> {
                // The function that `remote` derives.
                Dependency::deserialize(MapAccessDeserializer::new(table))
            }
        }

        deserializer.deserialize_any(TableOrVersion)
    }
}

const LONG_PREFIX: &str =
    "found more than 64 bytes, expected a shorter prefix, as file names have the names of packages";

const BAD_PREFIX: &str = "expected a prefix of package names: a lower-case letter, then lower-case letters, digits, `-` and `_`";
const NOT_A_STRING: &str = "expected a string, or `{ workspace = true }`";
const BAD_PUBLISH: &str = "expected true, false, a list of registries, or `{ workspace = true }`";
const MISSING_VERSION: &str = "published packages require a version of each other; expected `version = \"…\"` beside `publish`";
const BAD_VERSION: &str = "expected a version of three numbers, such as `0.1.0`";
static OLD_RUST: LazyLock<String> = LazyLock::new(|| {
    let oldest = toolwright::RUST_VERSION;
    format!("generated crates need a Rust that `toolwright` supports; expected `{oldest}` or later")
});
const LOCAL_ONLY: &str = "published packages take this crate from a registry; expected `version = \"…\"` beside `path` or `git`";
const NOT_ONE_LOCATION: &str = "expected exactly one location of the crate: `{ path = \"…\" }`, `{ version = \"…\" }`, \
                                `{ git = \"…\" }` or `{ workspace = true }`";

fn is_prefix(text: &str) -> bool {
    let is_part =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.bytes().all(is_part)
}

/// Returns whether a text is a version of Rust that is new enough for generated crates.
fn is_rust_version(text: &str) -> bool {
    let numbers =
        |text: &str| text.split('.').map(str::parse).collect::<Result<Vec<u64>, _>>().ok();
    let is_version = |numbers: &Vec<u64>| (2..=3).contains(&numbers.len());
    numbers(text).filter(is_version) >= numbers(toolwright::RUST_VERSION)
}

/// Returns whether a dependency has no version and is not inherited, so that published packages cannot have it.
fn is_local(dependency: &Dependency) -> bool {
    dependency.version.is_none() && !dependency.workspace
}

/// Returns whether a dependency gives exactly one location. A path or repository may have a version beside it, which
/// published packages use.
fn has_one_location(dependency: &Dependency) -> bool {
    let Dependency { path, version, registry, git, branch, tag, rev, workspace, .. } = dependency;
    let locations = usize::from(path.is_some()) + usize::from(git.is_some());
    let references = [branch, tag, rev].into_iter().flatten().count();
    if *workspace {
        return locations + references == 0 && version.is_none() && registry.is_none();
    }
    (locations == 1 || (locations == 0 && version.is_some()))
        && references <= usize::from(git.is_some())
        && (registry.is_none() || version.is_some())
}

/// Removes `.` and `..` from a path without asking the disk: generated files must not depend on where symlinks lead.
pub fn normalize_lexically(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normalized.pop()),
            part => normalized.push(part),
        }
    }
    normalized
}

/// Returns the relative path from one folder to another, both absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to) = (normalize_lexically(from), normalize_lexically(to));
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{normalize_lexically, relative};

    #[test]
    fn the_relative_path_between_folders_depends_on_text_alone() {
        for (from, to, path) in [
            ("/p/gen", "/p/crates/toolwright", "../crates/toolwright"),
            ("/p/target/out/gen", "/p/crates/x", "../../../crates/x"),
            ("/p/../q/gen", "/p/crates/x", "../../p/crates/x"),
            ("/p/gen", "/p/gen", ""),
            ("/p/gen", "/p/./gen/inner", "inner"),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(path), "{from} to {to}");
        }
    }

    #[test]
    fn normalized_paths_have_no_dots() {
        for (path, expected) in [("/a/./b/../c", "/a/c"), ("/..", "/"), ("/a/b", "/a/b")] {
            assert_eq!(normalize_lexically(Path::new(path)), Path::new(expected));
        }
    }
}
