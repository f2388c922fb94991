//! P10: a remote toolset behaves like a local one. Each case runs with both.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use toolwright::spec::{Approval, text};
use toolwright::{
    BoxError, BoxFuture, FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
};
use toolwright_runtime::remote::{
    ApprovalKey, RemoteError, RemoteOptions, RemoteToolset, bind_unix,
};
use toolwright_runtime::tools::{Combined, Delegation, IntoSource};
use toolwright_runtime::{
    Agent, ApprovalRequest, FunctionTool, Registry, RunRequest, Runtime, Source, ToolEntry,
    Toolset, Verdict,
};

use crate::planners::{brief, briefs, steps};
use crate::state::{Warnings, approve_in, counter, request, runtime_of};
use crate::tools::{Echo, Log, N, call, payload};
use crate::toys::{Toy, spec, tool};

/// A server on a socket in a temporary folder.
struct Socket {
    folder: TempDir,
    server: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Socket {
    fn serve(toolset: Source) -> Self {
        Self::serve_with(toolset, RemoteOptions::new())
    }

    fn serve_with(toolset: Source, options: RemoteOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = bind_unix(folder.path().join("socket")).unwrap();
        Self { folder, server: tokio::spawn(toolset.serve_unix(listener, options)) }
    }

    async fn connect(&self) -> RemoteToolset {
        self.connect_as(&Scope::default()).await
    }

    async fn connect_as(&self, scope: &Scope) -> RemoteToolset {
        RemoteToolset::connect_unix(self.folder.path().join("socket"), scope, RemoteOptions::new())
            .await
            .unwrap()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn tools(log: &Log) -> Combined {
    let log = log.clone();
    let slow = FunctionTool::new(spec("slow"), move |args: N| {
        let log = log.clone();
        async move {
            let dropped = OnDrop(log);
            tokio::time::sleep(Duration::from_millis(args.n.unsigned_abs())).await;
            std::mem::forget(dropped);
            Ok::<_, ToolFailure>(args)
        }
    });
    Combined::new()
        .with("plain", tool("plus", |n| n + 1))
        .with("slow", slow)
        .with("panic", tool("panic", |_| panic!("a bug")))
        .with("typed", FunctionTool::typed(Echo, async |args: N, _| Ok::<_, ToolFailure>(args)))
}

struct OnDrop(Log);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.push("given up");
    }
}

/// Makes a list of calls in a session with a toolset, and describes the results.
async fn says(toolset: impl Toolset + 'static) -> Vec<String> {
    let registry = Registry::new();
    registry.register_toolset("one", toolset).unwrap();
    let catalog = registry.catalog();
    catalog.publish("one", "x").unwrap();
    catalog.allow("agent", "one").unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let session = runtime.open_session("agent").await.unwrap();
    let mut lines: Vec<String> = session.tools().await.unwrap().iter().map(describe).collect();
    let calls = [
        ("x.plus", r#"{"n":1}"#),
        ("x.plus", r#"{"n":"one"}"#),
        ("x.plus", "{"),
        ("x.slow", r#"{"n":1}"#),
        ("x.panic", r#"{"n":1}"#),
        ("x.echo", r#"{ "n" : 2.0 }"#),
        ("x.missing", "{}"),
    ];
    for (name, args) in calls {
        let result = session.call(ToolCall::new(name, Payload::new(args)).with_id("id")).await;
        let words = match result.outcome.as_ref() {
            Ok(payload) => payload.to_string(),
            Err(failure) => {
                format!("{failure} ({}, {:?})", failure.recovery.as_str(), failure.detail)
            }
        };
        lines.push(words);
    }
    lines
}

fn describe(tool: &ToolEntry) -> String {
    let spec = tool.spec();
    format!("{} {} {} {}", tool.name(), spec.toolset(), spec.args_schema(), spec.result_schema())
}

#[tokio::test]
async fn p10_a_remote_toolset_behaves_like_the_local_one() {
    let log = Log::default();
    let socket = Socket::serve(tools(&log).into_source());
    assert_eq!(says(socket.connect().await).await, says(tools(&log)).await);
}

/// A delegation is only for the runtime, and is not a result for another process.
#[tokio::test]
async fn a_tool_that_delegates_cannot_be_called_from_another_process() {
    let naming = async |_| Ok::<_, ToolFailure>(Delegation::to("clerk", payload(1)));
    let socket = Socket::serve(FunctionTool::delegating(spec("ask"), naming).into_source());
    let remote = socket.connect().await;
    remote.enter(&Scope::default()).await.unwrap();
    remote.tools(&Scope::default()).await.unwrap();
    assert_eq!(brief(&remote.call(&call("ask", "a", 1)).await), "unavailable");
}

/// P10, R12: each call gets its own result.
#[tokio::test]
async fn p10_calls_over_one_connection_run_concurrently() {
    let socket = Socket::serve(tools(&Log::default()).into_source());
    let remote = socket.connect().await;
    remote.tools(&Scope::default()).await.unwrap();
    let since = std::time::Instant::now();
    let calls: Vec<_> = (0..20).map(|n| call("slow", "a", 100 + n)).collect();
    let results = futures_util::future::join_all(calls.iter().map(|call| remote.call(call))).await;
    assert!(since.elapsed() < Duration::from_secs(1), "one after another they take two seconds");
    let expected: Vec<_> = (0..20).map(|n| format!("{{\"n\":{}}}", 100 + n)).collect();
    assert_eq!(results.iter().map(brief).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn p10_a_call_cancelled_by_the_client_is_cancelled_by_the_server() {
    let log = Log::default();
    let socket = Socket::serve(tools(&log).into_source());
    let remote = socket.connect().await;
    remote.tools(&Scope::default()).await.unwrap();
    let call = call("slow", "a", 60_000);
    let given_up = tokio::time::timeout(Duration::from_millis(50), remote.call(&call)).await;
    assert!(given_up.is_err());
    until(|| log.lines() == ["given up"]).await;
}

/// P8, P9, R11: with a factory that connects, the server has an instance for each run.
#[tokio::test]
async fn p8_p9_every_connection_enters_the_remote_toolset_once() {
    let log = Log::default();
    let toy = Toy::new("toy", &log);
    let socket = Arc::new(Socket::serve((move |_: Scope| toy.clone()).into_source()));
    let connecting = Arc::clone(&socket);
    let registry = Registry::new();
    let connect = move |scope: Scope| {
        let socket = Arc::clone(&connecting);
        async move { socket.connect_as(&scope).await }
    };
    registry.register_toolset("far", connect).unwrap();
    let agent = Agent::new("worker", "lab").with_toolsets(["far"]);
    registry.register_agent(agent, steps(vec![vec![call("toy", "a", 1)]])).unwrap();
    let runtime = Runtime::new(registry);
    for _ in 0..2 {
        let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
        assert_eq!(briefs(&outcome), [r#"{"n":2}"#]);
        until(|| log.lines().len().is_multiple_of(2) && !log.lines().is_empty()).await;
    }
    until(|| log.lines() == ["enter toy", "exit toy", "enter toy", "exit toy"]).await;
}

/// A runtime with a remote counter, which may fail to save or restore.
fn counting_far_away(breaks: Option<&'static str>) -> Runtime {
    let socket = Arc::new(Socket::serve((move |_: Scope| counter(breaks)).into_source()));
    runtime_of(move |scope: Scope| {
        let socket = Arc::clone(&socket);
        async move {
            let path = socket.folder.path().join("socket");
            RemoteToolset::connect_unix(path, &scope, RemoteOptions::new()).await
        }
    })
}

#[tokio::test]
async fn p10_h8_the_state_of_a_remote_toolset_survives_a_suspension() {
    let outcome = counting_far_away(None).run(request()).await.unwrap();
    let outcome = approve_in(counting_far_away(None), outcome.suspended().unwrap()).await;
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, r#"{"n":2}"#, "true", r#"{"n":3}"#]);
}

/// P10, H8: the failure has the reason.
#[tokio::test]
async fn p10_h8_a_remote_toolset_that_cannot_save_or_restore_ends_the_run() {
    let runtime = counting_far_away(Some("save"));
    let failure = runtime.run(request()).await.unwrap().result().unwrap_err();
    assert_eq!(failure.detail.as_deref(), Some("the disk is full"));
    let outcome = counting_far_away(None).run(request()).await.unwrap();
    let broken = counting_far_away(Some("restore"));
    let failure = approve_in(broken, outcome.suspended().unwrap()).await.result().unwrap_err();
    assert_eq!(
        failure.detail.as_deref(),
        Some("toolset `counter` was not restored: it is another version's")
    );
}

#[tokio::test]
async fn p10_h6_a_question_lists_the_open_handles_of_a_remote_toolset() {
    let outcome = counting_far_away(None).run(request()).await.unwrap();
    let question = outcome.suspended().unwrap().pending()[0].clone();
    let [handle] = question.open_handles.as_slice() else { panic!("{:?}", question.open_handles) };
    assert!(handle.starts_with("lock_"), "{handle}");
}

/// P10: none is open once the connection is closed.
#[tokio::test]
async fn p10_the_handles_that_are_open_are_those_of_the_last_reply() {
    let socket = Socket::serve((|_: Scope| counter(None)).into_source());
    let remote = socket.connect().await;
    remote.tools(&Scope::default()).await.unwrap();
    assert_eq!(remote.open_handles(), Vec::<String>::new());
    remote.call(&call("count", "a", 0)).await;
    assert_eq!(remote.open_handles().len(), 1);
    socket.server.abort();
    until(|| remote.open_handles().is_empty()).await;
    let gone = remote.save(&Scope::default()).await.unwrap_err();
    assert_eq!(gone.to_string(), RemoteError::Disconnected.to_string());
}

/// P10: they are sent with the tools.
#[tokio::test]
async fn p10_handles_that_are_open_from_the_start_are_sent() {
    let holding = |_: Scope| {
        let counter = counter(None);
        counter.handles.open(());
        counter
    };
    let socket = Socket::serve(holding.into_source());
    let remote = socket.connect().await;
    remote.tools(&Scope::default()).await.unwrap();
    assert_eq!(remote.open_handles().len(), 1);
}

#[tokio::test]
async fn p10_an_approval_keeps_its_prompt_and_metadata_over_the_wire() {
    let words = Approval {
        prompt: Some(text("Wipe {{ args.n }}?")),
        denied: Some(text("Kept.")),
        metadata: Some(text(r#"{"risk_level":"high"}"#)),
    };
    let only_denied = Approval { denied: Some(text("No.")), ..Approval::default() };
    let toolset = Combined::new()
        .with("plain", tool("plus", |n| n))
        .with("wipe", tool("wipe", |n| n).requiring_approval(words.clone(), |_| true))
        .with("drop", tool("drop", |n| n).requiring_approval(only_denied.clone(), |_| true));
    let socket = Socket::serve(toolset.into_source());
    let tools = socket.connect().await.tools(&Scope::default()).await.unwrap();
    let approvals: Vec<_> = tools.iter().map(ToolEntry::approval).collect();
    assert_eq!(approvals, [None, Some(&words), Some(&only_denied)]);
}

/// The message has both versions.
#[tokio::test]
async fn a_client_of_another_version_is_refused() {
    let socket = Socket::serve(tools(&Log::default()).into_source());
    let path = socket.folder.path().join("socket");
    let mut stream = UnixStream::connect(path).await.unwrap();
    let open = r#"{"open":{"version":1,"scope":{}}}"#;
    stream.write_all(format!("{open}\n").as_bytes()).await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    let expected = r#"{"refused":{"why":"the client uses version 1, expected 5"}}"#;
    assert_eq!(reply.trim_end(), expected);
}

/// A call that was sent may have run, so nothing repeats it.
#[tokio::test]
async fn a_call_to_a_disconnected_server_fails_and_does_not_hang() {
    let socket = Socket::serve(tools(&Log::default()).into_source());
    let remote = socket.connect().await;
    remote.tools(&Scope::default()).await.unwrap();
    let call = call("slow", "a", 60_000);
    let (result, ()) = tokio::join!(remote.call(&call), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        socket.server.abort();
    });
    let interrupted = result.outcome.unwrap_err();
    assert_eq!((interrupted.kind, interrupted.recovery), (FailureKind::Internal, Recovery::Replan));
    assert!(interrupted.message.contains("may have taken effect"), "{}", interrupted.message);
    assert_eq!(brief(&remote.call(&call).await), "unavailable", "it was not sent");
}

#[tokio::test]
async fn the_reason_of_a_server_that_refuses_is_a_short_visible_line() {
    let (ours, mut theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(ours);
    let why = format!("a\u{1b}[31m\u{202e}\nerror: forged{}", "x".repeat(100_000));
    let scope = Scope::default();
    let refusal = serde_json::json!({ "refused": { "why": why } });
    theirs.write_all(format!("{refusal}\n").as_bytes()).await.unwrap();
    let connecting = RemoteToolset::connect_stream(input, output, &scope, RemoteOptions::new());
    let text = connecting.await.err().unwrap().to_string();
    assert!(text.len() < 500, "{} bytes", text.len());
    let is_hidden = |c: char| c.is_control() || c == '\u{202e}';
    assert!(!text.contains(is_hidden), "{text:?}");
}

#[tokio::test]
async fn a_server_that_refuses_an_open_connection_ends_what_waits_for_it() {
    let (ours, mut theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(ours);
    let scope = Scope::default();
    let opened = serde_json::json!({ "opened": { "calls": 1, "nonce": "n" } });
    theirs.write_all(format!("{opened}\n").as_bytes()).await.unwrap();
    let remote =
        RemoteToolset::connect_stream(input, output, &scope, RemoteOptions::new()).await.unwrap();
    let call = call("slow", "a", 1);
    let (result, ()) = tokio::join!(remote.call(&call), async {
        let refusal = serde_json::json!({ "refused": { "why": "enough" } });
        theirs.write_all(format!("{refusal}\n").as_bytes()).await.unwrap();
    });
    assert!(result.outcome.is_err());
}

#[tokio::test]
async fn a_remote_toolset_that_cannot_be_entered_is_an_error_for_the_client() {
    let stuck = Toy { stuck: true, ..Toy::new("toy", &Log::default()) };
    let socket = Socket::serve(stuck.into_source());
    let path = socket.folder.path().join("socket");
    let error = RemoteToolset::connect_unix(&path, &Scope::default(), RemoteOptions::new())
        .await
        .err()
        .unwrap();
    assert_eq!(error.to_string(), "the remote toolset is not provided: the door is locked");
    let nobody = socket.folder.path().join("nobody");
    assert!(
        RemoteToolset::connect_unix(&nobody, &Scope::default(), RemoteOptions::new())
            .await
            .is_err()
    );
}

/// Waits until another task is done.
async fn until(done: impl Fn() -> bool) {
    for _ in 0..200 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not happen within two seconds");
}

/// A runtime replaces the alias; a toolset that is called by itself does not.
#[tokio::test]
async fn an_alias_reaches_the_tool_of_a_remote_toolset() {
    let renamed = || FunctionTool::new(spec("new").with_aliases(&["old"]), async |args: N| args);
    let tools = || Combined::new().with("new", renamed()).with("plus", tool("plus", |n| n + 1));
    let socket = Socket::serve(tools().into_source());
    let remote = socket.connect().await;
    remote.tools(&Scope::default()).await.unwrap();
    assert_eq!(brief(&remote.call(&call("old", "a", 1)).await), r#"{"n":1}"#);
    assert!(remote.is_available("old"));

    let registry = Registry::new();
    registry.register_toolset("set", remote).unwrap();
    let listing = Agent::new("worker", "lab").with_toolsets(["set"]);
    let calls = vec![vec![call("old", "b", 2), call("plus", "c", 3)]];
    registry.register_agent(listing, steps(calls)).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":2}"#, r#"{"n":4}"#]);
}

/// An approval that a host asks of an alias is asked, and its code reaches the server.
#[tokio::test]
async fn an_approved_call_by_an_alias_runs_over_a_remote_toolset() {
    let asked = Approval { prompt: Some(text("Go on?")), denied: None, metadata: None };
    let renamed = spec("new").with_aliases(&["old"]).with_approval(asked);
    let server = FunctionTool::new(renamed, async |args: N| args);
    let key = || RemoteOptions::new().with_approval_key(ApprovalKey::new([7; 32]));
    let socket = Socket::serve_with(server.into_source(), key());
    let path = socket.folder.path().join("socket");
    let remote = RemoteToolset::connect_unix(path, &Scope::default(), key()).await.unwrap();
    let yes = Arc::new(|_: &ApprovalRequest| Verdict::Approve);
    let runtime = Runtime::builder(Registry::new()).with_approver(yes).build();
    let remote = remote.into_source();
    let calling = runtime.call_in(("set", &remote), None, None, call("old", "a", 1));
    assert_eq!(brief(&calling.await.unwrap().0), r#"{"n":1}"#);
}

#[tokio::test]
async fn an_unavailable_tool_of_a_remote_toolset_is_refused() {
    let log = Log::default();
    let ran = log.clone();
    let free = tool("free", move |n| {
        ran.push("ran");
        n
    });
    let is_open = Arc::new(AtomicBool::new(true));
    let open = Arc::clone(&is_open);
    let socket =
        Socket::serve(free.available_while(move |_| open.load(Ordering::SeqCst)).into_source());
    let remote = socket.connect().await;
    remote.tools(&Scope::default()).await.unwrap();
    assert_eq!(brief(&remote.call(&call("free", "a", 1)).await), r#"{"n":1}"#);
    is_open.store(false, Ordering::SeqCst);
    assert_eq!(brief(&remote.call(&call("free", "b", 1)).await), "unavailable");
    assert_eq!(log.lines(), ["ran"]);
}

/// The rules that a function sets for a step apply to calls between two listings, too.
#[tokio::test]
async fn a_call_of_a_peer_is_one_of_the_tool_as_it_is_now_and_not_as_the_peer_listed_it() {
    let log = Log::default();
    let changed = Arc::new(AtomicBool::new(false));
    let logging = |name: &'static str| {
        let ran = log.clone();
        tool(name, move |n| {
            ran.push(name);
            n
        })
    };
    let is_changed = || {
        let changed = Arc::clone(&changed);
        move || changed.load(Ordering::SeqCst)
    };
    let (asks, guards, removes) = (is_changed(), is_changed(), is_changed());
    let toolset = Combined::new()
        .with(
            "prepared",
            logging("prepared").prepared(move |_, tools| {
                let ask = |tool: ToolEntry| tool.requiring_approval(Approval::default());
                if asks() { tools.into_iter().map(ask).collect() } else { tools }
            }),
        )
        .with(
            "guarded",
            logging("guarded").requiring_approval(Approval::default(), move |_| guards()),
        )
        .with(
            "removed",
            logging("removed").prepared(move |_, tools| if removes() { Vec::new() } else { tools }),
        );
    let socket = Socket::serve(toolset.into_source());
    let remote = socket.connect().await;
    remote.tools(&Scope::default()).await.unwrap();
    let names = ["prepared", "guarded", "removed"];
    for (is_changed, expected) in
        [(false, [r#"{"n":1}"#; 3]), (true, ["denied", "denied", "not_found"])]
    {
        changed.store(is_changed, Ordering::SeqCst);
        for (name, expected) in names.into_iter().zip(expected) {
            assert_eq!(brief(&remote.call(&call(name, "a", 1)).await), expected, "{name}");
        }
    }
    assert_eq!(log.lines(), names, "each ran once");
}

/// A toolset that panics in all methods that are not calls, if it is told to.
struct Panicking(FunctionTool, Arc<AtomicBool>);

impl Panicking {
    fn panic(&self) {
        assert!(!self.1.load(Ordering::SeqCst), "a bug");
    }
}

impl Toolset for Panicking {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.panic();
        self.0.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.call(call)
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        self.panic();
        Box::pin(std::future::ready(Ok(None)))
    }

    fn restore<'a>(&'a self, _: &'a Scope, _: &'a Payload) -> BoxFuture<'a, Result<(), BoxError>> {
        self.panic();
        Box::pin(std::future::ready(Ok(())))
    }

    fn instructions<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Option<String>> {
        self.panic();
        Box::pin(std::future::ready(Some("Ring.".to_owned())))
    }
}

#[tokio::test]
async fn a_served_toolset_that_panics_outside_of_calls_keeps_its_connection() {
    let panics = Arc::new(AtomicBool::new(true));
    let toolset = Panicking(tool("plus", |n| n + 1), Arc::clone(&panics));
    let socket = Socket::serve(toolset.into_source());
    let remote = socket.connect().await;
    let scope = Scope::default();
    let errors = [
        remote.tools(&scope).await.err(),
        remote.save(&scope).await.err(),
        remote.restore(&scope, &payload(1)).await.err(),
    ];
    for error in errors {
        assert_eq!(error.unwrap().to_string(), "the toolset panicked");
    }
    assert_eq!(remote.instructions(&scope).await, None);
    assert_eq!(brief(&remote.call(&call("plus", "a", 1)).await), "internal");
    panics.store(false, Ordering::SeqCst);
    assert_eq!(brief(&remote.call(&call("plus", "a", 1)).await), r#"{"n":2}"#);
}

/// A peer decides when it asks for the tools, also while its calls run.
#[tokio::test]
async fn a_source_that_builds_per_step_has_one_instance_for_each_connection() {
    let log = Log::default();
    let toy = Toy::new("toy", &log);
    let socket = Socket::serve(Source::per_step(move |_: Scope| toy.clone()));
    let remote = socket.connect().await;
    for _ in 0..2 {
        remote.tools(&Scope::default()).await.unwrap();
        assert_eq!(brief(&remote.call(&call("toy", "a", 1)).await), r#"{"n":2}"#);
    }
    drop(remote);
    until(|| log.lines() == ["enter toy", "exit toy"]).await;
}

/// The error quotes a key of the server's message.
#[tokio::test]
async fn a_server_cannot_forge_a_log_line_of_its_client() {
    let (ours, mut theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(ours);
    let scope = Scope::default();
    let warned = Log::default();
    let _guard = tracing::subscriber::set_default(Warnings(warned.clone()));
    let opened = serde_json::json!({ "opened": { "calls": 1, "nonce": "n" } });
    let forged = serde_json::json!({ "a\u{1b}[31m\u{202e}\nerror: forged": {} });
    theirs.write_all(format!("{opened}\n{forged}\n").as_bytes()).await.unwrap();
    let options = RemoteOptions::new();
    let remote = RemoteToolset::connect_stream(input, output, &scope, options).await.unwrap();
    assert!(remote.tools(&scope).await.is_err());
    let lines = warned.lines();
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(line.contains("error: forged"), "{line:?}");
    assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");
}
