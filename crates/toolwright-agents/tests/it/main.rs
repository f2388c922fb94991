//! Tests of agents from files, and of the mistakes that are reported.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect_file;
use toolwright::untrusted::hidden;
use toolwright::{Payload, ToolCall, ToolSpec};
use toolwright_agents::{AgentFilesError, AgentsFrom};
use toolwright_runtime::{
    Agent, FunctionTool, Planner, Policy, Registry, RunRequest, Runtime, Script, Step,
};

fn tool(name: &'static str) -> FunctionTool {
    FunctionTool::new(ToolSpec::new(name), async || true)
}

/// A registry with the tools `close_issue` and `wipe`, two toolsets that both have `today`, and the agent `taken`.
fn registry() -> Registry {
    let registry = Registry::new();
    registry.register_tool(tool("close_issue")).unwrap();
    registry.register_tool(tool("wipe")).unwrap();
    registry.register_toolset("calendar", tool("today")).unwrap();
    registry.register_toolset("almanac", tool("today")).unwrap();
    registry.register_agent(Agent::new("taken", "lab"), done(&Agent::new("", ""))).unwrap();
    registry
}

/// A planner that finishes immediately.
fn done(_: &Agent) -> Arc<dyn Planner> {
    Script::new().finish(Payload::new("true")).into()
}

fn call(tool: &str) -> ToolCall {
    ToolCall::new(tool, Payload::new("{}"))
}

/// R2: a file can set every field of an agent, in YAML and in TOML.
#[test]
fn r2_a_file_describes_a_whole_agent() {
    let registry = registry();
    let names = registry.agents_from("tests/cases/ok", done).unwrap();
    assert_eq!(names, ["idle", "issue_triager", "issue_watcher"]);
    let agents = registry.agents();
    for name in ["issue_triager", "issue_watcher"] {
        let agent = agents.iter().find(|agent| agent.name == name).unwrap();
        assert_eq!(agent.service, "issues");
        assert_eq!(agent.description, "Closes what nobody has touched.");
        let instructions =
            "Close issues that are older than a year.\nAsk where you are not sure.\n";
        assert_eq!(agent.instructions, instructions);
        assert_eq!(
            (agent.tools.as_slice(), agent.toolsets.as_slice()),
            (&["close_issue".to_owned()][..], &["calendar".to_owned()][..])
        );
        assert_eq!(agent.approval_list, ["close_issue"]);
        let hints = toolwright::Value::Object(agent.model.clone());
        let expected: toolwright::Value =
            r#"{"family":"small","effort":"low","temperature":0.2,"stop":["end"]}"#.parse().unwrap();
        assert_eq!(hints, expected);
        let policy = Policy {
            max_tool_calls: Some(20),
            max_consecutive_failures: Some(3),
            time_budget: Some(Duration::from_mins(2)),
            max_cost: Some(250_000),
            ..Policy::UNLIMITED
        };
        assert_eq!(agent.policy, policy);
    }
    let idle = agents.iter().find(|agent| agent.name == "idle").unwrap();
    assert!(idle.tools.is_empty() && idle.toolsets.is_empty() && idle.model.is_empty());
    assert_eq!(idle.policy, Policy::UNLIMITED);
}

/// R2: an agent can only use the tools and toolsets that its file lists, its planner gets the hints, and calls of tools
/// in `approvals` wait for an approval.
#[tokio::test]
async fn r2_an_agent_of_a_file_uses_what_the_file_lists() {
    let registry = registry();
    let planner = |agent: &Agent| -> Arc<dyn Planner> {
        assert!(agent.name != "issue_triager" || agent.model.contains_key("family"));
        let first = |turn: &toolwright_runtime::Turn<'_>| {
            let tools: Vec<_> = turn.tools().map(|tool| tool.name().to_owned()).collect();
            assert_eq!(tools, ["today", "close_issue"]);
            assert_eq!(turn.agent().model.get("effort"), Some(&toolwright::Value::from("low")));
            assert!(turn.instructions().starts_with("Close issues"));
            Ok(Step::call([call("today"), call("wipe"), call("close_issue")]))
        };
        Script::new().then(first).finish(Payload::new("true")).into()
    };
    registry.agents_from("tests/cases/ok/triager.yaml", planner).unwrap();
    let runtime = Runtime::new(registry);
    let outcome = runtime.run(RunRequest::new("issue_triager", Payload::new("{}"))).await.unwrap();
    let run = outcome.suspended().expect("`close_issue` waits");
    let questions: Vec<_> = run.pending().iter().map(|asked| asked.tool.clone()).collect();
    assert_eq!(questions, ["close_issue"]);
    let answers = [run.pending()[0].approve()];
    let request = toolwright_runtime::ResumeRequest::new(run, answers);
    let outcome = runtime.resume(request).await.unwrap();
    let kinds: Vec<_> = outcome
        .calls()
        .map(|done| done.result.outcome.as_ref().map_err(|failure| failure.kind.as_str()))
        .map(|outcome| outcome.map(Payload::as_str))
        .collect();
    assert_eq!(kinds, [Ok("true"), Err("not_found"), Ok("true")]);
}

