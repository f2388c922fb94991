//! Malicious texts: each text of a schema is refused at its position, or is in the generated code as it was written and
//! never runs. All accepted texts become one crate, which is built, tested and doc-tested.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use naughty_strings::BLNS;
use serde_json::{Value, json};
use toolwright_codegen::{Source, Sources, check};

/// Texts that would create a file if they ran, or break the build if they were code.
const PAYLOADS: [&str; 3] = [
    "#[test] fn evil() { std::fs::write(r\"CANARY\", \"\").unwrap(); }",
    "std::fs::write(r\"CANARY\", \"\").unwrap();",
    "include_str!(\"CANARY\"); compile_error!(\"evil\");",
];

/// The positions of texts in a tool, as JSON Pointers into [`tool`].
const PLACES: [&str; 12] = [
    "/title",
    "/description",
    "/tags/0",
    "/deprecated/since",
    "/hints/call",
    "/args/title",
    "/args/description",
    "/args/properties/pick/enum/0",
    "/args/properties/pick/description",
    "/args/properties/text/default",
    "/args/properties/text/examples/0",
    "/args/properties/match/pattern",
];

/// A tool with harmless texts in all positions.
fn tool() -> Value {
    json!({
        "title": "calm",
        "description": "calm",
        "tags": ["calm"],
        "deprecated": { "since": "calm" },
        "hints": { "call": "calm" },
        "args": {
            "type": "object",
            "title": "calm",
            "description": "calm",
            "properties": {
                "pick": { "type": "string", "enum": ["calm", "another"], "description": "calm" },
                "text": { "type": "string", "default": "calm", "examples": ["calm"] },
                "match": { "type": "string", "pattern": "calm" },
            },
        },
    })
}

fn project(tools: &[Value]) -> String {
    let named = tools.iter().enumerate().map(|(number, tool)| (format!("t{number}"), tool.clone()));
    let tools: serde_json::Map<String, Value> = named.collect();
    // JSON is valid YAML with the same escapes, except for halves of surrogate pairs.
    json!({
        "toolwright": 1,
        "service": "words",
        "toolsets": { "words": { "tools": tools } },
    })
    .to_string()
}

/// Returns the tool with a text in each position that accepts it. Checks that other positions report an error.
fn accepted(text: &str) -> Value {
    let mut tool = tool();
    for place in PLACES {
        let calm = tool.clone();
        *tool.pointer_mut(place).expect("a place of the tool") = json!(text);
        let source =
            Source { path: "a.yaml".to_owned(), text: project(std::slice::from_ref(&tool)) };
        if let Err(findings) = check(&Sources::new(vec![source])) {
            for finding in findings {
                assert!(finding.span.is_some(), "{place} {text:?}: {finding:?}");
            }
            tool = calm;
        }
    }
    tool
}

fn injections(canary: &Path) -> Vec<String> {
    let lines = include_str!("breakouts.txt").lines();
    let breakouts: Vec<String> = lines
        .filter(|line| !line.starts_with('#'))
        .map(|line| serde_json::from_str(line).expect("a JSON string"))
        .collect();
    let payloads = PAYLOADS.map(|payload| payload.replace("CANARY", &canary.to_string_lossy()));
    let all = |breakout: &String| payloads.clone().map(|evil| breakout.replace("EVIL", &evil));
    breakouts.iter().flat_map(all).collect()
}

/// `cargo xtask hostile` sets the variable that adds the other three quarters of the naughty strings.
#[test]
fn texts_are_refused_or_kept_and_never_run() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("words");
    // Removes generated files and keeps build artifacts, which makes the next run faster.
    for part in ["gen", "schema", "consumer"] {
        let _ = fs::remove_dir_all(folder.join(part));
    }
    let canary = folder.join("canary");
    let _ = fs::remove_file(&canary);
    let injections = injections(&canary);
    assert_eq!(BLNS.len(), 515);
    assert!(injections.len() >= 200, "{}", injections.len());
    // A compiler takes minutes for all of them, and few of these texts are made for it.
    let step = if std::env::var_os("TOOLWRIGHT_ALL_TEXTS").is_some() { 1 } else { 4 };
    let naughty = BLNS.iter().copied().step_by(step);
    let texts: Vec<&str> = naughty.chain(injections.iter().map(String::as_str)).collect();
    let tools: Vec<Value> = texts.iter().map(|text| accepted(text)).collect();
    for place in PLACES {
        let kept = tools
            .iter()
            .zip(&texts)
            .filter(|(tool, text)| tool.pointer(place) == Some(&json!(text)));
        // Few texts are refused, such as an empty one or an invalid pattern.
        assert!(
            kept.count() * 2 > texts.len() || place.ends_with("pattern") || place.ends_with("call"),
            "{place}"
        );
    }
    lay_out(&folder, &tools);
    for command in [&["test", "--workspace", "--tests"][..], &["test", "--workspace", "--doc"]] {
        let printed = cargo(&folder, command);
        assert!(!canary.exists(), "{command:?} ran what a schema says:\n{printed}");
    }
}

/// Creates a workspace of the generated crates and a crate that uses them.
fn lay_out(folder: &Path, tools: &[Value]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    // A JSON string is also a TOML string.
    let contract = json!(root.join("crates/toolwright")).to_string();
    let put = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("schema/a.yaml", &project(tools));
    put("toolwright.toml", &format!("[crates]\ntoolwright = {{ path = {contract} }}\n"));
    put("Cargo.toml", WORKSPACE);
    put("consumer/Cargo.toml", &CONSUMER.replace("CONTRACT", &contract));
    put("consumer/src/lib.rs", "");
    put("consumer/tests/words.rs", &consumer(tools.len()));
    put("consumer/tests/tools.json", &json!(tools).to_string());
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let generated = Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .arg("gen")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(generated.status.success(), "{}", String::from_utf8_lossy(&generated.stderr));
    enable_doc_tests(&folder.join("gen"));
}

/// Enables doc tests in the generated manifests, which disable them.
fn enable_doc_tests(folder: &Path) {
    let manifests: Vec<PathBuf> = manifests(folder);
    assert!(!manifests.is_empty());
    for manifest in manifests {
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(text.contains("doctest = false"), "{text}");
        fs::write(manifest, text.replace("doctest = false", "doctest = true")).unwrap();
    }
}

fn manifests(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of_path = |path: PathBuf| {
        if path.is_dir() {
            manifests(&path)
        } else {
            Some(path).filter(|path| path.ends_with("Cargo.toml")).into_iter().collect()
        }
    };
    paths.flat_map(of_path).collect()
}

fn cargo(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--offline")
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env_remove("CARGO_MANIFEST_DIR")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{arguments:?}:\n{printed}");
    printed
}

const WORKSPACE: &str = "[workspace]
resolver = \"3\"
members = [\"consumer\", \"gen/*/tools/*\"]

[profile.dev]
debug = false
incremental = false
";

const CONSUMER: &str = "[package]
name = \"consumer\"
version = \"0.0.0\"
edition = \"2024\"

[dev-dependencies]
serde_json = \"1\"
toolwright = { path = CONTRACT }
words-tools = { path = \"../gen/words/tools/words\" }
";

/// Returns the test that compares the texts in generated code with those of the schema.
fn consumer(count: usize) -> String {
    let mut text = include_str!("consumer.rs.in").to_owned();
    text.push_str("\nconst TOOLS: &[Codec] = &[\n");
    for number in 0..count {
        writeln!(text, "    again::<specs::T{number}>,").unwrap();
    }
    text.push_str("];\n");
    text
}
