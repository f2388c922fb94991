//! Tests `toolwright import` as scripts use it: exit codes, streams, files. `cases` tests updates of files, `live` running
//! servers.

mod cases;
mod corpus;
#[path = "../../../../codegen/tests/expect/mod.rs"]
mod expect;
#[cfg(feature = "mcp")]
mod live;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const LIST: &str = r#"{"tools": [{
    "name": "get-time",
    "description": "Tells the time.",
    "inputSchema": {"type": "object", "properties": {"zone": {"type": "string", "default": null}}}
}]}"#;

const FILE: &str = "toolwright: 1
service: clock
integers: exact

toolsets:
  clock_tools:
    description: Tools of the MCP server clock_tools.
    mcp:
      server: clock_tools
      listed:
        get-time:
          all: \"1e4273f33fcd46a659a200895a16496c442d4f4271c5cfb1d335d620d7164736\"
          capabilities: \"9b9c2f8624a1012a20ccc8a0b8a7821f5f8ccd63da561db4242315d1028e51f5\"
      written: { get-time: { description: \"526bee59\", args: \"4dc44370c68b\" } }
    tools:
      get_time:
        remote: get-time
        description: Tells the time.
        args:
          type: object
          properties: { zone: { type: string } }
";

/// Runs `import mcp` in a folder, for one toolset of one service.
fn import(folder: &Path, arguments: &[&str]) -> Output {
    toolwright(
        folder,
        &[&["import", "mcp", "--toolset", "clock_tools", "--service", "clock"], arguments].concat(),
    )
}

fn toolwright(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(stream: &[u8]) -> &str {
    std::str::from_utf8(stream).unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("list.json"), LIST).unwrap();
    fs::write(folder.path().join("wrong.json"), "{\n  \"tools\": 1\n}\n").unwrap();
    fs::write(folder.path().join("broken.json"), "{\n  \"tools\"\n}\n").unwrap();
    folder
}

#[test]
fn a_list_becomes_a_file_that_check_accepts() {
    let folder = folder();
    let output = import(folder.path(), &["--tools-json", "list.json", "-o", "clock.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(folder.path().join("clock.yaml")).unwrap(), FILE);
    assert_eq!(text(&output.stdout), "import: 1 tool, 1 warning: clock.yaml\n");
    assert_eq!(
        text(&output.stderr),
        "warning: `default: null` that its own schema refuses was left out: get-time args /properties/zone\n"
    );
    let check = toolwright(folder.path(), &["check", "clock.yaml"]);
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stderr));
}

#[test]
fn without_a_file_only_the_schema_is_on_stdout() {
    let folder = folder();
    let output = import(folder.path(), &["--tools-json", "list.json"]);
    assert_eq!(text(&output.stdout), FILE);
    assert!(text(&output.stderr).ends_with("import: 1 tool, 1 warning\n"));
}

#[test]
fn the_folder_of_a_new_file_is_created() {
    let folder = folder();
    let output =
        import(folder.path(), &["--tools-json", "list.json", "-o", "new/schema/clock.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(folder.path().join("new/schema/clock.yaml").exists());
}

#[test]
fn a_name_of_another_file_in_the_project_is_not_used_again() {
    let folder = folder();
    let schema = folder.path().join("schema");
    fs::create_dir(&schema).unwrap();
    let other = FILE.replace("clock", "watch");
    fs::write(schema.join("watch.yaml"), other).unwrap();
    let arguments = ["--tools-json", "list.json", "-o", "schema/clock.yaml"];
    for config in ["", "[project]\n"] {
        if !config.is_empty() {
            fs::write(folder.path().join("toolwright.toml"), config).unwrap();
            fs::remove_file(schema.join("clock.yaml")).unwrap();
        }
        let output = import(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(
            text(&output.stderr).contains("so this is `get_time_2`"),
            "{}",
            text(&output.stderr)
        );
        let check = toolwright(folder.path(), &["check"]);
        assert_eq!(check.status.code(), Some(0), "{}", text(&check.stderr));
    }
}

/// It is the only error, however many tools there are, and no server is started for it.
#[test]
fn a_toolset_that_another_file_has_is_refused_before_the_list_is_loaded() {
    let folder = folder();
    let schema = folder.path().join("schema");
    fs::create_dir(&schema).unwrap();
    fs::write(schema.join("other.yaml"), FILE.replace("service: clock", "service: other")).unwrap();
    for source in [&["--tools-json", "nowhere.json"][..], &["--", "no-such-program"]] {
        let arguments = [&["-o", "schema/clock.yaml"], source].concat();
        let output = import(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert_eq!(
            text(&output.stderr),
            "import: `check` refuses it: two toolsets are named `clock_tools` (rename one of them); nothing was written\n"
        );
    }
}

/// Texts of a server are shortened and escaped, and an invalid tool does not prevent the import of others.
#[test]
fn an_invalid_tool_is_left_out_and_texts_of_the_server_are_escaped() {
    let folder = folder();
    let list = LIST.replacen(
        "[{",
        &format!(
            r#"[{{"name": "{}", "inputSchema": {{"type": "object"}}}},
               {{"name": "esc\u001b[2J\u202e\nimport: forged", "description": "d", "inputSchema": {{"type": "object", "properties": {{
                   "{}": {{"type": "string", "default": null}} }}}}}}, {{"#,
            "x".repeat(100_000),
            "p".repeat(100_000)
        ),
        1,
    );
    fs::write(folder.path().join("list.json"), list).unwrap();
    let output = import(folder.path(), &["--tools-json", "list.json", "-o", "clock.yaml"]);
    let shown = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("tool 1 was left out: its name has 100000 bytes"), "{shown}");
    assert!(shown.contains("esc\u{fffd}[2J\u{fffd} import: forged"), "{shown}");
    assert!(shown.len() < 10_000, "{}", shown.len());
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    let check = toolwright(folder.path(), &["check", "clock.yaml"]);
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stderr));
}

#[cfg(not(feature = "mcp"))]
#[test]
fn connecting_without_the_feature_names_the_feature() {
    let folder = folder();
    for arguments in [&["--url", "http://127.0.0.1:1/mcp"][..], &["--", "true"]] {
        let output = import(folder.path(), arguments);
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{shown}");
        assert!(shown.contains("`mcp`"), "{shown}");
        assert!(shown.contains("`cargo install toolwright-cli --features mcp`"), "{shown}");
    }
}

#[cfg(feature = "mcp")]
#[test]
fn secrets_of_a_url_are_not_printed() {
    let folder = folder();
    let url = "http://ann:HUSH@127.0.0.1:1/mcp?token=HUSH";
    let output = import(folder.path(), &["--url", url]);
    let shown = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("`http://…@127.0.0.1:1/mcp?token=…`"), "{shown}");
    assert!(!shown.contains("HUSH"), "{shown}");
}

#[test]
fn usage_errors_show_no_secrets() {
    let folder = folder();
    let cases: [(&[&str], &str); 7] = [
        (&["--url", "https:/ann:HUSH@host/mcp"], "'https:/…@host/mcp' for '--url <URL>'"),
        (&["--url", "host/mcp?token=HUSH"], "'host/mcp?token=…' for '--url <URL>'"),
        (&["--tools-json", "x", "http://ann:HUSH@host"], "argument 'http://…@host'"),
        (&["--tools-json", "x", "ann:HUSH@host"], "argument 'ann:…@host'"),
        (&["--url", "http://host", "--header", "X-Key HUSH"], "'…' for '--header <NAME: VALUE>'"),
        (&["--url", "http://host", "--header", "X-Key:", "HUSH"], "argument '…'"),
        (&["--url", "http://host", "--header=X-Key:", "HUSH"], "argument '…'"),
    ];
    for (arguments, expected) in cases {
        let output = import(folder.path(), arguments);
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains(expected), "{shown}");
        assert!(!shown.contains("HUSH"), "{shown}");
    }
}

#[test]
fn usage_errors_begin_no_line_with_an_argument_and_hide_nothing() {
    let folder = folder();
    let forged = "a\n::error::x\u{202e}";
    for arguments in [
        &[forged] as &[&str],
        &["explain", forged],
        &["gen", forged],
        &["gen", "--\n::error::x\u{202e}"],
        &["check", "--format", forged],
        &["init", "--version", forged],
        &["lock", "remote", forged],
        &["import", "mcp", "--toolset", forged],
        &["import", "mcp", "--url", "\n::error::x\u{202e}"],
    ] {
        let output = toolwright(folder.path(), arguments);
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains(r"\n::error::x\u{202e}"), "{shown}");
        assert!(!shown.contains("\n::") && !shown.contains('\u{202e}'), "{shown:?}");
    }
}

#[test]
fn each_kind_of_failure_has_its_exit_code() {
    let folder = folder();
    let cases: [(&[&str], i32, &str); 9] = [
        (&["--tools-json", "wrong.json"], 1, "wrong.json: expected a list under `tools`"),
        (&["--tools-json", "broken.json"], 1, "broken.json: this is not JSON at 3:1: expected `:`"),
        (&["--tools-json", "nowhere.json"], 1, "no file nowhere.json"),
        (&["--tools-json", "."], 3, "cannot read"),
        (&["--tools-json", "list.json", "-o", "list.json/in/a/file.yaml"], 3, "cannot read"),
        (&[], 2, "--tools-json"),
        (&["--tools-json", "list.json", "--url", "http://localhost"], 2, "cannot be used with"),
        (&["--tools-json", "list.json", "--check"], 2, "--out"),
        (&["--url", "localhost"], 2, "expected an http or https URL"),
    ];
    for (arguments, code, message) in cases {
        let output = import(folder.path(), arguments);
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{shown}");
        assert!(shown.contains(message), "{arguments:?}\n{shown}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
    }
    let wrong = ["import", "mcp", "--toolset", "Clock", "--service", "clock", "--tools-json", "x"];
    assert_eq!(toolwright(folder.path(), &wrong).status.code(), Some(2));
}