/// R2: mistakes are reported with their positions, in both formats.
#[test]
fn r2_mistakes_are_located_errors() {
    let mut cases: Vec<_> =
        fs::read_dir("tests/cases/fail").unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|ending| ending != "expect"));
    cases.sort();
    assert!(cases.len() > 20, "{cases:?}");
    for path in cases {
        let error = registry().agents_from(&path, done).unwrap_err();
        for mistake in error.mistakes() {
            assert_eq!(mistake.path(), path);
            let (line, column) = mistake.line_column().unwrap_or_else(|| panic!("{mistake}"));
            let place = format!("{}:{line}:{column}\n", path.display());
            assert!(format!("{mistake}\n").contains(&place), "{mistake}");
        }
        let expected = format!("{}.expect", fs::canonicalize(&path).unwrap().display());
        expect_file![expected].assert_eq(&format!("{error}\n"));
    }
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn messages(error: &AgentFilesError) -> Vec<String> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    error
        .mistakes()
        .iter()
        .map(|mistake| format!("{}: {}", name(mistake.path()), mistake.message()))
        .collect()
}

#[test]
fn a_long_line_with_many_mistakes_is_not_displayed() {
    let tools: Vec<_> = (0..100).map(|number| format!("t{number}")).collect();
    let text = format!("instructions: x\ntools: [{}] # {}", tools.join(","), "\t".repeat(10_000));
    let files = folder(&[("a.yaml", text.as_str())]);
    let error = Registry::new().agents_from(files.path(), done).unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains("a.yaml:2:9") && shown.len() < 20_000, "{}: {shown}", shown.len());
}

/// R2: the mistakes of all files are reported together, and then no agent is registered.
#[test]
fn r2_no_agent_of_a_folder_is_registered_if_a_file_has_a_mistake() {
    let files = folder(&[
        ("a.yaml", "tools: [close_issue]"),
        ("b.toml", "tools = [\"close\"]"),
        ("c.yml", "tool: []"),
        ("d.yaml", "name: a"),
    ]);
    fs::write(files.path().join("e.yaml"), [0xff, 0xfe, 0xff]).unwrap();
    let registry = registry();
    let error = registry.agents_from(files.path(), done).unwrap_err();
    let found = messages(&error);
    assert_eq!(found.len(), 4, "{found:?}");
    for (start, found) in [
        "b.toml: agent `b` lists tool `close`, which is unknown",
        "c.yml: unknown key `tool`",
        "d.yaml: agent `a` is also described in",
        "e.yaml: found a byte that is not UTF-8 at offset 0, expected a text",
    ]
    .iter()
    .zip(&found)
    {
        assert!(found.starts_with(start), "{found} instead of {start}");
    }
    assert_eq!(registry.agents().len(), 1, "`taken` alone");
    for name in ["b.toml", "c.yml", "d.yaml", "e.yaml"] {
        fs::remove_file(files.path().join(name)).unwrap();
    }
    assert_eq!(registry.agents_from(files.path(), done).unwrap(), ["a"]);
}

#[test]
fn r2_hidden_files_of_a_folder_are_no_agents() {
    let files = folder(&[
        ("a.yaml", "tools: [close_issue]"),
        ("..yaml", ""),
        (".yaml", ""),
        (".#b.yaml", "tool: []"),
    ]);
    assert_eq!(registry().agents_from(files.path(), done).unwrap(), ["a"]);
}

/// R2: file names and texts cannot put control characters or line breaks into reports.
#[test]
fn r2_reports_have_no_hidden_characters_of_files() {
    let name = "a\u{1b}[2J\nerror: b\u{202e}.yaml";
    let files = folder(&[(name, "tool: []"), ("c.yaml", "name: \u{202e}d\ntool\u{200b}: []")]);
    let twice = folder(&[(name, "name: e"), ("f.yaml", "name: e")]);
    for files in [files, twice] {
        let report = registry().agents_from(files.path(), done).unwrap_err().to_string();
        assert_eq!(hidden(&report).next(), None, "{report:?}");
        assert!(report.contains("a\u{fffd}[2J error: b\u{fffd}.yaml"), "{report}");
    }
}

