//! Tests the `toolwright` command as scripts use it: exit codes, streams, files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Runs the command in a folder.
fn toolwright(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A folder with one valid schema.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("schema")).unwrap();
    fs::write(folder.path().join("schema/greeter.yaml"), include_str!("greeter.yaml")).unwrap();
    folder
}

#[test]
fn each_kind_of_failure_has_its_exit_code() {
    let folder = project();
    fs::write(folder.path().join("wrong.yaml"), "toolwright: 1\nservice: [\n").unwrap();
    fs::write(folder.path().join("taken"), "mine").unwrap();
    let warned = "toolwright: 1\nservice: a\ntypes: { A: { type: string, format: odd } }\n";
    fs::write(folder.path().join("warned.yaml"), warned).unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for (arguments, code) in [
        (&["check"][..], 0),
        (&["check", "schema", "schema/greeter.yaml"], 0),
        (&["check", "wrong.yaml"], 1),
        (&["check", "nowhere"], 1),
        (&["check", "empty"], 1),
        (&["gen", "--schema", "nowhere"], 1),
        (&["gen", "--out", "schema"], 1),
        (&["gen", "--check"], 1),
        (&["nope"], 2),
        (&["check", "--format", "xml"], 2),
        (&["gen", "--out", "taken"], 3),
        (&["init", "schema"], 3),
        (&["init", "new", "--toolwright", "empty"], 3),
        (&["schema"], 0),
        (&["check", "warned.yaml"], 0),
        (&["check", "warned.yaml", "--deny", "warnings"], 1),
        (&["check", "--deny", "warnings"], 0),
        (&["check", "--deny", "errors"], 2),
        (&["explain"], 0),
        (&["explain", "duplicate-tool"], 0),
        (&["explain", "duplicate-tols"], 2),
    ] {
        let output = toolwright(folder.path(), arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}\n{}{}",
            out(&output),
            err(&output)
        );
    }
    assert!(!folder.path().join("gen").exists() && !folder.path().join("new").exists());
}

/// A full disk is a failure. A pipe that its reader has closed is not.
#[cfg(target_os = "linux")]
#[test]
fn a_command_that_cannot_write_its_output_exits_with_3() {
    let folder = project();
    for arguments in [
        &["schema"][..],
        &["check"],
        &["check", "--format", "sarif"],
        &["gen"],
        &["explain"],
        &["dialects", "list"],
        &["dialects", "project"],
        &["--help"],
        &["--version"],
    ] {
        let run = |stdout: Stdio| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
            let command = command.args(arguments).current_dir(folder.path());
            fs::write(folder.path().join("lines"), "{}\n").unwrap();
            let lines = fs::File::open(folder.path().join("lines")).unwrap();
            command.stdin(lines).stdout(stdout).stderr(Stdio::piped()).output().unwrap()
        };
        let full = run(fs::OpenOptions::new().write(true).open("/dev/full").unwrap().into());
        assert_eq!(full.status.code(), Some(3), "{arguments:?}: {}", err(&full));
        let expected = "error: cannot write to standard output: No space left on device";
        assert!(err(&full).contains(expected), "{arguments:?}: {}", err(&full));
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let closed = run(writer.into());
        assert_eq!(closed.status.code(), Some(0), "{arguments:?}: {}", err(&closed));
        assert!(!err(&closed).contains("error"), "{arguments:?}: {}", err(&closed));
    }
}

#[test]
fn reports_for_people_are_on_stderr_and_for_programs_on_stdout() {
    let folder = project();
    fs::write(folder.path().join("wrong.yaml"), "toolwright: 1\nservice: [\n").unwrap();
    for (format, start) in
        [("json", "{\"code\":"), ("github", "::error file=wrong.yaml,line="), ("sarif", "{\n")]
    {
        let output = toolwright(folder.path(), &["check", "wrong.yaml", "--format", format]);
        assert!(out(&output).starts_with(start), "{format}: {}", out(&output));
    }
    let output = toolwright(folder.path(), &["check", "wrong.yaml"]);
    assert_eq!(out(&output), "");
    assert!(err(&output).contains("--> wrong.yaml:"), "{}", err(&output));
    assert!(err(&output).ends_with("check: 1 error\n"), "{}", err(&output));
}

