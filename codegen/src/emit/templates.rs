//! The manifest and the README of a crate.

use askama::Template;

use super::module::Module;
use super::{BANNER, Texts};
use crate::options::Dependency;
use crate::plan::{Contents, Crate, summary};

#[derive(Template)]
#[template(path = "crate/Cargo.toml.txt", escape = "none")]
struct Manifest<'a> {
    banner: &'a str,
    krate: &'a Crate<'a>,
}

#[derive(Template)]
#[template(path = "crate/README.md.txt", escape = "none")]
struct Readme<'a> {
    banner: &'a str,
    krate: &'a Crate<'a>,
    modules: &'a [Module],
}

/// Prints the manifest and the README of a crate.
pub(super) fn around(krate: &Crate<'_>, modules: &[Module]) -> Texts {
    let dir = &krate.dir;
    vec![
        (format!("{dir}/Cargo.toml"), text(&Manifest { banner: BANNER, krate })),
        (format!("{dir}/README.md"), text(&Readme { banner: BANNER, krate, modules })),
    ]
}

fn text(template: &impl Template) -> String {
    let mut text = template.render().expect("nothing in the templates can fail");
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

impl Crate<'_> {
    /// Returns the `rust-version` of `toolwright` for a crate that depends on nothing else, unless the options set one.
    fn rust_version(&self) -> Option<&'static str> {
        let is_provider = matches!(self.contents, Contents::Service(_) | Contents::Toolset(_));
        let is_set = self.options.package.keys.iter().any(|(key, _)| *key == "rust-version");
        let is_known = is_provider && !is_set && self.options.dependencies.is_empty();
        is_known.then_some(toolwright::RUST_VERSION)
    }

    /// Returns whether there are vectors, which are not for users of the package.
    fn has_vectors(&self) -> bool {
        self.options.vectors && matches!(self.contents, Contents::Toolset(_))
    }

    /// Returns the features that the crate needs of a dependency.
    fn features_of(&self, dependency: &str) -> &'static [&'static str] {
        if self.contents.needs_patterns() && dependency == "toolwright" {
            &["patterns"]
        } else {
            &[]
        }
    }

    /// Returns the name of each tool, with the beginning of its description.
    fn tool_lines(&self) -> impl Iterator<Item = (&str, String)> {
        self.tools.iter().map(|tool| (tool.name.value.as_str(), summary(&tool.description)))
    }
}

impl Dependency {
    /// Returns the dependency as a TOML value.
    fn to_toml(&self, needed_features: &[&str]) -> String {
        let text = |text: &str| toml::Value::from(text).to_string();
        let Self { path, version, registry, git, branch, tag, rev, .. } = self;
        let keys = [
            ("path", path),
            ("version", version),
            ("registry", registry),
            ("git", git),
            ("branch", branch),
            ("tag", tag),
            ("rev", rev),
        ];
        let set = |(key, value): (&str, &Option<String>)| {
            value.as_ref().map(|value| format!("{key} = {}", text(value)))
        };
        let mut parts: Vec<String> = keys.into_iter().filter_map(set).collect();
        parts.extend(self.workspace.then(|| "workspace = true".to_owned()));
        parts.extend(self.default_features.map(|value| format!("default-features = {value}")));
        let is_missing = |needed: &&&str| !self.features.iter().any(|feature| feature == *needed);
        let needed = needed_features.iter().filter(is_missing).copied();
        let features: Vec<String> =
            self.features.iter().map(String::as_str).chain(needed).map(text).collect();
        if !features.is_empty() {
            parts.push(format!("features = [{}]", features.join(", ")));
        }
        match (version, parts.as_slice()) {
            (Some(version), [_]) => text(version),
            _ => format!("{{ {} }}", parts.join(", ")),
        }
    }
}
