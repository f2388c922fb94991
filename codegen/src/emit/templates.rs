//! What is not Rust items: manifests, READMEs, crate roots, the index of `OUT_DIR`.

use askama::Template;

use super::BANNER;
use super::print::Module;
use crate::naming::library;
use crate::options::Dependency;
use crate::plan::Crate;

#[derive(Template)]
#[template(path = "crate/Cargo.toml.txt", escape = "none")]
struct Manifest<'a> {
    banner: &'a str,
    krate: &'a Crate,
}

#[derive(Template)]
#[template(path = "crate/README.md.txt", escape = "none")]
struct Readme<'a> {
    banner: &'a str,
    krate: &'a Crate,
    modules: &'a [Module],
}

#[derive(Template)]
#[template(path = "crate/lib.rs.txt", escape = "none")]
struct Root<'a> {
    banner: &'a str,
    krate: &'a Crate,
    modules: &'a [Module],
}

#[derive(Template)]
#[template(path = "crate/mod.rs.txt", escape = "none")]
struct Index<'a> {
    banner: &'a str,
    crates: &'a [Crate],
}

/// `Cargo.toml`.
pub(super) fn manifest(krate: &Crate) -> String {
    text(&Manifest { banner: BANNER, krate })
}

/// `README.md`.
pub(super) fn readme(krate: &Crate, modules: &[Module]) -> String {
    text(&Readme { banner: BANNER, krate, modules })
}

/// `src/lib.rs`.
pub(super) fn root(krate: &Crate, modules: &[Module]) -> String {
    text(&Root { banner: BANNER, krate, modules })
}

/// `mod.rs`, which makes every crate a module beside the others.
pub(super) fn index(crates: &[Crate]) -> String {
    text(&Index { banner: BANNER, crates })
}

fn text(template: &impl Template) -> String {
    let mut text = template.render().expect("the templates call nothing that fails");
    text.push('\n');
    text
}

impl Crate {
    fn library(&self) -> String {
        library(&self.package)
    }

    /// The tools with their descriptions as cells of a markdown table.
    fn tool_rows(&self) -> impl Iterator<Item = (&str, String)> {
        self.tools.iter().map(|(name, description)| (name.as_str(), cell(description)))
    }
}

impl Dependency {
    /// The dependency as a TOML inline table.
    fn to_toml(&self) -> String {
        match self {
            Self::Path(path) => format!("{{ path = {} }}", toml::Value::from(path.as_str())),
            Self::Version(version) => toml::Value::from(version.as_str()).to_string(),
        }
    }
}

/// One line of prose for a table: no line breaks, no bars.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;")
}
