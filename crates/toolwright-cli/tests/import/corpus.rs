//! Imports the tools of several real servers into one project under prefixes, generates and compiles it. The lists are
//! those of this repository, or of the folder that `cargo xtask corpus` names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use super::{text, toolwright};

fn lists() -> Vec<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolwright-import/tests/lists/real");
    let folder = env::var_os("TOOLWRIGHT_LISTS").map_or(ours, PathBuf::from);
    let entries = fs::read_dir(folder).unwrap();
    let mut lists: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    lists.retain(|path| path.extension().is_some_and(|kind| kind == "json"));
    lists.sort();
    lists
}

/// Imports a list under its server's name twice. The second import changes nothing.
fn import(project: &Path, list: &Path) {
    let name = list.file_stem().unwrap().to_string_lossy().replace('-', "_");
    let (prefix, file) = (format!("{name}_"), format!("schema/{name}.yaml"));
    let list = list.display().to_string();
    let arguments = [
        "import",
        "mcp",
        "--toolset",
        &name,
        "--service",
        &name,
        "--prefix",
        &prefix,
        "-o",
        &file,
        "--tools-json",
        &list,
    ];
    let output = toolwright(project, &arguments);
    assert_eq!(output.status.code(), Some(0), "{list}: {}", text(&output.stderr));
    let again = toolwright(project, &[&arguments[..], &["--check"]].concat());
    assert_eq!(again.status.code(), Some(0), "{list}: {}", text(&again.stdout));
}

#[test]
fn tools_of_several_servers_compile_together_in_one_project() {
    let project = tempfile::tempdir().unwrap();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::create_dir(project.path().join("schema")).unwrap();
    let configuration =
        format!("[crates]\ntoolwright = {{ path = '{}' }}\n", crates.join("toolwright").display());
    fs::write(project.path().join("toolwright.toml"), configuration).unwrap();
    let lists = lists();
    assert!(lists.len() >= 6, "{lists:?}");
    for list in &lists {
        import(project.path(), list);
    }
    let generated = toolwright(project.path(), &["gen"]);
    assert_eq!(generated.status.code(), Some(0), "{}", text(&generated.stderr));
    compile(project.path());
}

fn compile(project: &Path) {
    let mut members = Vec::new();
    for service in fs::read_dir(project.join("gen")).unwrap() {
        let service = service.unwrap();
        let name = service.file_name();
        if service.path().is_dir() {
            let kinds = ["service".to_owned(), format!("tools/{}", name.display())];
            let kinds = kinds.iter().map(|kind| format!("gen/{}/{kind}", name.display()));
            members.extend(kinds.filter(|member| project.join(member).is_dir()));
        }
    }
    let mut manifest = "[workspace]\nresolver = \"3\"\nmembers = [\n".to_owned();
    for member in &members {
        writeln!(manifest, "    \"{member}\",").unwrap();
    }
    fs::write(project.join("Cargo.toml"), manifest + "]\n").unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--workspace", "--quiet"])
        .current_dir(project)
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus"))
        .env("CARGO_INCREMENTAL", "0")
        .env("RUSTFLAGS", "-D warnings")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}
