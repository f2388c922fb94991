//! What is not Rust: manifests and READMEs.

use askama::Template;

use super::print::Module;
use super::{BANNER, Texts};
use crate::options::Dependency;
use crate::plan::Crate;

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

/// What makes a crate of modules: its manifest and its README.
pub(super) fn around(krate: &Crate<'_>, modules: &[Module]) -> Texts {
    let dir = &krate.dir;
    vec![
        (format!("{dir}/Cargo.toml"), text(&Manifest { banner: BANNER, krate })),
        (format!("{dir}/README.md"), text(&Readme { banner: BANNER, krate, modules })),
    ]
}

fn text(template: &impl Template) -> String {
    let mut text = template.render().expect("the templates call nothing that fails");
    text.push('\n');
    text
}

impl Crate<'_> {
    /// The features it asks of a dependency.
    fn features_of(&self, dependency: &str) -> &'static [&'static str] {
        if self.needs_patterns && dependency == "toolwright" { &["patterns"] } else { &[] }
    }

    /// The tools with their descriptions, each in one line.
    fn tool_lines(&self) -> impl Iterator<Item = (&str, String)> {
        self.tools.iter().map(|tool| (tool.name.value.as_str(), line(&tool.description)))
    }
}

impl Dependency {
    /// The dependency as a TOML value.
    fn to_toml(&self, features: &[&str]) -> String {
        let text = |text: &str| toml::Value::from(text).to_string();
        let Self { path, version, registry, git, branch, tag, rev, workspace } = self;
        let keys = [
            ("path", path),
            ("version", version),
            ("registry", registry),
            ("git", git),
            ("branch", branch),
            ("tag", tag),
            ("rev", rev),
        ];
        let said = |(key, value): (&str, &Option<String>)| {
            value.as_ref().map(|value| format!("{key} = {}", text(value)))
        };
        let mut parts: Vec<String> = keys.into_iter().filter_map(said).collect();
        parts.extend(workspace.then(|| "workspace = true".to_owned()));
        if !features.is_empty() {
            let features: Vec<String> = features.iter().map(|feature| text(feature)).collect();
            parts.push(format!("features = [{}]", features.join(", ")));
        }
        match (version, parts.as_slice()) {
            (Some(version), [_]) => text(version),
            _ => format!("{{ {} }}", parts.join(", ")),
        }
    }
}

/// One line of prose: no line breaks, no tags.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('<', "&lt;")
}
