//! The owners of toolsets, and exporting them (G1 to G8, G14, G23, G24).

use crate::project::{below, differing, generated, paths, refusals};

/// Returns the folder of every toolset's crate, which shows the owner.
fn owners(text: &str) -> Vec<String> {
    let files = generated(text);
    let manifests = files.iter().filter_map(|(path, _)| path.strip_suffix("/Cargo.toml"));
    manifests.filter(|path| path.contains("/tools/")).map(str::to_owned).collect()
}

const PROVIDER: &str = "### notes.yaml
service: notes
types: { Note: { type: object, required: [text], properties: { text: { type: string } } } }
methods: { put: { payload: Note, result: Note } }
toolsets: { notes: { tools: { put_note: { description: Put., bind: put } } } }
";

#[test]
fn g1_g2_a_service_without_agents_generates_everything() {
    let files = generated(PROVIDER);
    let service = ["codecs", "lib", "service", "types"];
    assert_eq!(
        paths(&files, "notes/service/src/"),
        service.map(|module| format!("{module}.rs")).to_vec()
    );
    let tools = ["calls", "codecs", "executor", "lib", "specs", "types"];
    assert_eq!(
        paths(&files, "notes/tools/notes/src/"),
        tools.map(|module| format!("{module}.rs")).to_vec()
    );
}

#[test]
fn g4_the_description_of_a_toolset_is_escaped_in_specs_docs_and_readme() {
    let words = "Notes \"by\" */ hand.\n\n- and <b>kept</b>";
    let toolset = format!("toolsets: {{ notes: {{ description: {words:?},");
    let files = generated(&PROVIDER.replace("toolsets: { notes: {", &toolset));
    let text = |path: &str| files.get(&format!("notes/tools/notes/{path}")).unwrap().to_owned();
    let escaped = "\\- and \\<b\\>kept\\</b\\>";
    let docs = format!("notes toolset.\n//!\n//! Notes \"by\" \\*/ hand.\n//!\n//! {escaped}\n\n");
    assert!(text("src/lib.rs").contains(&docs), "{}", text("src/lib.rs"));
    let paragraphs = format!("\n\nNotes \"by\" \\*/ hand.\n\n{escaped}\n\n");
    assert!(text("README.md").contains(&paragraphs), "{}", text("README.md"));
    let literal = format!("description: {words:?},");
    assert!(text("src/specs.rs").contains(&literal), "{}", text("src/specs.rs"));
}

/// The owner is the declared service, or else that of the methods that tools call, or of the agent that exports the toolset.
#[test]
fn g1_g4_g5_the_owner_is_declared_or_inferred() {
    let a_and_b = "### a.yaml\nservice: a\nmethods: { get: {}, only_a: {} }\n\
                   ### b.yaml\nservice: b\nmethods: { get: {} }\n";
    let table = [
        (
            "declared",
            "service: b\ntoolsets: { t: { tools: { x: { description: X. } } } }",
            "b/tools/t",
        ),
        (
            "bound",
            "toolsets: { t: { tools: { x: { description: X., bind: only_a } } } }",
            "a/tools/t",
        ),
        (
            "bound by path",
            "toolsets: { t: { tools: { x: { description: X., bind: b.get } } } }",
            "b/tools/t",
        ),
        (
            "partly bound",
            "toolsets: { t: { tools: { w: { description: W. }, x: { description: X., bind: a.get } } } }",
            "a/tools/t",
        ),
        (
            "exported",
            "toolsets: { t: { tools: { x: { description: X. } } } }\n\
             ### d.yaml\nservice: b\nagents: { agent: { exports: [t] } }",
            "b/tools/t",
        ),
    ];
    for (case, yaml, owner) in table {
        assert_eq!(owners(&format!("{a_and_b}### c.yaml\n{yaml}\n")), [owner], "{case}");
    }
}

#[test]
fn g5_an_ambiguous_or_missing_owner_is_an_error_that_names_the_candidates() {
    let a_and_b = "### a.yaml\nservice: a\nmethods: { get: {} }\nagents: { one: { exports: [shared] } }\n\
                   ### b.yaml\nservice: b\nmethods: { get: {} }\nagents: { two: { exports: [shared] } }\n";
    let table = [
        (
            "toolsets: { t: { tools: { x: { description: X., bind: a.get }, y: { description: Y., bind: b.get } } }, \
             shared: { tools: { z: { description: Z., bind: a.get } } } }",
            "ambiguous-owner: the toolset `t` may belong to `a` or `b` @ c.yaml:t, c.yaml:a.get, c.yaml:b.get",
        ),
        (
            "toolsets: { shared: { tools: { x: { description: X. } } } }",
            "ambiguous-owner: the toolset `shared` may belong to `a` or `b` @ c.yaml:shared, a.yaml:shared, \
             b.yaml:shared",
        ),
        (
            "toolsets: { t: { tools: { x: { description: X. } } } }",
            "no-owner: the toolset `t` has no owner: nothing names its service @ c.yaml:t",
        ),
    ];
    for (yaml, expected) in table {
        let found = refusals(&format!("{a_and_b}### c.yaml\n{yaml}\n"));
        assert!(found.iter().any(|found| found == expected), "{expected}\nin {found:#?}");
    }
}

/// Agents and servers that use a toolset do not become its owner.
#[test]
fn g5_a_consumer_is_not_a_candidate() {
    let text = "### a.yaml\nservice: a\nagents: { user: { toolsets: [t] } }\nmcp_servers: { s: { version: '1', toolsets: [t] } }\n\
                ### t.yaml\ntoolsets: { t: { tools: { x: { description: X. } } } }\n";
    let found = refusals(text);
    assert!(found.iter().any(|found| found.starts_with("no-owner")), "{found:#?}");
}