#[test]
fn reports_name_files_relative_to_the_current_folder() {
    let folder = project();
    let here = folder.path().canonicalize().unwrap();
    fs::write(here.join("wrong.yaml"), "toolwright: 1\nservice: [\n").unwrap();
    let whole = here.join("wrong.yaml");
    let whole = whole.to_str().unwrap();
    for (format, expected) in [
        ("json", "\"file\":\"wrong.yaml\""),
        ("github", "file=wrong.yaml,"),
        ("sarif", "\"uri\": \"wrong.yaml\""),
    ] {
        let output = toolwright(&here, &["check", whole, "--format", format]);
        assert!(out(&output).contains(expected), "{format}: {}", out(&output));
    }
}

#[test]
fn every_code_is_listed_and_explained() {
    let folder = project();
    let list = out(&toolwright(folder.path(), &["explain"]));
    let codes = list.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let codes: Vec<&str> = codes.collect();
    assert!(codes.len() > 80 && codes.contains(&"duplicate-tool"), "{list}");
    // The list of codes ends with the rules of `diff`.
    for (code, begin) in [
        (codes[0], " (error)\n\n"),
        ("duplicate-tool", " (error)\n\n"),
        (codes[codes.len() - 1], ": "),
    ] {
        let text = out(&toolwright(folder.path(), &["explain", code]));
        assert!(text.starts_with(&format!("{code}{begin}")), "{text}");
    }
    let language = out(&toolwright(folder.path(), &["explain", "language"]));
    assert!(language.contains("\n## Toolset\n"), "{language}");
    let slip = err(&toolwright(folder.path(), &["explain", "duplicate-tols"]));
    assert!(slip.contains("did you mean `duplicate-tool`?"), "{slip}");
}

#[test]
fn a_crate_that_nothing_depends_on_yet_is_named() {
    let folder = project();
    let first = out(&toolwright(folder.path(), &["gen"]));
    assert!(!first.contains("new crate"), "{first}");
    let second = "toolwright: 1\nservice: clock\nmethods: { now: { result: { type: string }, tool: { description: Tells the time. } } }\n";
    fs::write(folder.path().join("schema/clock.yaml"), second).unwrap();
    let second = out(&toolwright(folder.path(), &["gen"]));
    for new in ["gen/clock/service", "gen/clock/tools/clock"] {
        let line = format!("new crate in {new}; to use it, add a dependency on this path\n");
        assert!(second.contains(&line), "{second}");
    }
}

#[test]
fn a_second_run_changes_nothing_and_drift_is_listed() {
    let folder = project();
    let first = toolwright(folder.path(), &["gen"]);
    assert!(out(&first).starts_with("gen: 2 crates, "), "{}{}", out(&first), err(&first));
    assert!(out(&toolwright(folder.path(), &["gen"])).contains(": 0 written, "));
    assert_eq!(toolwright(folder.path(), &["gen", "--check"]).status.code(), Some(0));

    let manifest = folder.path().join("gen/greeter/service/Cargo.toml");
    fs::write(&manifest, fs::read_to_string(&manifest).unwrap() + "#").unwrap();
    fs::remove_file(folder.path().join("gen/greeter/service/src/lib.rs")).unwrap();
    fs::write(folder.path().join("gen/stray.txt"), "mine").unwrap();
    let drifted = toolwright(folder.path(), &["gen", "--check"]);
    let lines = out(&drifted);
    let expected = [
        "missing gen/greeter/service/src/lib.rs",
        "stale gen/greeter/service/Cargo.toml",
        "orphaned gen/stray.txt",
    ];
    assert_eq!(lines.lines().take(3).collect::<Vec<_>>(), expected);
    assert!(lines.contains("\nrun `toolwright gen` to bring gen up to date; "), "{lines}");
    assert_eq!(drifted.status.code(), Some(1));

    let mended = out(&toolwright(folder.path(), &["gen"]));
    assert!(
        mended.ends_with("\nkept gen/stray.txt, which was not generated; move or remove it\n"),
        "{mended}"
    );
}

