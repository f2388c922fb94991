//! Tests of the JSON Schema of the language, which editors use: it accepts every file that `check` accepts, rejects every
//! file that `check` rejects for its form, and with it a real language server completes keys and flags unknown ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolwright_codegen::diagnostic::{Code, Diagnostic, Report, Severity, groups};
use toolwright_codegen::internal::yaml;
use toolwright_codegen::{Options, Source, Sources, compile};
use toolwright_prerequisites::{Npm, or_skip};

/// Folders of schemas that pass `check`. Each file is a project, but in [`PROJECTS`] all files of a folder are one.
const PASSING: [&str; 8] = [
    "schema",
    "tests/codecs",
    "tests/real",
    "codegen/tests/cases/ok",
    "crates/toolwright-import/tests/lists/cases",
    "tests/http",
    "bench/codecs/schema",
    "crates/toolwright-cli/templates/init",
];

/// Folders whose files form one project.
const PROJECTS: [&str; 2] = ["schema", "tests/codecs"];

/// Mistakes of form besides the smallest cases. Each line is the text of a file after `toolwright: 1`.
const WRONG_FORMS: &str = include_str!("cases/forms.txt");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn validator() -> jsonschema::Validator {
    let schema: Value =
        serde_json::from_str(&toolwright_codegen::language_schema()).expect("it is JSON");
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    jsonschema::draft7::new(&schema).expect("it is a JSON Schema")
}

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|kind| kind == "yaml")).collect();
    files.sort();
    files
}

/// Splits a case into the files of its project, which lines `### name` separate.
fn split(path: &Path) -> Sources {
    let text = fs::read_to_string(path).expect("readable");
    let mut files = Vec::new();
    for (index, part) in text.split("### ").enumerate().filter(|(_, part)| !part.is_empty()) {
        let text = if index == 0 { part } else { part.split_once('\n').expect("a line").1 };
        files.push(Source { path: format!("{index}.yaml"), text: text.to_owned() });
    }
    Sources::new(files)
}

/// Reads files as one project.
fn project(files: &[PathBuf]) -> Sources {
    let source = |path: &PathBuf| Source {
        path: path.display().to_string(),
        text: fs::read_to_string(path).expect("readable"),
    };
    Sources::new(files.iter().map(source).collect())
}

/// Returns the files that are valid YAML as JSON values.
fn values(sources: &Sources) -> Vec<Value> {
    let mut report = Report::default();
    let nodes = sources.iter().filter_map(|(id, file)| yaml::parse(id, &file.text, &mut report));
    // Some cases have numbers that are too large for an `f64`; they are replaced, since only their type matters here.
    let texts = nodes
        .map(|node| node.to_json().to_string().replace("1e999", "1e300").replace("1e400", "1e300"));
    texts.map(|text| serde_json::from_str(&text).expect("it is JSON")).collect()
}

fn findings(sources: &Sources) -> Vec<Diagnostic> {
    match compile(sources, &Options::default()) {
        Ok(compiled) => compiled.warnings,
        Err(findings) => findings,
    }
}

/// Mistakes of form inside JSON Schemas.
const WRONG_KEYWORDS: [&str; 8] = [
    "bad-type-list",
    "empty-enum",
    "repeated-value",
    "unknown-keyword",
    "unknown-type-word",
    "unsupported-dialect",
    "unsupported-keyword",
    "unsupported-reference",
];

/// Returns whether a mistake is one of form, which a schema can detect.
fn is_of_form(code: &str) -> bool {
    let forms = groups().into_iter().find(|group| group.title.starts_with("keys and values"));
    let forms = forms.expect("there is a group of this title").codes;
    code == "bad-name"
        || WRONG_KEYWORDS.contains(&code)
        || forms.iter().any(|form| form.name == code)
}

