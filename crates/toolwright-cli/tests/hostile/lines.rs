//! Names and texts that try to begin a line in a log or to control a terminal. GitHub interprets `::error::…` at the
//! beginning of a line as a command, and `##[error]…` anywhere in it.

use std::fs;
use std::path::Path;

use crate::child::{Limits, toolwright};
use crate::project::schema;

const LIMITS: Limits = Limits { cpu_seconds: 20, megabytes: 1024 };

/// The text that each case puts into a name or a text.
const FORGED: &str = "x\n::error::pwn\r::error::pwn ##[error]pwn\u{1b}[31m\u{202e}";

/// A function that puts the text into a project, and the command that reports it.
type Case = (&'static str, fn(&Path), fn() -> Vec<String>);

fn words(words: &str) -> Vec<String> {
    words.split(' ').map(|word| word.replace("FORGED", FORGED)).collect()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn broken_schema(at: &Path) {
    write(&at.join(format!("schema/{FORGED}.yaml")), "toolwright: 1\nserv: a\n");
}

fn escaped() -> String {
    serde_json::to_string(FORGED).unwrap()
}

fn unknown_key(at: &Path) {
    write(&at.join("schema/a.yaml"), &format!("toolwright: 1\n{}: 1\n", escaped()));
}

fn stray(at: &Path) {
    write(&at.join("schema/a.yaml"), &schema(1, "word"));
    write(&at.join(format!("gen/{FORGED}")), "mine");
}

fn in_the_way(at: &Path) {
    stray(at);
    write(&at.join(format!("{FORGED}/a/service/src/lib.rs")), "mine");
}

fn tools(at: &Path) {
    let tool = |name: &str| {
        format!(
            r###"{{"name": {name}, "description": "D. ##[error]pwn", "inputSchema": {{"type": "object", "title": "##[error]pwn", "odd": 1, "format": 1}}}}"###
        )
    };
    let list = format!(r#"{{"tools": [{}, {}]}}"#, tool(&escaped()), tool("\"fine\""));
    write(&at.join("list.json"), &list);
}

fn api(at: &Path) {
    let path = serde_json::to_string(&format!("/{FORGED}")).unwrap();
    let get = r#"{"get": {"responses": {"204": {"description": "Nothing."}}}}"#;
    let info = r#""openapi": "3.0.3", "info": {"title": "t", "version": "1"}"#;
    write(
        &at.join("api.json"),
        &format!(r#"{{{info}, "paths": {{{path}: {get}, "/fine": {get}}}}}"#),
    );
}

const CASES: &[Case] = &[
    ("a schema file", broken_schema, || words("check")),
    ("a schema file, as JSON", broken_schema, || words("check --format json")),
    ("a schema file, as SARIF", broken_schema, || words("check --format sarif")),
    ("a schema file, as commands", broken_schema, || words("check --format github")),
    ("a schema file of a project", broken_schema, || words("gen")),
    ("a key", unknown_key, || words("check")),
    ("a key, as JSON", unknown_key, || words("check --format json")),
    ("a key, as SARIF", unknown_key, || words("check --format sarif")),
    ("a key, as commands", unknown_key, || words("check --format github")),
    ("a stray file", stray, || words("gen")),
    ("a stray file that is compared", stray, || words("gen --check")),
    ("an output folder", stray, || words("gen --check --out FORGED")),
    ("a file in the way", in_the_way, || words("gen --out FORGED")),
    ("a schema that is not there", |_| (), || words("check FORGED")),
    ("a tool of a list", tools, || {
        words("import mcp --toolset t --service a --tools-json list.json")
    }),
    ("a list that is not there", tools, || {
        words("import mcp --toolset t --service a --tools-json FORGED")
    }),
    ("a path of an API", api, || words("import openapi api.json --service a -o a.yaml")),
    ("the file of an import", api, || words("import openapi api.json --service a -o FORGED.yaml")),
    ("a prefix for a list", tools, || {
        words("import mcp --toolset t --service a --tools-json list.json --prefix FORGED")
    }),
    ("a prefix for an API", api, || words("import openapi api.json --service a --prefix FORGED")),
    ("an API as a file", api, || words("import openapi api.json --service a")),
    ("a list in the words of models", tools, || {
        words("dialects schema fine anthropic --tools-json list.json")
    }),
    ("an API that is not there", api, || words("import openapi FORGED --service a")),
    ("a new project", |_| (), || words("init FORGED")),
];

#[test]
fn no_name_and_no_text_begins_a_line() {
    for (what, put, arguments) in CASES {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path());
        let arguments = arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let printed = toolwright(folder.path(), &arguments, LIMITS).printed;
        assert!(printed.contains("pwn"), "{what} is not told at all: {printed}");
        assert!(!printed.contains("##["), "{what}: {printed:?}");
        // A carriage return also begins a line.
        let forged =
            printed.split(['\n', '\r']).find(|line| line.trim_start().starts_with("::error::pwn"));
        assert_eq!(forged, None, "{what}: {printed:?}");
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!printed.contains(steers), "{what}: {printed:?}");
    }
}