/// If an agent of another service implements a toolset, the spec names the owner and the agent.
#[test]
fn g6_g8_implementing_a_toolset_does_not_change_its_owner() {
    let text = "### a.yaml\nservice: a\ntoolsets: { t: { tools: { x: { description: X. } } } }\n\
                ### b.yaml\nservice: b\nagents: { helper: { exports: [t] } }\n";
    let files = generated(text);
    let specs = files.get("a/tools/t/src/specs.rs").expect("the toolset stays with its owner");
    let identity = [
        "ToolSpec::of::<X>(\"x\")",
        r#"toolwright::toolset!("t" {"#,
        r#"service: "a","#,
        ".in_toolset(&TOOLSET)",
        r#".with_agent("b", "helper")"#,
    ];
    for line in identity {
        assert!(specs.contains(line), "{line}: {specs}");
    }
    assert_eq!(paths(&files, "b/tools/"), Vec::<&str>::new());
}

/// The two crates differ only in the implementation.
#[test]
fn g7_g8_export_means_the_same_for_a_service_and_an_agent() {
    let toolset = "### a.yaml\nservice: a\ntoolsets: { t: { tools: { x: { description: X., args: { type: object } } } } }\n";
    let by_service = generated(toolset);
    let by_agent = generated(&format!("{toolset}agents: {{ helper: {{ exports: [t] }} }}\n"));
    let (by_service, by_agent) = (below(&by_service, "a/tools/t/"), below(&by_agent, "a/tools/t/"));
    assert_eq!(by_service.keys().collect::<Vec<_>>(), by_agent.keys().collect::<Vec<_>>());
    for (path, text) in &by_service {
        let differing = differing(text, by_agent[path]);
        let expected: &[&str] = match *path {
            "src/specs.rs" => &[r#".with_agent("a", "helper")"#],
            _ => &[],
        };
        assert_eq!(differing, expected, "{path}");
    }
}

/// The implementation of a tool, a method, an agent, an MCP server or a custom executor, changes only its spec and the module
/// `executor`, which always has an executor for MCP.
#[test]
fn g3_g8_g14_g23_crates_have_the_same_modules_for_every_implementation() {
    let table = [
        ("bind: get", "", "", ".with_method(", &["TExecutor<S: AService>", "TMcpExecutor("][..]),
        ("", "agents: { helper: { exports: [t] } }", "", ".with_agent(", &["TMcpExecutor("]),
        (
            "remote: x-y",
            "",
            "mcp: { server: far }, ",
            ".with_mcp_server(",
            &["TExecutor(specs::REMOTE)"],
        ),
        ("", "", "", ".with_description(", &["TMcpExecutor("]),
    ];
    for (tool, consumer, backing, kind, executors) in table {
        let tool = if tool.is_empty() { String::new() } else { format!(", {tool}") };
        let text = format!(
            "### a.yaml\nservice: a\nmethods: {{ get: {{ result: {{ type: string }} }} }}\n{consumer}\n\
             toolsets: {{ t: {{ {backing}tools: {{ x: {{ description: X., args: {{ type: object, additionalProperties: false }}, \
             result: {{ type: string }}{tool} }} }} }} }}\n",
        );
        let files = generated(&text);
        let specs = files.get("a/tools/t/src/specs.rs").expect("generated");
        assert!(specs.contains(kind), "{kind}: {specs}");
        let mut modules = paths(&files, "a/tools/t/src/");
        modules.retain(|module| !matches!(*module, "transforms.rs" | "codecs.rs"));
        let expected = ["calls.rs", "executor.rs", "lib.rs", "specs.rs", "types.rs"];
        assert_eq!(modules, expected, "{kind}");
        let executor = files.get("a/tools/t/src/executor.rs").expect("generated");
        let structs: Vec<&str> =
            executor.lines().filter_map(|line| line.trim().strip_prefix("pub struct ")).collect();
        assert_eq!(structs.len(), executors.len(), "{kind}: {executor}");
        for (found, expected) in structs.iter().zip(executors) {
            assert!(found.starts_with(expected), "{kind}: {executor}");
        }
    }
}

/// Registering or exposing the toolset of an MCP server takes a connection to the server instead of an executor.
#[test]
fn g23_g24_a_remote_toolset_takes_a_connection_to_its_server() {
    let files = generated(
        "### a.yaml\nservice: a\nmcp_servers: { front: { version: 1.0.0, toolsets: [t] } }\n\
         toolsets: { t: { mcp: { server: far, listed: { x-y: { all: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef, capabilities: fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210 } } }, tools: { x: { description: X., remote: x-y } } } }\n",
    );
    let text = |path: &str| files.get(path).unwrap_or_else(|| panic!("{path} is generated"));
    let server = text("a/mcp/front/src/lib.rs");
    assert!(server.contains("t_remote: impl toolwright::Remote + 'static"), "{server}");
    assert!(!server.contains("Executor"), "{server}");
    let toolset = text("a/tools/t/src/lib.rs");
    assert!(toolset.contains("remote: impl toolwright::Remote + 'static"), "{toolset}");
    let specs = text("a/tools/t/src/specs.rs");
    for part in ["name: \"x-y\"", "all: \"0123456789abcdef", "capabilities: \"fedcba9876543210"] {
        assert!(specs.contains(part), "{part} in {specs}");
    }
}