#[test]
fn the_configuration_is_found_in_a_parent_folder_and_flags_override_it() {
    let folder = project();
    fs::rename(folder.path().join("schema"), folder.path().join("tools")).unwrap();
    fs::write(
        folder.path().join("toolwright.toml"),
        "[project]\nschema = \"tools\"\nout = \"made\"\n",
    )
    .unwrap();
    let below = folder.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    assert_eq!(toolwright(&below, &["gen"]).status.code(), Some(0));
    assert!(folder.path().join("made/greeter/service/Cargo.toml").exists());
    assert_eq!(toolwright(&below, &["gen", "--out", "here"]).status.code(), Some(0));
    assert!(below.join("here/greeter/service/Cargo.toml").exists());
    assert_eq!(toolwright(&below, &["gen", "--schema", "tools"]).status.code(), Some(1));
}

#[test]
fn an_invalid_configuration_is_reported_at_its_position() {
    let folder = project();
    fs::write(folder.path().join("toolwright.toml"), "[project]\nshema = \"s\"\n").unwrap();
    let output = toolwright(folder.path(), &["gen"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("--> toolwright.toml:2:1"), "{}", err(&output));
}

/// Collects all files below a folder, with their texts.
fn snapshot(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            snapshot(&entry.path(), found);
        } else {
            found.insert(entry.path(), fs::read_to_string(entry.path()).unwrap());
        }
    }
}

#[test]
fn a_killed_run_leaves_the_old_tree_or_the_new_one() {
    let folder = project();
    let generated = folder.path().join("gen");
    let whole = ["plain", "renamed"].map(|variant| {
        write_variant(folder.path(), variant);
        assert_eq!(toolwright(folder.path(), &["gen"]).status.code(), Some(0));
        let mut tree = BTreeMap::new();
        snapshot(&generated, &mut tree);
        tree
    });
    assert_ne!(whole[0], whole[1]);
    for attempt in 0..40 {
        write_variant(folder.path(), ["plain", "renamed"][attempt % 2]);
        let mut run = Command::new(env!("CARGO_BIN_EXE_toolwright"));
        let mut run =
            run.arg("gen").current_dir(folder.path()).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(attempt as u64 * 250));
        run.kill().unwrap();
        run.wait().unwrap();
        let mut tree = BTreeMap::new();
        snapshot(&generated, &mut tree);
        assert!(whole.contains(&tree), "attempt {attempt}: {:?}", tree.keys());
    }
    assert_eq!(toolwright(folder.path(), &["gen"]).status.code(), Some(0));
    let beside = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = beside.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert_eq!(left, [".toolwright"]);
}

/// Writes the schema so that every generated file differs between variants.
fn write_variant(folder: &Path, variant: &str) {
    let text = include_str!("greeter.yaml").replace("greet", &format!("{variant}_greet"));
    fs::write(folder.join("schema/greeter.yaml"), text).unwrap();
}

#[test]
fn the_language_schema_is_json() {
    let folder = tempfile::tempdir().unwrap();
    assert!(out(&toolwright(folder.path(), &["schema"])).starts_with("{\n"));
}