/// R2: a secret is refused in every spelling of its key, and reports do not show its value.
#[test]
fn r2_a_secret_is_refused_and_never_shown() {
    for key in [
        "accessToken",
        "privateKey",
        "secret_key",
        "secretKey",
        "bearer_token",
        "BEARER-TOKEN",
        "openai_api_key",
        "openaiApiKey",
        "passphrase",
        "clientSecret",
    ] {
        let hint = format!("`{key}` is a secret");
        let other = format!("unknown key `{key}`");
        for (name, text, expected) in [
            ("a.yaml", format!("model: {{ {key}: hunter2 }}"), &hint),
            ("a.toml", format!("model = {{ {key} = \"hunter2\" }}"), &hint),
            ("a.yaml", format!("{key}: hunter2"), &other),
            ("a.toml", format!("{key} = \"hunter2\""), &other),
        ] {
            let files = folder(&[(name, &text)]);
            let error = registry().agents_from(files.path(), done).unwrap_err();
            assert!(error.mistakes()[0].message().starts_with(expected), "{error}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
    }
    let files = folder(&[("a.yaml", "model: { max_tokens: 5, monkey: 1, token_limit: 2 }")]);
    assert_eq!(registry().agents_from(files.path(), done).unwrap(), ["a"]);
}

/// R2: a missing folder is not treated as an empty one.
#[test]
fn r2_a_missing_folder_is_an_error() {
    let error = registry().agents_from("tests/cases/nowhere", done).unwrap_err();
    assert!(error.to_string().contains("tests/cases/nowhere"), "{error}");
    assert!(error.mistakes()[0].line_column().is_none());
    let _: Box<dyn std::error::Error + Send + Sync> = error.into();
}

/// R2, R6: a tool can register an agent from a file during a run and delegate to it.
#[tokio::test]
async fn r2_r6_a_tool_reads_an_agent_during_a_run_and_delegates_to_it() {
    let files = folder(&[("helper.yaml", "tools: [close_issue]\napprovals: [close_issue]")]);
    let registry = registry();
    let (agents, path) = (registry.clone(), files.path().to_owned());
    let help = FunctionTool::delegating(ToolSpec::new("help"), move |call| {
        let read = agents.agents_from(&path, |_| {
            Script::new()
                .call([ToolCall::new("close_issue", Payload::new("{}"))])
                .finish(Payload::new("\"helped\""))
                .into()
        });
        async move {
            let names = read.map_err(|error| toolwright::ToolFailure::internal(&error))?;
            Ok::<_, toolwright::ToolFailure>(toolwright_runtime::tools::Delegation::to(
                names[0].as_str(),
                call.args().clone(),
            ))
        }
    });
    registry.register_tool(help).unwrap();
    let boss = Script::new().call([call("help")]).finish(Payload::new("true"));
    registry.register_agent(Agent::new("boss", "lab").with_tools(["help"]), boss.into()).unwrap();
    let runtime = Runtime::new(registry);
    let outcome = runtime.run(RunRequest::new("boss", Payload::new("{}"))).await.unwrap();
    let run = outcome.suspended().expect("the helper waits").clone();
    let answers = [run.pending()[0].approve()];
    let outcome =
        runtime.resume(toolwright_runtime::ResumeRequest::new(&run, answers)).await.unwrap();
    let helped = outcome.calls().next().unwrap().result.outcome.clone().unwrap();
    assert_eq!(helped.as_str(), "\"helped\"");
}

/// Mistakes quote files, so a link in an untrusted folder must not choose them.
#[cfg(unix)]
#[test]
fn links_are_followed_only_inside_their_folder() {
    use std::os::unix::fs::symlink;

    let outside = folder(&[("secret.yaml", "hunter2: 1\n"), ("good.yaml", "tools: []\n")]);
    let files = folder(&[("plain.yaml", "tools: []\n")]);
    symlink("plain.yaml", files.path().join("inside.yaml")).unwrap();
    std::fs::create_dir(files.path().join("..data")).unwrap();
    std::fs::write(files.path().join("..data/mounted.yaml"), "tools: []\n").unwrap();
    symlink("..data/mounted.yaml", files.path().join("mounted.yaml")).unwrap();
    let link = outside.path().join("linked");
    symlink(files.path(), &link).unwrap();
    let names = registry().agents_from(&link, done).unwrap();
    assert_eq!(names, ["inside", "mounted", "plain"], "a folder may be named by a link");

    symlink(outside.path(), files.path().join("deep")).unwrap();
    let place = |name: &str| files.path().join(name);
    symlink(outside.path().join("secret.yaml"), place("absolute.yaml")).unwrap();
    symlink("/dev/zero", place("device.toml")).unwrap();
    symlink("deep/good.yaml", place("through.yaml")).unwrap();
    symlink("absolute.yaml", place("twice.yaml")).unwrap();
    let error = registry().agents_from(files.path(), done).unwrap_err();
    let found: Vec<_> = error.mistakes().iter().map(toolwright_agents::Mistake::path).collect();
    let expected = ["absolute.yaml", "device.toml", "through.yaml", "twice.yaml"].map(place);
    assert_eq!(found, expected);
    let leads_out = "found a link that leads out of its folder, expected a file; put a copy there";
    assert!(error.mistakes().iter().all(|mistake| mistake.message() == leads_out), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let alone = registry().agents_from(files.path().join("twice.yaml"), done).unwrap_err();
    assert_eq!(alone.mistakes()[0].message(), leads_out);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_exchanged_for_a_link_out_of_its_folder_is_not_read() {
    use std::fs::{rename, write};
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    let outside = folder(&[("secret.yaml", "hunter2: 1\n")]);
    let files = folder(&[("plain.yaml", "tools: []\n")]);
    let [place, other] = ["plain.yaml", "other"].map(|name| files.path().join(name));
    let is_over = AtomicBool::new(false);
    let quoted = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                symlink(outside.path().join("secret.yaml"), &other).unwrap();
                rename(&other, &place).unwrap();
                write(&other, "tools: []\n").unwrap();
                rename(&other, &place).unwrap();
            }
        });
        let mut errors =
            (0..5_000).filter_map(|_| registry().agents_from(files.path(), done).err());
        let quoted = errors.find(|error| error.to_string().contains("hunter2"));
        is_over.store(true, Relaxed);
        quoted
    });
    assert!(quoted.is_none(), "{quoted:?}");
}

