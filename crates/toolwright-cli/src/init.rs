//! `toolwright init`: a new project, from templates, generated at once. Never writes into a folder that holds anything.

use std::path::{Path, PathBuf};

use askama::Template;
use toolwright_codegen::disk::{self, IoError};
use toolwright_codegen::project::{Mode, Project};

use crate::end::End;
use crate::{generate, print};

/// What a new project asks a registry for: the release this program belongs to.
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));

/// The files that are the same in every project, by path.
const FIXED: [(&str, &str); 6] = [
    (".gitignore", include_str!("../templates/init/gitignore")),
    ("app/Cargo.toml", include_str!("../templates/init/app_Cargo.toml")),
    ("app/src/lib.rs", include_str!("../templates/init/app_lib.rs")),
    ("app/tests/greetings.rs", include_str!("../templates/init/app_test.rs")),
    ("schema/greeter.yaml", include_str!("../templates/init/greeter.yaml")),
    ("README.md", include_str!("../templates/init/README.md")),
];

/// `toolwright.toml` of a new project.
#[derive(Template)]
#[template(path = "init/toolwright.toml", escape = "none")]
struct Configuration {
    crates: Vec<Line>,
}

/// The workspace manifest of a new project.
#[derive(Template)]
#[template(path = "init/Cargo.toml.txt", escape = "none")]
struct Workspace {
    crates: Vec<Line>,
}

/// A crate of ours and where it is: the right side of a dependency in TOML.
#[derive(Clone)]
struct Line {
    name: &'static str,
    location: String,
}

pub(crate) fn run(dir: &Path, toolwright: Option<PathBuf>) -> End {
    let crates = match locate(toolwright) {
        Ok(crates) => crates,
        Err(failure) => return generate::failed("init", &failure.into()),
    };
    match disk::start_project(dir, &files(crates)) {
        Ok(()) => generate_into(dir),
        Err(failure) => generate::failed("init", &failure.into()),
    }
}

fn generate_into(dir: &Path) -> End {
    let generated = Project::open(dir).and_then(|project| project.generate(Mode::Write));
    match generated {
        Ok(generated) => {
            let end = generate::done(&generated);
            print::out(&format!(
                "init: {} is ready; its README.md says how to go on\n",
                disk::named(dir)
            ));
            end
        }
        Err(failure) => generate::failed("gen", &failure),
    }
}

fn files(crates: Vec<Line>) -> Vec<(&'static str, String)> {
    let fixed = FIXED.map(|(path, text)| (path, text.to_owned()));
    let mut files = fixed.to_vec();
    files.push(("Cargo.toml", text(&Workspace { crates: crates.clone() })));
    files.push(("toolwright.toml", text(&Configuration { crates })));
    files
}

fn text(template: &impl Template) -> String {
    let text = template.render().expect("a template of plain strings renders");
    if text.ends_with('\n') { text } else { text + "\n" }
}

/// Where the new project finds our crates: a checkout that was named, the one this program was built in, or a registry.
fn locate(named: Option<PathBuf>) -> Result<Vec<Line>, IoError> {
    if let Some(checkout) = named {
        return Ok(paths(&disk::checkout(&checkout)?));
    }
    match disk::checkout(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")) {
        Ok(checkout) => {
            print::err(&format!(
                "note: using the crates of the checkout in {}\n",
                disk::named(&checkout)
            ));
            Ok(paths(&checkout))
        }
        Err(_) => Ok(lines(|_| format!("version = {}", quoted(VERSION)))),
    }
}

fn paths(checkout: &Path) -> Vec<Line> {
    lines(|name| {
        format!("path = {}", quoted(&checkout.join("crates").join(name).to_string_lossy()))
    })
}

fn lines(location: impl Fn(&str) -> String) -> Vec<Line> {
    let names = ["toolwright", "toolwright-runtime", "toolwright-mcp"];
    names.map(|name| Line { name, location: format!("{{ {} }}", location(name)) }).to_vec()
}

/// A TOML string, whatever the path holds.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
