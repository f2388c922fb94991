//! `toolwright.toml`: where a project's schema and output are, what generated code looks like, and how generated crates find
//! ours. Never reads the file.

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

use crate::diagnostic::{Diagnostic, files, projects};
use crate::options::{self, Dependency, Layout, Options};
use crate::source::{SourceId, Span};
use rust::Rust;

/// The file's name.
pub const CONFIG_FILE: &str = "toolwright.toml";

/// What the file says; every part has a default, so a project needs no file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where things are.
    #[serde(default)]
    pub project: Places,
    #[serde(default)]
    rust: Rust,
    #[serde(default)]
    package: Package,
    #[serde(default)]
    crates: Crates,
    /// The file among the sources.
    #[serde(skip)]
    source: Option<SourceId>,
}

/// Where a project's things are, relative to the file's folder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Places {
    /// The folder of schema files; `schema` unless said otherwise.
    pub schema: PathBuf,
    /// The folder of generated crates; `gen` unless said otherwise.
    pub out: Spanned<PathBuf>,
}

/// What generated manifests say of their packages. What cargo lets a package inherit from its workspace may be
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
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Crates {
    #[serde(rename = "workspace_lints")]
    workspace_lints: bool,
    toolwright: Option<Spanned<Dependency>>,
    toolwright_runtime: Option<Spanned<Dependency>>,
    toolwright_mcp: Option<Spanned<Dependency>>,
    toolwright_http: Option<Spanned<Dependency>>,
}

impl Default for Places {
    fn default() -> Self {
        Self { schema: "schema".into(), out: Spanned::new(0..0, "gen".into()) }
    }
}

impl Config {
    /// Reads the text of the file, which is `source` among the sources.
    ///
    /// # Errors
    ///
    /// Whatever the file does not say in the way it should, at its place.
    pub fn parse(text: &str, source: SourceId) -> Result<Self, Vec<Diagnostic>> {
        let mut config = deserialized(text, source)?;
        config.source = Some(source);
        let crates = config.crates.all().into_iter().flatten();
        let crates = crates.chain(config.rust.dependencies().map(|(_, location)| location));
        let misplaced = crates.filter_map(|location| {
            let wrong = match location.as_ref() {
                found if !is_one_place(found) => NOT_ONE_PLACE,
                found if config.package.is_published() && is_local(found) => NOT_IN_A_REGISTRY,
                _ => return None,
            };
            Some((location.span(), wrong))
        });
        let mut mistakes: Vec<_> = misplaced
            .chain(config.package.mistakes())
            .map(|(span, message)| (span, message.to_owned()))
            .chain(config.rust.mistakes())
            .map(|(span, message)| projects::bad_config(files::bytes(source, span), message))
            .collect();
        mistakes.sort_by_key(|mistake| mistake.span);
        if mistakes.is_empty() { Ok(config) } else { Err(mistakes) }
    }

    /// Returns the span of `out` in the file, if the file sets it.
    pub(crate) fn place_of_out(&self) -> Option<Span> {
        let span = self.project.out.span();
        self.source.filter(|_| !span.is_empty()).map(|source| files::bytes(source, span))
    }

    /// What the compiler is to be told, for crates in `out`; both paths absolute.
    pub fn options(&self, root: &Path, out: &Path) -> Options {
        let default = Options::of(Layout::Crates);
        let seen_from_out = |location: &Spanned<Dependency>| {
            let location = location.as_ref();
            let path = location.path.as_ref().map(|path| match Path::new(path) {
                path if path.is_absolute() => slashes(path),
                path => slashes(&relative(out, &root.join(path))),
            });
            Dependency { path, ..location.clone() }
        };
        let dependency = |location: &Option<Spanned<Dependency>>, default| {
            location.as_ref().map_or(default, seen_from_out)
        };
        let extra = |(name, location): (&str, _)| (name.to_owned(), seen_from_out(location));
        Options {
            layout: Layout::Crates,
            has_patterns: true,
            providers_only: false,
            workspace_lints: self.crates.workspace_lints,
            integers: self.rust.integers,
            derive: self.rust.derive(),
            types: self.source.map(|source| self.rust.types(source)).unwrap_or_default(),
            dependencies: self.rust.dependencies().map(extra).collect(),
            package: self.package.options(),
            toolwright: dependency(&self.crates.toolwright, default.toolwright),
            runtime: dependency(&self.crates.toolwright_runtime, default.runtime),
            mcp: dependency(&self.crates.toolwright_mcp, default.mcp),
            http: dependency(&self.crates.toolwright_http, default.http),
        }
    }
}

/// Most mistakes of form that are looked for; each takes another look at the whole file.
const MAX_MISTAKES: usize = 20;

/// Reads the file. The deserializer stops at the first mistake, so the key with it is left out and the rest read again.
fn deserialized(text: &str, source: SourceId) -> Result<Config, Vec<Diagnostic>> {
    let mistake = |error: &toml::de::Error| {
        let span = files::bytes(source, error.span().unwrap_or_default());
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
                let is_found = error.span().is_some_and(|at| leave_out(table.get_mut(), &at));
                if !is_found {
                    break;
                }
            }
        }
    }
    mistakes.sort_by_key(|mistake| mistake.span);
    Err(mistakes)
}