#[test]
fn dialects_report_on_the_tools_of_the_project_or_of_a_saved_list() {
    let folder = project();
    let report =
        toolwright(folder.path(), &["dialects", "report", "--dialect", "openai-chat-strict"]);
    assert_eq!(report.status.code(), Some(0), "{}", err(&report));
    let lines: Vec<String> = out(&report).lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("dialect "), "{lines:?}");
    assert!(lines[1].starts_with("openai-chat-strict@"), "{lines:?}");

    let listed = r#"{"tools":[{"name":"a.b","inputSchema":{"type":"object","properties":{"n":{"type":"string","maxLength":3}}}}]}"#;
    fs::write(folder.path().join("listed.json"), listed).unwrap();
    let why = ["dialects", "why", "a.b", "openai-chat-strict", "--tools-json", "listed.json"];
    let why = toolwright(folder.path(), &why);
    assert!(out(&why).contains("At most 3 characters."), "{}", out(&why));
    assert!(out(&why).contains("unnamed_keys"), "{}", out(&why));
    let schema = ["dialects", "schema", "a.b", "openai-chat-strict", "--tools-json", "listed.json"];
    let schema = toolwright(folder.path(), &schema);
    let wire: serde_json::Value = serde_json::from_str(&out(&schema)).unwrap();
    assert_eq!(wire["properties"]["n"]["type"], serde_json::json!(["string", "null"]));
    assert_eq!(wire["additionalProperties"], false);
}