#[test]
fn files_that_pass_check_pass_the_schema() {
    let validator = validator();
    let mut seen = 0;
    for folder in PASSING {
        let files = yaml_files(&repository().join(folder));
        let projects = if PROJECTS.contains(&folder) {
            vec![project(&files)]
        } else {
            files.iter().map(|file| split(file)).collect()
        };
        for sources in projects {
            let findings = findings(&sources);
            let errors: Vec<&Diagnostic> =
                findings.iter().filter(|found| found.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{folder}: {errors:?}");
            for value in values(&sources) {
                let found: Vec<String> =
                    validator.iter_errors(&value).map(|error| error.to_string()).collect();
                assert!(found.is_empty(), "{folder}: {found:?} in {value}");
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "only {seen} files were validated");
}

#[test]
fn the_schema_rejects_a_smallest_case_only_if_its_form_is_wrong() {
    let validator = validator();
    let root = repository().join("codegen/tests/cases/errors");
    for code in Code::all() {
        let (file, folder) = (root.join(format!("{}.yaml", code.name)), root.join(code.name));
        let files = match (file.exists(), folder.is_dir()) {
            (true, _) => vec![file],
            (false, true) => yaml_files(&folder),
            (false, false) => Vec::new(),
        };
        // Files that are not YAML cannot be validated.
        if code.name == "yaml-syntax" || code.name == "not-utf8" || files.is_empty() {
            continue;
        }
        let values = files.iter().flat_map(|file| values(&split(file)));
        let rejected = values.filter(|value| !validator.is_valid(value)).count();
        assert_eq!(rejected > 0, is_of_form(code.name), "{}", code.name);
    }
}

#[test]
fn check_and_the_schema_reject_wrong_forms() {
    let validator = validator();
    let mut seen = 0;
    for line in WRONG_FORMS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let text = format!("toolwright: 1\n{}\n", line.replace("; ", "\n"));
        let sources = Sources::new(vec![Source { path: "a.yaml".to_owned(), text }]);
        let codes: Vec<&str> = findings(&sources).iter().map(|finding| finding.code).collect();
        assert!(codes.iter().any(|code| is_of_form(code)), "{line}: {codes:?}");
        let [value] = values(&sources).try_into().expect("one file");
        assert!(!validator.is_valid(&value), "the schema accepts {line}");
        seen += 1;
    }
    assert!(seen > 40, "only {seen} forms were tested");
}

/// Values of every kind, of which each keyword accepts some.
const VALUES: [&str; 22] = [
    "null",
    "true",
    "0",
    "2",
    "-1",
    "1.5",
    "1e30",
    "\"\"",
    "\"text\"",
    "\"string\"",
    "\"#/types/Note\"",
    "\"other.yaml#/Note\"",
    "\"https://json-schema.org/draft/2020-12/schema\"",
    "[]",
    "[1]",
    "[\"string\"]",
    "[\"string\", \"string\"]",
    "[true]",
    "{}",
    "{ a: 1 }",
    "{ a: true }",
    "{ a: [b] }",
];

#[test]
fn the_schema_accepts_the_same_values_of_keywords_as_check() {
    let validator = validator();
    let schema: Value = serde_json::from_str(&toolwright_codegen::language_schema()).unwrap();
    let known = schema["definitions"]["Schema"]["properties"].as_object().unwrap();
    assert!(known.len() > 50, "only {} keywords are known", known.len());
    let mut wrong = Vec::new();
    for keyword in known.keys().map(String::as_str).chain(["definitions", "example", "$id"]) {
        for value in VALUES {
            // `x-enum-names` needs an `enum` beside it.
            let beside = if keyword == "x-enum-names" { "enum: [1], " } else { "" };
            let text = format!(
                "toolwright: 1\nservice: notes\ntypes: {{ Note: {{ {beside}\"{keyword}\": {value} }} }}\n"
            );
            let sources = Sources::new(vec![Source { path: "a.yaml".to_owned(), text }]);
            let findings = findings(&sources);
            let is_rejected = findings.iter().any(|found| found.severity == Severity::Error);
            let [file] = values(&sources).try_into().expect("one file");
            if validator.is_valid(&file) == is_rejected {
                let codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
                wrong.push(format!("{keyword}: {value}: check reports {codes:?}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// Files that only `check` rejects, because they use unknown names or have another mistake that is not one of form.
const BY_CHECK_ALONE: [&str; 2] = ["one_letter", "payload_one_of"];

#[test]
fn the_schema_rejects_eleven_of_thirteen_mistakes_of_newcomers() {
    let validator = validator();
    let files = yaml_files(&repository().join("codegen/tests/cases/slips"));
    let mut accepted = Vec::new();
    let mut validated = 0;
    for file in &files {
        for value in values(&split(file)) {
            validated += 1;
            if validator.is_valid(&value) {
                accepted.push(file.file_stem().expect("a name").to_string_lossy().into_owned());
            }
        }
    }
    assert_eq!((validated, accepted), (13, BY_CHECK_ALONE.map(str::to_owned).into()));
}

/// A file with a misspelled key of a tool and a misspelled keyword of a type, each before an empty line for completion.
const DOCUMENT: &str = "# yaml-language-server: $schema=toolset.schema.json
toolwright: 1
service: notes
toolsets:
  notes:
    tools:
      put_note:
        description: Put a note.
        titel: Put
        \n\
types:
  Note:
    type: string
    minlength: 1
    \n";

#[test]
fn a_language_server_completes_keys_and_keywords_and_flags_unknown_ones() {
    let pins = repository().join("codegen/tests/editor");
    let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor");
    let Some(npm) = or_skip(Npm::install(&pins, &installed)) else { return };
    let folder = tempfile::tempdir().expect("a new folder");
    fs::write(folder.path().join("toolset.schema.json"), toolwright_codegen::language_schema())
        .expect("written");
    let document = folder.path().join("notes.yaml");
    fs::write(&document, DOCUMENT).expect("written");
    let output = Command::new("node")
        .arg(pins.join("ask.mjs"))
        .args([&npm.file("yaml-language-server/bin/yaml-language-server"), &document])
        .args(["9:8", "14:4"])
        .stderr(Stdio::inherit())
        .output()
        .expect("node runs");
    assert!(output.status.success());
    let answer: Value = serde_json::from_slice(&output.stdout).expect("the script prints JSON");
    assert_eq!(
        answer["diagnostics"],
        json!([
            { "line": 8, "message": "Property titel is not allowed." },
            { "line": 13, "message": "Property minlength is not allowed." },
        ])
    );
    let offered = |place: usize| -> Vec<&str> {
        let offered = answer["completions"][place].as_array().expect("a list");
        offered.iter().filter_map(Value::as_str).collect()
    };
    for keyword in ["minLength", "format", "$ref", "description"] {
        assert!(offered(1).contains(&keyword), "{keyword} in {:?}", offered(1));
    }
    let offered = offered(0);
    for key in ["title", "args", "bind", "deprecated", "timeout"] {
        assert!(offered.contains(&key), "{key} in {offered:?}");
    }
    // A key that the mapping has is not offered again.
    assert!(!offered.contains(&"description"), "{offered:?}");
}