/// Leaves out the innermost key at a place, or with a value at it; returns whether there is one.
fn leave_out(table: &mut DeTable<'_>, at: &Range<usize>) -> bool {
    let is_inside = |outer: Range<usize>| outer.start <= at.start && at.end <= outer.end;
    let is_deeper = |value: &mut Spanned<DeValue<'_>>| match value.get_mut() {
        DeValue::Table(inner) => leave_out(inner, at),
        _ => false,
    };
    if table.iter_mut().any(|(_, value)| is_deeper(value)) {
        return true;
    }
    let found = table.iter().find(|(key, value)| is_inside(key.span()) || is_inside(value.span()));
    let key = found.map(|(key, _)| key.clone());
    key.is_some_and(|key| table.remove(&key).is_some())
}

impl Crates {
    fn all(&self) -> [&Option<Spanned<Dependency>>; 4] {
        [&self.toolwright, &self.toolwright_runtime, &self.toolwright_mcp, &self.toolwright_http]
    }
}

impl Package {
    /// Each key of a manifest.
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
        for (key, said) in self.keys() {
            let Some(value) = said.as_ref().map(|value| value.as_ref().to_string()) else {
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

    /// Returns the mistakes, each with its place.
    fn mistakes(&self) -> Vec<(Range<usize>, &'static str)> {
        let mut mistakes = Vec::new();
        if let Some(prefix) = self.prefix.as_ref().filter(|prefix| !is_prefix(prefix.as_ref())) {
            mistakes.push((prefix.span(), NO_PREFIX));
        }
        for (key, said) in self.keys() {
            let Some(value) = said else { continue };
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
                ("publish", _) if !is_right => mistakes.push((value.span(), NO_PUBLISH)),
                _ if !is_right => mistakes.push((value.span(), NO_TEXT)),
                ("version", Value::String(text)) if Version::parse(text).is_err() => {
                    mistakes.push((value.span(), NO_SEMVER));
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
            mistakes.push((publish.span(), NO_VERSION));
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

const NO_PREFIX: &str = "a prefix of package names has to begin with a lower-case letter and to go on with those, digits, \
                         `-` and `_`";
const NO_TEXT: &str = "expected a string, or `{ workspace = true }`";
const NO_PUBLISH: &str = "expected true, false, a list of registries, or `{ workspace = true }`";
const NO_VERSION: &str = "packages that are published name the version of those they depend on; expected `version = \"…\"` \
                          beside `publish`";
const NO_SEMVER: &str = "expected a version of three numbers, such as `0.1.0`";
static OLD_RUST: LazyLock<String> = LazyLock::new(|| {
    let oldest = toolwright::RUST_VERSION;
    format!("generated crates need the Rust that `toolwright` needs; expected `{oldest}` or later")
});
const NOT_IN_A_REGISTRY: &str = "packages that are published take this crate from a registry; expected `version = \"…\"` \
                                 beside `path` or `git`";
const NOT_ONE_PLACE: &str = "a crate is found by its path, by a version, in a git repository or by the workspace; expected one \
                             of `{ path = \"…\" }`, `{ version = \"…\" }`, `{ git = \"…\" }` and `{ workspace = true }`";

fn is_prefix(text: &str) -> bool {
    let is_part =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.bytes().all(is_part)
}

/// Whether a text is a version of Rust that is not too old for generated crates.
fn is_rust_version(text: &str) -> bool {
    let numbers =
        |text: &str| text.split('.').map(str::parse).collect::<Result<Vec<u64>, _>>().ok();
    let is_version = |numbers: &Vec<u64>| (2..=3).contains(&numbers.len());
    numbers(text).filter(is_version) >= numbers(toolwright::RUST_VERSION)
}

/// Whether a dependency says nothing of a registry.
fn is_local(dependency: &Dependency) -> bool {
    dependency.version.is_none() && !dependency.workspace
}

/// Whether a dependency says in one way where the crate is. A path or a repository may have a version beside it, for those
/// who take the crate from a registry.
fn is_one_place(dependency: &Dependency) -> bool {
    let Dependency { path, version, registry, git, branch, tag, rev, workspace, .. } = dependency;
    let places = usize::from(path.is_some()) + usize::from(git.is_some());
    let references = [branch, tag, rev].into_iter().flatten().count();
    if *workspace {
        return places + references == 0 && version.is_none() && registry.is_none();
    }
    (places == 1 || (places == 0 && version.is_some()))
        && references <= usize::from(git.is_some())
        && (registry.is_none() || version.is_some())
}

/// Without `.` and `..` parts, going by the text alone: what is generated may not depend on what symlinks lead to.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The way from one folder to another, both absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to) = (plain(from), plain(to));
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

    use super::{plain, relative};

    #[test]
    fn the_way_between_folders_goes_by_text() {
        for (from, to, way) in [
            ("/p/gen", "/p/crates/toolwright", "../crates/toolwright"),
            ("/p/target/out/gen", "/p/crates/x", "../../../crates/x"),
            ("/p/../q/gen", "/p/crates/x", "../../p/crates/x"),
            ("/p/gen", "/p/gen", ""),
            ("/p/gen", "/p/./gen/inner", "inner"),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(way), "{from} to {to}");
        }
    }

    #[test]
    fn plain_paths_have_no_dots() {
        for (path, expected) in [("/a/./b/../c", "/a/c"), ("/..", "/"), ("/a/b", "/a/b")] {
            assert_eq!(plain(Path::new(path)), Path::new(expected));
        }
    }
}
