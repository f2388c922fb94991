//! Imports, generates and compiles OpenAPI documents from npm packages of fixed versions, and calls the tools of the
//! Petstore over HTTP.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use toolwright_prerequisites::{Npm, or_skip};

const TOOLWRIGHT: &str = env!("CARGO_BIN_EXE_toolwright");
const PETSTORE: &str = include_str!("petstore.rs.in");

/// A document: its service, its path, and the numbers of operations that are imported and left out.
type Document = (&'static str, &'static str, usize, usize);

/// The documents that are compiled: large ones, in both versions and both notations.
const LARGE: [Document; 4] = [
    ("blockfrost", "@blockfrost/openapi/openapi.yaml", 125, 4),
    ("postcodes", "@ideal-postcodes/openapi/dist/openapi.json", 31, 0),
    ("star_trek", "@readme/oas-examples/3.0/json/star-trek.json", 120, 0),
    ("readme", "@readme/oas-examples/3.1/json/readme.json", 50, 4),
];

/// The Petstore in both versions. The upload of an image is left out, because multipart forms are not supported.
const PETSTORES: [Document; 4] = [
    ("petstore", "@readme/oas-examples/3.0/json/petstore.json", 19, 1),
    ("petstore", "@readme/oas-examples/3.1/yaml/petstore.yaml", 19, 1),
    ("petstore", "@readme/oas-examples/3.0/yaml/petstore.yaml", 19, 1),
    ("petstore", "@readme/oas-examples/3.1/json/petstore.json", 19, 1),
];

fn temporary() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("openapi")
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it is there")
}

fn text(output: &Output) -> String {
    let both = [output.stdout.clone(), output.stderr.clone()].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// Returns the packages, or records a skip and returns `None` if they cannot be installed.
fn packages() -> Option<Npm> {
    let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi");
    or_skip(Npm::install(&pins, &temporary().join("npm")))
}

/// Creates a project with the crates of this repository and all services in one workspace.
fn project(packages: &Npm, name: &str, documents: &[Document]) -> PathBuf {
    let folder = temporary().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("schema")).expect("the target folder is ours");
    for document in documents {
        import(packages, &folder, document);
    }
    let crates = repository().join("crates").display().to_string();
    let crate_lines = ["toolwright", "toolwright-http"]
        .map(|name| format!("{name} = {{ path = '{crates}/{name}' }}\n"));
    fs::write(folder.join("toolwright.toml"), format!("[crates]\n{}", crate_lines.concat()))
        .expect("written");
    let members = "[workspace]\nresolver = \"3\"\nmembers = [\"gen/*/service\", \"gen/*/tools/*\", \"gen/*/http\"";
    let extra = if name == "petstore" { ", \"calls\"]\n" } else { "]\n" };
    fs::write(folder.join("Cargo.toml"), members.to_owned() + extra).expect("written");
    fs::copy(repository().join("Cargo.lock"), folder.join("Cargo.lock")).expect("copied");
    let generated =
        Command::new(TOOLWRIGHT).arg("gen").current_dir(&folder).output().expect("it runs");
    assert!(generated.status.success(), "{}", text(&generated));
    folder
}

fn import(packages: &Npm, folder: &Path, &(service, path, taken, left_out): &Document) {
    let document = packages.file(path);
    let output = Command::new(TOOLWRIGHT)
        .args(["import", "openapi", "--service", service, "-o"])
        .arg(folder.join("schema").join(service).with_extension("yaml"))
        .arg(document)
        .output()
        .expect("it runs");
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(0), "{path}: {printed}");
    let rest = if left_out == 0 { String::new() } else { format!(", {left_out} left out") };
    let expected = format!("import: {taken} operations{rest}, ");
    assert!(printed.contains(&expected), "{path}: expected {expected}\n{printed}");
    println!("{path}: {taken} taken, {left_out} left out");
}

/// Runs cargo on a project. All projects share their builds.
fn cargo(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("CARGO_MANIFEST_DIR")
        .env("CARGO_TARGET_DIR", temporary().join("target"))
        .env("RUSTFLAGS", "-D warnings")
        .output()
        .expect("cargo is there");
    let printed = text(&output);
    assert!(output.status.success(), "{arguments:?} in {}\n{printed}", folder.display());
    printed
}

#[test]
fn large_documents_import_generate_and_compile() {
    let Some(packages) = packages() else { return };
    let folder = project(&packages, "large", &LARGE);
    cargo(&folder, &["check", "--workspace"]);
}

