//! `toolwright.toml`: where a project's schema and output are, and how generated crates find ours. Never reads the file.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::diagnostic::{Diagnostic, files, projects};
use crate::options::{Dependency, Integers, Layout, Options};
use crate::source::SourceId;

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
    crates: Crates,
}

/// Where a project's things are, relative to the file's folder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Places {
    /// The folder of schema files; `schema` unless said otherwise.
    pub schema: PathBuf,
    /// The folder of generated crates; `gen` unless said otherwise.
    pub out: PathBuf,
}

/// What generated code looks like.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Rust {
    integers: Integers,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Crates {
    #[serde(rename = "workspace_lints")]
    workspace_lints: bool,
    toolwright: Option<Spanned<Location>>,
    toolwright_runtime: Option<Spanned<Location>>,
    toolwright_mcp: Option<Spanned<Location>>,
    toolwright_http: Option<Spanned<Location>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, `{ version = \"…\" }` or `{ path = \"…\" }`")]
struct Location {
    path: Option<PathBuf>,
    version: Option<String>,
}

impl Default for Places {
    fn default() -> Self {
        Self { schema: "schema".into(), out: "gen".into() }
    }
}

impl Config {
    /// Reads the text of the file, which is `source` among the sources.
    ///
    /// # Errors
    ///
    /// Whatever the file does not say in the way it should, at its place.
    pub fn parse(text: &str, source: SourceId) -> Result<Self, Vec<Diagnostic>> {
        let config: Self = toml::from_str(text).map_err(|error| {
            let span = files::bytes(source, error.span().unwrap_or_default());
            vec![projects::bad_config(span, error.message().replace('\n', ", "))]
        })?;
        let locations = config.crates.all().into_iter().flatten();
        let mistakes: Vec<_> = locations.filter_map(|location| mistake(location, source)).collect();
        if mistakes.is_empty() { Ok(config) } else { Err(mistakes) }
    }

    /// What the compiler is to be told, for crates in `out`; both paths absolute.
    pub fn options(&self, root: &Path, out: &Path) -> Options {
        let default = Options::of(Layout::Crates);
        let dependency = |location: &Option<Spanned<Location>>, default| {
            location
                .as_ref()
                .and_then(|location| location.as_ref().dependency(root, out))
                .unwrap_or(default)
        };
        Options {
            layout: Layout::Crates,
            providers_only: false,
            workspace_lints: self.crates.workspace_lints,
            integers: self.rust.integers,
            toolwright: dependency(&self.crates.toolwright, default.toolwright),
            runtime: dependency(&self.crates.toolwright_runtime, default.runtime),
            mcp: dependency(&self.crates.toolwright_mcp, default.mcp),
            http: dependency(&self.crates.toolwright_http, default.http),
        }
    }
}

impl Crates {
    fn all(&self) -> [&Option<Spanned<Location>>; 4] {
        [&self.toolwright, &self.toolwright_runtime, &self.toolwright_mcp, &self.toolwright_http]
    }
}

impl Location {
    fn dependency(&self, root: &Path, out: &Path) -> Option<Dependency> {
        match (&self.path, &self.version) {
            (Some(path), _) if path.is_absolute() => Some(Dependency::Path(slashes(path))),
            (Some(path), _) => Some(Dependency::Path(slashes(&relative(out, &root.join(path))))),
            (None, Some(version)) => Some(Dependency::Version(version.clone())),
            (None, None) => None,
        }
    }
}

fn mistake(location: &Spanned<Location>, source: SourceId) -> Option<Diagnostic> {
    let Location { path, version } = location.as_ref();
    if path.is_some() != version.is_some() {
        return None;
    }
    Some(projects::bad_crate(files::bytes(source, location.span())))
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
