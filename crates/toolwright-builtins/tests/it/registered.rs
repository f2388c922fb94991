//! R5: registration, instances, annotations and schemas of the built-in toolsets.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use toolwright::spec::Approval;
use toolwright::{Outcome, Payload, Scope, ToolCall, ToolSpec};
use toolwright_builtins::fetch::Fetch;
use toolwright_builtins::files::Files;
use toolwright_builtins::shell::Shell;
use toolwright_builtins::{scratchpad, todo_list};
use toolwright_runtime::execute::{Timeout, blocking};
use toolwright_runtime::{
    Agent, ExecutionService, FunctionTool, Registry, ResumeRequest, RunOutcome, RunRequest,
    Runtime, Script, SealKey, Source, ToolEntry, Toolset,
};

fn call(tool: &str, args: &str) -> ToolCall {
    ToolCall::new(tool, Payload::new(args))
}

/// A runtime with an agent that has the notes, the todos, and a tool that needs an approval.
fn runtime(script: Script) -> Runtime {
    let registry = Registry::new();
    registry.register_toolset("notes", scratchpad()).unwrap();
    registry.register_toolset("todos", todo_list()).unwrap();
    let wipe = ToolSpec::new("wipe").with_approval(Approval::default());
    registry.register_tool(FunctionTool::new(wipe, async || true)).unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["wipe"]).with_toolsets(["notes", "todos"]);
    registry.register_agent(agent, script.into()).unwrap();
    let key = SealKey::new([7; 32]).unwrap();
    Runtime::builder(registry).with_seal_keys([key]).build()
}

/// Returns the payloads of a run's calls, or the kinds of their failures.
fn outcomes(outcome: &RunOutcome) -> Vec<String> {
    let results = outcome.calls().map(|record| &record.result.outcome);
    let brief = |outcome: &toolwright::Outcome| match outcome {
        Ok(payload) => payload.to_string(),
        Err(failure) => failure.kind.to_string(),
    };
    results.map(brief).collect()
}

const NOTE: &str = r#"{"key":"a","text":"hello"}"#;
const TODOS: &str =
    r#"{"todos":[{"title":"Test","status":"done"},{"title":"Ship","status":"pending"}]}"#;