#[test]
fn dialects_are_compared_and_tokens_estimated() {
    let folder = project();
    let run = |arguments: &[&str]| {
        let output = toolwright(folder.path(), &[&["dialects"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", err(&output));
        out(&output)
    };
    let differences = run(&["diff", "openai-chat", "openai-chat-strict"]);
    assert!(differences.contains("objects_closed"), "{differences}");
    assert!(differences.contains("greet"), "{differences}");
    let same = run(&["diff", "anthropic", "anthropic"]);
    assert!(same.ends_with(" have the same rules\n\nnone of 1 tool changes\n"), "{same}");
    let changed = run(&["diff", "bedrock-strict@2026-09", "bedrock-strict"]);
    assert!(changed.contains("pattern_lookaround"), "{changed}");
    assert!(changed.contains("[]                      [\"contains\"]"), "{changed}");
    let shown = run(&["show", "bedrock-strict"]);
    assert!(shown.contains("\n  objects_closed = true\n"), "{shown}");
    assert!(!shown.contains("\\n"), "{shown}");

    let tokens = run(&["tokens", "--dialect", "anthropic"]);
    assert!(tokens.contains("(each request)"), "{tokens}");
    let agent = "\nagents:\n  host: { toolsets: [greetings] }\n";
    let with_agent = format!("{}{agent}", include_str!("greeter.yaml"));
    fs::write(folder.path().join("schema/greeter.yaml"), with_agent).unwrap();
    let tokens = run(&["tokens", "--dialect", "anthropic"]);
    assert!(tokens.contains("(agent host)"), "{tokens}");
    let report = run(&["report", "--dialect", "anthropic", "--format", "json"]);
    let line: serde_json::Value = serde_json::from_str(report.trim()).unwrap();
    let [low, estimate, high] = ["low", "estimate", "high"].map(|key| line["tokens"][key].as_u64());
    assert!(low.is_some() && low <= estimate && estimate <= high, "{line}");
    let sarif = run(&["report", "--dialect", "anthropic", "--format", "sarif"]);
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
}

#[test]
fn reports_of_twenty_runs_are_equal() {
    let folder = project();
    let report = || toolwright(folder.path(), &["dialects", "report", "--format", "json"]).stdout;
    let first = report();
    assert!((1..20).all(|_| report() == first));
}

#[test]
fn targets_of_the_project_are_checked_and_reported_on() {
    let folder = project();
    let config = "[dialects]\ntargets = [\"anthropic-strict\"]\npolicy = { widened = \"deny\", unnamed_keys = \"deny\" }\n";
    fs::write(folder.path().join("toolwright.toml"), config).unwrap();
    let report = out(&toolwright(folder.path(), &["dialects", "report"]));
    assert_eq!(report.lines().count(), 3, "{report}");
    let open = include_str!("greeter.yaml").replace("additionalProperties: false", "");
    fs::write(folder.path().join("schema/greeter.yaml"), open).unwrap();
    let check = toolwright(folder.path(), &["check", "--format", "github"]);
    assert_eq!(check.status.code(), Some(1), "{}", err(&check));
    assert!(out(&check).contains("TWD10"), "{}", out(&check));
    for arguments in [&["gen"][..], &["gen", "--check"]] {
        let output = toolwright(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1), "{}", out(&output));
        assert!(err(&output).contains("TWD10"), "{}", err(&output));
        assert!(!folder.path().join("gen").exists(), "{arguments:?}");
    }
}

#[test]
fn an_unknown_dialect_or_tool_is_answered_with_the_nearest() {
    let folder = project();
    let dialect = toolwright(folder.path(), &["dialects", "show", "openai-chat-strct"]);
    assert_eq!(dialect.status.code(), Some(2));
    assert!(err(&dialect).contains("did you mean `openai-chat-strict`?"), "{}", err(&dialect));
    let dated = toolwright(folder.path(), &["dialects", "show", "openai-chat@2020-01"]);
    assert!(err(&dated).contains("; there is `openai-chat@"), "{}", err(&dated));
    let result = toolwright(folder.path(), &["dialects", "why", "greet", "gemini", "--result"]);
    assert_eq!(result.status.code(), Some(2));
    assert!(err(&result).contains("no agent implements it"), "{}", err(&result));
    let tool = toolwright(folder.path(), &["dialects", "why", "greett", "anthropic"]);
    assert_eq!(tool.status.code(), Some(2));
    assert!(err(&tool).contains("there is no tool `greett`"), "{}", err(&tool));
}

#[test]
fn names_of_a_saved_list_are_shown_on_one_visible_line() {
    let folder = tempfile::tempdir().unwrap();
    let list =
        r#"{"tools":[{"name":"t\n::error::x\u202e\u001b[2J","inputSchema":{"type":"object"}}]}"#;
    fs::write(folder.path().join("listed.json"), list).unwrap();
    let list = ["--tools-json", "listed.json"];
    for command in ["why", "schema"] {
        let command = ["dialects", command, "a", "anthropic"];
        let said = toolwright(folder.path(), &[&command[..], &list].concat());
        let said = format!("{}{}", out(&said), err(&said));
        assert!(said.contains("::error::x"), "{said}");
        assert!(!said.contains("\n::error") && !said.contains(['\u{202e}', '\u{1b}']), "{said}");
    }
}

#[test]
fn projections_and_values_are_answered_line_by_line() {
    use std::io::Write as _;

    let folder = project();
    let run = |command: &str, input: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolwright"))
            .args(["dialects", command])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let lines = out(&output);
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect::<Vec<serde_json::Value>>()
    };
    let tool = r#""dialect":"openai-chat-strict","tool":"t","schema":{"type":"object","additionalProperties":false,"properties":{"n":{"type":"integer","minimum":1}}}"#;
    let projected = run("project", &format!("{{{tool}}}\nnot JSON\n{{\"tool\":\"t\"}}\n"));
    assert_eq!(projected[0]["class"], "lossless");
    assert_eq!(projected[0]["schema_projected"]["required"], serde_json::json!(["n"]));
    assert!(projected[1]["error"].is_string());
    let list = run("project", "[1]\n");
    assert_eq!(list[0]["error"], "the line is not an object");
    let long = format!("\"{}\"\n[1]\n", "x".repeat(40 << 20));
    let found = run("codec", &long);
    assert_eq!(found.len(), 2, "one answer for each line");
    assert_eq!(found[0]["error"], "the line is longer than 16777216 bytes");
    assert_eq!(found[1]["error"], "the line is not an object");
    assert_eq!(projected[2]["error"], "the line lacks the string `dialect`");

    let values = run(
        "codec",
        &format!(
            "{{{tool},\"op\":\"encode\",\"value\":{{}}}}\n{{{tool},\"op\":\"decode\",\"value\":{{\"n\":null}}}}\n\
             {{{tool},\"op\":\"decode\",\"value\":{{\"n\":0}}}}\n"
        ),
    );
    assert_eq!(values[0]["value"], serde_json::json!({ "n": null }));
    assert_eq!(values[1]["value"], serde_json::json!({}));
    assert_eq!(values[2]["error"], "`/n`: found 0, expected at least 1");
}