/// Two operations are left out: one takes a file, and one returns a picture as text.
#[test]
fn the_operations_of_github_become_a_file_that_check_accepts() {
    let Some(packages) = packages() else { return };
    let folder = tempfile::tempdir().expect("a new folder");
    fs::create_dir(folder.path().join("schema")).expect("a new folder");
    let document = "@octokit/openapi/generated/api.github.com.json";
    import(&packages, folder.path(), &("github", document, 1221, 2));
}

#[test]
fn every_tool_of_the_petstore_is_called_over_http() {
    let Some(packages) = packages() else { return };
    let folder = project(&packages, "petstore", &PETSTORES[..1]);
    let calls = folder.join("calls");
    fs::create_dir_all(calls.join("src")).expect("the target folder is ours");
    fs::write(calls.join("src/main.rs"), PETSTORE).expect("written");
    let crates = repository().join("crates").display().to_string();
    let manifest = format!(
        "[package]\nname = \"calls\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         axum = {{ version = \"0.8\", default-features = false, features = [\"http1\", \"tokio\"] }}\n\
         petstore-http = {{ path = \"../gen/petstore/http\" }}\n\
         petstore-service = {{ path = \"../gen/petstore/service\" }}\n\
         petstore-tools = {{ path = \"../gen/petstore/tools/petstore\" }}\n\
         serde_json = \"1\"\n\
         tokio = {{ version = \"1\", default-features = false, features = [\"macros\", \"net\", \"rt-multi-thread\"] }}\n\
         toolwright = {{ path = '{crates}/toolwright' }}\n\
         toolwright-http = {{ path = '{crates}/toolwright-http' }}\n"
    );
    fs::write(calls.join("Cargo.toml"), manifest).expect("written");
    let printed = cargo(&folder, &["run", "-p", "calls"]);
    assert!(printed.contains("19 tools called"), "{printed}");
}

#[test]
fn both_notations_of_a_document_give_the_same_file_and_both_versions_the_same_operations() {
    let Some(packages) = packages() else { return };
    let file = |document: &Document| {
        let folder = tempfile::tempdir().expect("a new folder");
        fs::create_dir(folder.path().join("schema")).expect("a new folder");
        import(&packages, folder.path(), document);
        fs::read_to_string(folder.path().join("schema/petstore.yaml")).expect("it was written")
    };
    let [json_30, yaml_31, yaml_30, json_31] = PETSTORES.each_ref().map(file);
    assert_eq!(json_30, yaml_30);
    assert_eq!(json_31, yaml_31);
    // The types of version 3.0 have more examples, and one has a default.
    let operations = |file: &str| file.split_once("\nmethods:").expect("methods").1.to_owned();
    assert_eq!(operations(&json_30), operations(&json_31));
}

#[test]
fn a_failed_import_has_its_exit_code_and_writes_nothing() {
    let folder = tempfile::tempdir().expect("a new folder");
    fs::write(folder.path().join("api.yaml"), "swagger: '2.0'\n").expect("written");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(TOOLWRIGHT);
        command.args(["import", "openapi"]).args(arguments).current_dir(folder.path());
        command.output().expect("it runs")
    };
    fs::write(folder.path().join("mine.yaml"), "mine").expect("written");
    let good = "openapi: 3.1.0\npaths: { /a: { get: { summary: A, responses: {} } } }\n";
    fs::write(folder.path().join("good.yaml"), good).expect("written");
    let cases: [(&[&str], i32, &str); 6] = [
        (&["good.yaml", "--service", "a", "-o", "mine.yaml"], 1, "mine.yaml exists"),
        (&["api.yaml", "--service", "a", "-o", "out.yaml"], 1, "this is Swagger 2"),
        (&["none.yaml", "--service", "a", "-o", "out.yaml"], 1, "no file none.yaml"),
        (&["api.yaml", "--service", "A"], 2, "expected a name"),
        (&["api.yaml", "--service", "a", "--rename", "x"], 2, "expected the name on the server"),
        (&["api.yaml"], 2, "--service"),
    ];
    for (arguments, code, expected) in cases {
        let output = run(arguments);
        let printed = text(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
        assert!(printed.contains(expected), "{arguments:?}: {printed}");
    }
    assert!(!folder.path().join("out.yaml").exists());
    let forced = run(&["good.yaml", "--service", "a", "-o", "mine.yaml", "--force"]);
    assert_eq!(forced.status.code(), Some(0), "{}", text(&forced));
    assert!(fs::read_to_string(folder.path().join("mine.yaml")).is_ok_and(|text| text != "mine"));
}