/// R2: pipes and devices are refused, since they could block or be endless.
#[cfg(unix)]
#[test]
fn r2_special_files_and_long_files_are_refused() {
    let files = folder(&[("long.yaml", &" ".repeat((1 << 20) + 1))]);
    for pipe in ["another.yaml", "pipe.toml"] {
        let pipe = files.path().join(pipe);
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let error = registry().agents_from(files.path(), done).unwrap_err();
    let found: Vec<&str> =
        error.mistakes().iter().map(toolwright_agents::Mistake::message).collect();
    let irregular = "found a folder, pipe or device, expected a regular file";
    assert_eq!(found, [irregular, "found more than 1 MiB, expected a shorter text", irregular]);
}

/// The files are links to the same one.
#[cfg(unix)]
#[test]
fn a_folder_with_more_than_64_mib_of_agents_is_refused() {
    let text = format!("tools: []\n#{}", " ".repeat((1 << 20) - 11));
    let files = folder(&[("a.yaml", &text)]);
    for number in 0..64 {
        let link = files.path().join(format!("a{number}.yaml"));
        fs::hard_link(files.path().join("a.yaml"), link).unwrap();
    }
    let error = registry().agents_from(files.path(), done).unwrap_err();
    let [mistake] = error.mistakes() else { panic!("{error}") };
    assert_eq!(mistake.path(), files.path());
    assert_eq!(mistake.message(), "found more than 64 MiB of agents, expected less");
    fs::remove_file(files.path().join("a0.yaml")).unwrap();
    registry().agents_from(files.path(), done).unwrap();
}

/// Each of them was a mistake with the names of all tools.
#[test]
fn the_first_hundred_unknown_names_of_an_agent_are_mistakes() {
    let names: Vec<String> = (0..5000).map(|n| format!("t{n}")).collect();
    for key in ["tools", "toolsets", "approvals"] {
        let folder = folder(&[("a.toml", &format!("{key} = {names:?}"))]);
        let error = registry().agents_from(folder.path(), done).unwrap_err();
        assert_eq!(messages(&error).len(), 100, "{key}");
    }
}

#[test]
fn a_message_is_cut_and_hints_have_at_most_a_thousand_keys() {
    let digits = format!("model: {{ effort: {} }}", "9".repeat(100_000));
    let hidden = format!("tools: [\"{}\"]", "\u{301}".repeat(100_000));
    let keys: Vec<String> = (0..1001).map(|n| format!("k{n}: 1")).collect();
    for (text, expected) in [
        (digits, "non-finite float"),
        (hidden, "lists tool"),
        (
            format!("model: {{ {} }}", keys.join(", ")),
            "found more than 1000 keys, expected hints on a model",
        ),
    ] {
        let folder = folder(&[("a.yaml", &text)]);
        let error = registry().agents_from(folder.path(), done).unwrap_err();
        let message = error.mistakes()[0].message();
        assert!(message.len() < 1100, "{} bytes", message.len());
        assert!(message.contains(expected), "{message}");
    }
}
