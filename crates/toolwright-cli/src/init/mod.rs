//! `toolwright init`: creates a project from templates in a new or empty folder, generates its code and resolves its
//! packages with cargo.

mod location;
mod menu;

use std::path::Path;
use std::process::Command;

use askama::Template;
use toolwright_codegen::disk;
use toolwright_codegen::internal::naming;
use toolwright_codegen::project::{Mode, Project};

use crate::contract;
use crate::exit::Exit;
use crate::{generate, print};
use location::Location;
pub(crate) use location::LocationArgs;

/// The schema of a new project, an issue tracker.
const SCHEMA: &str = include_str!("../../templates/init/issues.yaml");

/// The name of a package whose folder has no name that a package can have.
const DEFAULT_NAME: &str = "tracker";

/// The end of the schema of a project with an MCP server.
const MCP_SERVERS: &str = "
mcp_servers:
  tracker: { version: 0.1.0, toolsets: [issues] }
";

/// The optional parts of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Parts {
    /// Add an MCP server: `cargo run -- mcp`.
    #[arg(long)]
    pub(crate) mcp: bool,
    /// Add an agent: `cargo run -- chat triager`.
    #[arg(long)]
    pub(crate) agent: bool,
    /// Add a worker for Restate: `cargo run -- worker ADDRESS`.
    #[arg(long)]
    pub(crate) restate: bool,
    /// Generate the code with a build script instead of a folder `gen`.
    #[arg(long)]
    pub(crate) build_rs: bool,
}

pub(crate) fn run(dir: &Path, parts: Parts, location: LocationArgs) -> Exit {
    let location = match location::find(location) {
        Ok(location) => location,
        Err(failure) => return generate::report_failure("init", &failure.into()),
    };
    let Some(parts) = menu::choose(parts) else {
        print::err("init: no answer; nothing was written\n");
        return Exit::Rejected;
    };
    if let Err(failure) = disk::start_project(dir, &files(&package_name(dir), parts, &location)) {
        return generate::report_failure("init", &failure.into());
    }
    if !parts.build_rs {
        match Project::open(dir).and_then(|project| project.generate(Mode::Write)) {
            Ok(generated) => drop(generate::report(&generated)),
            Err(failure) => {
                let name = disk::printable_path(dir);
                print::err(&failure.render(print::human()));
                print::err(&format!("init: {name} was written, but not its code: {failure}\n"));
                return Exit::from(&failure);
            }
        }
        match contract::lock_of(dir) {
            Exit::Success => {}
            failed => return failed,
        }
    }
    let name = disk::printable_path(dir);
    match resolve(dir) {
        Ok(()) => {
            print::out(&format!("init: {name} is ready; read its README.md for the next steps\n"));
            Exit::Success
        }
        Err(reason) => {
            print::err(&format!(
                "{reason}\ninit: {name} was written, but cargo cannot resolve its packages; fix what cargo reports, or remove the \
                 folder and choose the location of the toolwright crates: `--toolwright DIR` for a checkout, `--git URL --rev REV` for \
                 a repository, `--version VERSION` for a registry\n"
            ));
            Exit::Rejected
        }
    }
}

/// Makes cargo resolve the packages of a project. If that fails, the files are kept: only the network may be missing.
fn resolve(dir: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version", "1", "--quiet"];
    match Command::new(cargo).args(arguments).current_dir(dir).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            // Without the prefix, the name of a folder could begin a line and be a workflow command.
            let output = print::printable_lines(&String::from_utf8_lossy(&output.stderr));
            Err(output.lines().map(|line| format!("cargo: {line}")).collect::<Vec<_>>().join("\n"))
        }
        Err(error) => Err(format!("cargo cannot be started: {error}; install Rust")),
    }
}

/// Returns the name of the package: that of the folder, if a package can have it beside the other crates of the project.
fn package_name(dir: &Path) -> String {
    const TAKEN: [&str; 10] = [
        "alloc",
        "build",
        "core",
        "deps",
        "examples",
        "incremental",
        "proc_macro",
        "std",
        "test",
        "tokio",
    ];
    let folder = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let folder = folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = folder.replace('-', "_");
    let is_taken = TAKEN.contains(&name.as_str())
        || ["issues_", "toolwright"].iter().any(|start| name.starts_with(start));
    let is_keyword = || naming::identifier(&name).to_string() != name;
    let is_free = toolwright_codegen::is_name(&name) && !is_taken && !is_keyword();
    if is_free { folder } else { DEFAULT_NAME.to_owned() }
}

fn files(name: &str, parts: Parts, location: &Location) -> Vec<(&'static str, String)> {
    let package = name.replace('-', "_");
    let package = package.as_str();
    let mcp_servers = if parts.mcp { MCP_SERVERS } else { "" };
    let mut files = vec![
        (".gitignore", include_str!("../../templates/init/gitignore").to_owned()),
        ("schema/issues.yaml", format!("{SCHEMA}{mcp_servers}")),
        ("schema/toolset.schema.json", toolwright_codegen::language_schema()),
        ("Cargo.toml", text(&Manifest { name, parts, location })),
        ("README.md", text(&Readme { parts, location })),
        ("src/service.rs", text(&Service { parts })),
        ("tests/tools.rs", text(&Tests { package, parts })),
    ];
    if parts.build_rs {
        files.push(("build.rs", include_str!("../../templates/init/build.rs").to_owned()));
    } else {
        let mut crates = vec!["toolwright"];
        crates.extend(parts.mcp.then_some("toolwright-mcp"));
        files.push(("toolwright.toml", text(&Configuration { crates, location })));
    }
    if parts.mcp || parts.agent || parts.restate {
        files.push(("src/main.rs", text(&Program { package, parts })));
    }
    if parts.agent {
        let agent = include_str!("../../templates/init/agents/triager.yaml");
        files.push(("agents/triager.yaml", agent.to_owned()));
        files.push(("tests/agent.rs", text(&AgentTest { package, parts })));
    }
    // A checkout exists only on this machine, so CI could not use it.
    if let Some(install) = location.install_arguments() {
        files.push((".github/workflows/ci.yml", text(&Workflow { parts, install })));
    }
    files
}

fn text(template: &impl Template) -> String {
    let text = template.render().expect("a template of plain strings renders");
    text.trim_end().to_owned() + "\n"
}

#[derive(Template)]
#[template(path = "init/manifest.toml", escape = "none")]
struct Manifest<'a> {
    name: &'a str,
    parts: Parts,
    location: &'a Location,
}

#[derive(Template)]
#[template(path = "init/toolwright.toml", escape = "none")]
struct Configuration<'a> {
    crates: Vec<&'static str>,
    location: &'a Location,
}

#[derive(Template)]
#[template(path = "init/README.md", escape = "none")]
struct Readme<'a> {
    parts: Parts,
    location: &'a Location,
}

#[derive(Template)]
#[template(path = "init/service.rs", escape = "none")]
struct Service {
    parts: Parts,
}

#[derive(Template)]
#[template(path = "init/main.rs", escape = "none")]
struct Program<'a> {
    package: &'a str,
    parts: Parts,
}

#[derive(Template)]
#[template(path = "init/tools.rs", escape = "none")]
struct Tests<'a> {
    package: &'a str,
    parts: Parts,
}

#[derive(Template)]
#[template(path = "init/agent.rs", escape = "none")]
struct AgentTest<'a> {
    package: &'a str,
    parts: Parts,
}

#[derive(Template)]
#[template(path = "init/ci.yml", escape = "none")]
struct Workflow {
    parts: Parts,
    install: String,
}
