//! Compiles schemas, directly and through the importer, and builds a program with the generated codecs.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs, io};

use toolwright_codegen::Files;
use toolwright_import::Owner;

use crate::peer::Peer;
use crate::projects::{self, Projects};
use crate::record::Outcome;
use crate::yaml_text;

/// The time limit for one payload.
const LIMIT: Duration = Duration::from_secs(10);

/// The memory limit of the program in KiB, so that exponential memory is found before the machine runs out of it.
const MEMORY: &str = "4000000";

/// A schema of arguments and the name of its tool.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) schema: String,
}

/// A batch of schemas and the program that checks payloads with them.
pub(crate) struct Batch {
    /// The outcomes for each subject.
    pub(crate) compiled: Vec<Compiled>,
    /// The program, or the errors of rustc if the generated code does not compile.
    pub(crate) program: Result<Peer, String>,
}

/// The outcomes of compiling one schema.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// The outcome as a type of a schema file.
    pub(crate) direct: Outcome,
    /// The outcome as the arguments of an imported tool.
    pub(crate) imported: Outcome,
    /// The warnings of the importer.
    pub(crate) warnings: Vec<String>,
}

/// Compiles subjects, in a workspace below a folder.
pub(crate) fn compile(subjects: &[Subject], folder: &Path) -> io::Result<Batch> {
    let compiled: Vec<Compiled> = subjects.iter().map(compiled).collect();
    let accepted = |side: fn(&Compiled) -> &Outcome| -> Vec<&Subject> {
        let members = subjects.iter().zip(&compiled);
        members
            .filter(|(_, compiled)| *side(compiled) == Outcome::Accepted)
            .map(|(subject, _)| subject)
            .collect()
    };
    let (by_hand, by_import) =
        (accepted(|compiled| &compiled.direct), accepted(|compiled| &compiled.imported));
    let by_import = if by_import.is_empty() {
        Ok(Files::default())
    } else {
        imported(&by_import).and_then(|imported| generate(&imported.text))
    };
    let sides = [("direct", direct(&by_hand)), ("imported", by_import)];
    let source = folder.join("batch/src");
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    let mut written = Projects::new(source.join("projects"))?;
    for (name, files) in sides {
        let files = files.map_err(|outcome| {
            io::Error::other(format!(
                "schemas that are accepted one by one are refused together: {outcome}"
            ))
        })?;
        if !files.is_empty() {
            written.add(name, name, &files).map_err(io::Error::other)?;
        }
    }
    written.finish()?;
    let program = build(folder)?;
    Ok(Batch { compiled, program })
}

/// Compiles one schema, directly and through the importer.
pub(crate) fn compiled(subject: &Subject) -> Compiled {
    let direct = projects::outcome(direct(&[subject]));
    let imported = imported(&[subject]);
    let warnings =
        imported.as_ref().map_or_else(|_| Vec::new(), |imported| imported.warnings.clone());
    let imported = projects::outcome(imported.and_then(|imported| generate(&imported.text)));
    Compiled { direct, imported, warnings }
}

/// Builds a program without generated tools, which only checks schemas at run time.
pub(crate) fn without_tools(folder: &Path) -> io::Result<Peer> {
    let source = folder.join("batch/src");
    fs::create_dir_all(&source)?;
    Projects::new(source.join("projects"))?.finish()?;
    build(folder)?.map_err(io::Error::other)
}

/// Compiles the schemas as types of one file, each the arguments of a tool.
fn direct(subjects: &[&Subject]) -> Result<Files, Outcome> {
    if subjects.is_empty() {
        return Ok(Files::default());
    }
    let (mut types, mut tools) = (String::new(), String::new());
    for Subject { name, schema } in subjects {
        let type_name = name.to_ascii_uppercase();
        // Writing to a string does not fail.
        _ = writeln!(types, "  {type_name}: {}", yaml_text::flow(schema));
        _ = writeln!(tools, "      {name}: {{ description: Takes arguments., args: {type_name} }}");
    }
    generate(&format!(
        "toolwright: 1\nservice: judge\nintegers: exact\ntypes:\n{types}toolsets:\n  direct:\n    description: Random schemas.\n    tools:\n{tools}"
    ))
}

struct Imported {
    text: String,
    warnings: Vec<String>,
}

/// Imports the schemas as a server's list of tools.
fn imported(subjects: &[&Subject]) -> Result<Imported, Outcome> {
    let tools: Vec<String> = subjects
        .iter()
        .map(|Subject { name, schema }| {
            format!("{{\"name\":\"{name}\",\"description\":\"Takes arguments.\",\"inputSchema\":{schema}}}")
        })
        .collect();
    let list = format!("{{\"tools\":[{}]}}", tools.join(","));
    let owner = Owner { service: "judge", toolset: "imported" };
    let imported = projects::guarded(|| toolwright_import::tools_list(&list, owner))?;
    let imported = imported.map_err(|error| Outcome::Refused {
        code: "no-tool-list".to_owned(),
        message: error.to_string(),
    })?;
    let warnings = imported.warnings.iter().map(|warning| warning.message.clone()).collect();
    Ok(Imported { text: imported.text, warnings })
}

fn generate(text: &str) -> Result<Files, Outcome> {
    projects::generate("judge.yaml", text.to_owned())
}

/// Builds the program of a folder. Returns the errors of rustc if it does not compile.
fn build(folder: &Path) -> io::Result<Result<Peer, String>> {
    let repository = repository();
    let tools = repository.join("conformance/json-schema/src/tools.rs");
    let program =
        include_str!("../program/main.rs").replace("@TOOLS@", &tools.display().to_string());
    fs::write(folder.join("batch/src/main.rs"), program)?;
    let contract = repository.join("crates/toolwright");
    fs::write(
        folder.join("batch/Cargo.toml"),
        format!(
            "[package]\nname = \"batch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             toolwright = {{ path = {:?}, features = [\"patterns\"] }}\n",
            contract.display().to_string()
        ),
    )?;
    fs::write(
        folder.join("Cargo.toml"),
        "[workspace]\nmembers = [\"batch\"]\nresolver = \"3\"\n\n[profile.dev]\ndebug = false\nincremental = false\n",
    )?;
    // The versions that this repository is tested with, which are already downloaded.
    fs::copy(repository.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let target = folder.join("target");
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
        .args(["build", "--quiet", "--package", "batch", "--target-dir"])
        .arg(&target)
        .current_dir(folder)
        .env("RUSTFLAGS", "-Awarnings")
        .output()?;
    if !output.status.success() {
        return Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\"")])
        .arg(target.join("debug/batch"));
    Ok(Ok(Peer::new(command, LIMIT)))
}

/// The folder of the workspace, two levels above this package.
fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}
