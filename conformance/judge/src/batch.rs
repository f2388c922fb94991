//! Schemas through the compiler, directly and through the importer, and the program that the generated codecs become.

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

/// How long generated code has for one payload.
const LIMIT: Duration = Duration::from_secs(10);

/// What a process of a batch may take of memory, in KiB: exponential memory shows before the machine is out of it.
const MEMORY: &str = "4000000";

/// A schema of arguments under the name of its tool.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) schema: String,
}

/// What the compiler and the importer made of schemas, and the program that answers for them.
pub(crate) struct Batch {
    /// A fate for each subject.
    pub(crate) fates: Vec<Fate>,
    /// The program, unless the generated code does not compile: then what rustc says.
    pub(crate) program: Result<Peer, String>,
}

/// What became of one schema.
#[derive(Debug)]
pub(crate) struct Fate {
    /// As a type of a schema file.
    pub(crate) direct: Outcome,
    /// As the arguments of an imported tool.
    pub(crate) imported: Outcome,
    /// What the importer says about it.
    pub(crate) warnings: Vec<String>,
}

/// Compiles subjects, in a workspace below a folder.
pub(crate) fn compile(subjects: &[Subject], folder: &Path) -> io::Result<Batch> {
    let fates: Vec<Fate> = subjects.iter().map(fate).collect();
    let accepted = |side: fn(&Fate) -> &Outcome| -> Vec<&Subject> {
        let members = subjects.iter().zip(&fates);
        members
            .filter(|(_, fate)| *side(fate) == Outcome::Accepted)
            .map(|(subject, _)| subject)
            .collect()
    };
    let (by_hand, by_import) = (accepted(|fate| &fate.direct), accepted(|fate| &fate.imported));
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
    Ok(Batch { fates, program })
}

/// What the compiler and the importer make of one schema.
pub(crate) fn fate(subject: &Subject) -> Fate {
    let direct = projects::outcome(direct(&[subject]));
    let imported = imported(&[subject]);
    let warnings =
        imported.as_ref().map_or_else(|_| Vec::new(), |imported| imported.warnings.clone());
    let imported = projects::outcome(imported.and_then(|imported| generate(&imported.text)));
    Fate { direct, imported, warnings }
}

/// A program that knows no generated tool, only schemas met at run time.
pub(crate) fn without_tools(folder: &Path) -> io::Result<Peer> {
    let source = folder.join("batch/src");
    fs::create_dir_all(&source)?;
    Projects::new(source.join("projects"))?.finish()?;
    build(folder)?.map_err(io::Error::other)
}

/// The schemas as types of one file, each the arguments of a tool.
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

/// The schemas as a server's list of tools.
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

/// Builds the batch of a folder.
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
    // The versions that this repository is tested with; they are here already.
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

/// The folder of the workspace: two above this crate's own.
fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}