#[tokio::test]
async fn r5_every_run_has_new_instances_of_built_in_toolsets() {
    let script = Script::new()
        .call([call("read_note", r#"{"key":"a"}"#), call("read_todos", "{}")])
        .call([call("write_note", NOTE), call("write_todos", TODOS)])
        .call([call("read_note", r#"{"key":"a"}"#), call("read_todos", "{}")])
        .finish(Payload::new("0"));
    let runtime = runtime(script);
    for _ in 0..2 {
        let outcome = runtime.run(RunRequest::new("worker", Payload::new("0"))).await.unwrap();
        assert_eq!(
            outcomes(&outcome),
            [
                "domain_rejection",
                r#"{"todos":[]}"#,
                "{}",
                r#"{"done":1,"all":2}"#,
                r#"{"text":"hello"}"#,
                TODOS
            ]
        );
    }
}

/// R5, H8: also in another process.
#[tokio::test]
async fn r5_h8_notes_and_todos_survive_a_suspension() {
    let script = || {
        Script::new()
            .call([call("write_note", NOTE), call("write_todos", TODOS)])
            .call([call("wipe", "{}")])
            .call([call("read_note", r#"{"key":"a"}"#), call("read_todos", "{}")])
            .finish(Payload::new("0"))
    };
    let (here, there) = (runtime(script()), runtime(script()));
    let outcome = here.run(RunRequest::new("worker", Payload::new("0"))).await.unwrap();
    let waiting = here.export(outcome.suspended().unwrap()).await.unwrap();
    let waiting = there.restore(&waiting).await.unwrap();
    let answers: Vec<_> = waiting.pending().iter().map(|question| question.approve()).collect();
    let request = ResumeRequest::new(&waiting, answers);
    let outcome = there.resume(request).await.unwrap();
    assert_eq!(outcomes(&outcome)[3..], [r#"{"text":"hello"}"#, TODOS]);
}

/// Returns the tools of all built-in toolsets.
async fn all() -> Vec<ToolEntry> {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::below(folder.path()).unwrap().with_writing();
    let shell = Shell::builder(folder.path()).with_program("/bin/echo").build().unwrap();
    let fetch = Fetch::builder().with_host("docs.rs").build().unwrap();
    let registry = Registry::new();
    let sources = [scratchpad(), todo_list(), files.source(), shell.source(), fetch.source()];
    let names = ["notes", "todos", "files", "shell", "web"];
    for (name, source) in names.into_iter().zip(sources) {
        assert!(!source.is_shared(), "{name} is a factory");
        registry.register_toolset(name, source).unwrap();
    }
    let catalog = registry.catalog();
    for name in names {
        catalog.publish(name, name).unwrap();
        catalog.allow("host", name).unwrap();
    }
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    runtime.open_session("host").await.unwrap().tools().await.unwrap()
}

#[tokio::test]
async fn r5_the_annotations_of_built_in_tools_are_true() {
    let seen: Vec<_> = all()
        .await
        .iter()
        .map(|tool| {
            let annotations = tool.spec().annotations();
            let words = [
                ("read-only", annotations.read_only),
                ("destructive", annotations.destructive),
                ("open-world", annotations.open_world),
            ];
            let text: Vec<_> =
                words.iter().filter(|(_, text)| text.unwrap()).map(|(word, _)| *word).collect();
            format!("{}: {}", tool.name(), text.join(" "))
        })
        .collect();
    assert_eq!(
        seen,
        [
            "files.read_file: read-only",
            "files.list_files: read-only",
            "files.search_files: read-only",
            "files.write_file: destructive",
            "notes.write_note: destructive",
            "notes.read_note: read-only",
            "notes.list_notes: read-only",
            "notes.delete_note: destructive",
            "shell.run_program: destructive open-world",
            "todos.write_todos: destructive",
            "todos.read_todos: read-only",
            "web.fetch_url: read-only open-world",
        ]
    );
}

#[tokio::test]
async fn r5_built_in_tools_have_descriptions_and_refuse_unknown_properties() {
    for tool in all().await {
        let spec = tool.spec();
        assert!(spec.description().ends_with('.'), "{}", tool.name());
        assert!(spec.toolset_description().ends_with('.'), "{}", tool.name());
        let schema: Value = serde_json::from_str(spec.args_schema()).unwrap();
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name());
        assert!(spec.check_args(br#"{"more":1}"#).is_err(), "{}", tool.name());
    }
}

#[tokio::test]
async fn r5_files_are_written_only_if_enabled() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::below(folder.path()).unwrap();
    let names = |tools: Vec<ToolEntry>| tools.iter().any(|tool| tool.name() == "write_file");
    assert!(!names(files.toolset().tools(&Scope::default()).await.unwrap()));
    let files = files.with_writing();
    assert!(names(files.toolset().tools(&Scope::default()).await.unwrap()));
}

#[test]
fn invalid_options_are_refused_when_a_toolset_is_built() {
    let error = Files::below("/nowhere/at/all").unwrap_err().to_string();
    assert!(error.starts_with("cannot open the folder `/nowhere/at/all`: "), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    for (folder, programs, expected) in [
        ("/nowhere", &[][..], "`/nowhere` is not a folder"),
        (folder, &["echo"], "`echo` is not a program, expected an absolute path of a file"),
        (folder, &["/bin"], "`/bin` is not a program, expected an absolute path of a file"),
        (
            folder,
            &["/bin/echo", "/bin/../bin/echo"],
            "`/bin/echo` and `/bin/../bin/echo` have the same name; leave one out",
        ),
    ] {
        let builder = programs
            .iter()
            .fold(Shell::builder(folder), |all, one| all.with_program(Path::new(one)));
        assert_eq!(builder.build().unwrap_err().to_string(), expected);
    }
    for host in ["", "docs.rs/serde", "a@docs.rs", "http://docs.rs", "docs.rs:port", "*", "::1"] {
        let error = Fetch::builder().with_host(host).build().unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{host}` is not a valid host, ")), "{error}");
    }
    let error = Fetch::builder().with_private_host("127.0.0.1").build().unwrap_err().to_string();
    assert!(
        error.ends_with("expected a name or an IP address with a port, such as `127.0.0.1:8080`")
    );
}

/// Makes a call in a runtime with a default time limit of 100 milliseconds.
async fn call_hastily(source: &Source, call: ToolCall) -> Outcome {
    let execute = ExecutionService::new(Timeout::new(Duration::from_millis(100)));
    let runtime = Runtime::builder(Registry::new()).with_execution_service(execute).build();
    runtime.call_in(("set", source), None, None, call).await.unwrap().0.outcome
}

/// The time limits of these toolsets are the only ones.
#[tokio::test]
async fn a_program_and_a_document_may_take_longer_than_other_tools_of_the_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let shell = Shell::builder(folder.path()).with_program("/bin/sleep").build().unwrap();
    let sleep = call("run_program", r#"{"program":"sleep","args":["0.3"]}"#);
    call_hastily(&shell.source(), sleep).await.unwrap();

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let slow = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi";
        std::io::Write::write_all(&mut stream, answer.as_bytes()).unwrap();
    });
    let fetch = Fetch::builder().with_private_host(&host).build().unwrap();
    let get = call("fetch_url", &format!(r#"{{"url":"http://{host}/"}}"#));
    call_hastily(&fetch.source(), get).await.unwrap();
    slow.join().unwrap();

    let longest = Duration::MAX;
    let shell = Shell::builder(folder.path()).with_time_limit(longest).build().unwrap();
    let tools = shell.toolset().tools(&Scope::default()).await.unwrap();
    assert_eq!(tools[0].spec().limits().timeout, Some(longest));
}

/// Work that takes long has the only thread.
#[tokio::test]
async fn the_tools_for_files_use_the_threads_for_blocking_work_of_their_runtime() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "hello").unwrap();
    let registry = Registry::new();
    let files = Files::below(folder.path()).unwrap();
    registry.register_toolset("files", files.source()).unwrap();
    let (release, until) = std::sync::mpsc::channel::<()>();
    let until = std::sync::Arc::new(std::sync::Mutex::new(until));
    let hold = FunctionTool::new(ToolSpec::new("hold"), move || {
        let until = std::sync::Arc::clone(&until);
        blocking(move || until.lock().unwrap().recv().is_ok())
    });
    registry.register_tool(hold).unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["hold"]).with_toolsets(["files"]);
    let calls = [call("hold", "{}"), call("read_file", r#"{"path":"a"}"#)];
    let script = Script::new().call(calls).finish(Payload::new("0"));
    registry.register_agent(agent, script.into()).unwrap();
    let execute = ExecutionService::new(Timeout::new(Duration::from_millis(300)));
    let execute = execute.with_blocking_threads(1);
    let runtime = Runtime::builder(registry).with_execution_service(execute).build();
    let outcome = runtime.run(RunRequest::new("worker", Payload::new("0"))).await.unwrap();
    drop(release);
    assert_eq!(outcomes(&outcome), ["timeout", "unavailable"]);
}
