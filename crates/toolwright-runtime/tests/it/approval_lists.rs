//! Approval lists: a name in one means a tool, or it is an error. It never matches nothing in silence.

use toolwright::{FailureKind, Scope, ToolCall, ToolFailure, ToolSpec};
use toolwright_runtime::{
    Agent, FunctionTool, Registry, RunError, RunOutcome, RunRequest, Runtime, SessionRequest,
    Toolset, ToolsetError,
};

use crate::planners::steps;
use crate::tools::{Log, N, call, payload};
use crate::toys::tool;

/// A worker that calls `free`, which is registered by itself, or is met in runs alone.
fn worker(is_late: bool) -> Registry {
    let registry = Registry::new();
    let free = tool("free", |n| n);
    let agent = Agent::new("worker", "lab");
    let agent = if is_late {
        registry.register_toolset("toys", move |_: Scope| free.clone()).unwrap();
        agent.with_toolsets(["toys"])
    } else {
        registry.register_tool(free).unwrap();
        agent.with_tools(["free"])
    };
    registry.register_agent(agent, steps(vec![vec![call("free", "a", 1)]])).unwrap();
    registry
}

/// Names that look like `free`, and are not.
const STRANGE: [&str; 5] = ["nosuch", "Free", "fre\u{435}", "toys.free", "free "];

fn request(name: &str) -> RunRequest {
    RunRequest::new("worker", payload(0)).with_approval_of([name])
}

/// H6: a run with a list that names no tool does not start.
#[tokio::test]
async fn h6_a_run_that_lists_an_unknown_tool_for_approval_does_not_start() {
    let runtime = Runtime::new(worker(false));
    for name in STRANGE {
        let error = runtime.run(request(name)).await.unwrap_err();
        let unknown = RunError::UnknownApproval {
            tools: vec![name.to_owned()],
            available: vec!["free".to_owned()],
        };
        assert_eq!(error, unknown);
    }
    let error = runtime.run(request("nosuch")).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "calls of `nosuch` were to be approved, but there is no such tool; there is `free`"
    );
    assert!(runtime.run(request("free")).await.unwrap().suspended().is_some());
}

fn failure_code(outcome: &RunOutcome) -> Option<String> {
    outcome.result().unwrap_err().code.map(Into::into)
}

/// H6: where tools are only met in the run, it fails before anything is planned.
#[tokio::test]
async fn h6_a_run_that_meets_no_tool_of_its_approval_list_fails_before_any_call() {
    let runtime = Runtime::new(worker(true));
    for name in STRANGE {
        let outcome = runtime.run(request(name)).await.unwrap();
        assert_eq!(failure_code(&outcome).as_deref(), Some("unknown_approval"), "{name}");
        assert_eq!(outcome.exchanges().count(), 0);
    }
    assert!(runtime.run(request("free")).await.unwrap().suspended().is_some());
}

/// H6: so does a run whose agent lists a name that only its toolsets could have had.
#[tokio::test]
async fn h6_a_run_whose_agent_lists_an_unknown_tool_fails_before_any_call() {
    let registry = Registry::new();
    let free = tool("free", |n| n);
    registry.register_toolset("toys", move |_: Scope| free.clone()).unwrap();
    let agent = Agent::new("worker", "lab").with_toolsets(["toys"]).with_approval_of(["fre"]);
    registry.register_agent(agent, steps(vec![vec![call("free", "a", 1)]])).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(failure_code(&outcome).as_deref(), Some("unknown_approval"));
}

/// H6: a tool that goes by a prefixed name is meant by its own name too, so that no list misses it.
#[tokio::test]
async fn h6_a_list_means_a_tool_by_its_published_name_and_by_its_own() {
    for name in ["x.free", "free"] {
        let runtime = of_session(&Log::default(), vec![vec![call("x.free", "a", 1)]]);
        let outcome = runtime.run(request(name)).await.unwrap();
        assert_eq!(outcome.suspended().map(|run| run.pending().len()), Some(1), "{name}");
        let session = SessionRequest::new("worker").with_approval_of([name]);
        let session = runtime.open_session(session).await.unwrap();
        let failure = session.call(call("x.free", "b", 1)).await.outcome.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "{name}");
    }
}

/// H6: also by a name that it had before it was renamed or published, by the host's list or the agent's.
#[tokio::test]
async fn h6_a_list_means_a_tool_by_each_name_on_its_way() {
    let wipe = || {
        let spec = ToolSpec::new("wipe").with_aliases(&["old"]);
        FunctionTool::new(spec, |n: N| async move { Ok::<_, ToolFailure>(n) })
    };
    let renamed = || wipe().renamed([("wipe", "a")]).unwrap();
    let plain = ["x.wipe", "wipe", "x.old", "old"];
    for name in plain {
        assert_asked(&wipe, "x.wipe", name).await;
    }
    for name in ["x.a", "a"].into_iter().chain(plain) {
        assert_asked(&renamed, "x.a", name).await;
    }
    for name in ["x.p.a", "p.a", "a", "x.p.wipe", "p.old", "old"] {
        assert_asked(|| renamed().prefixed("p"), "x.p.a", name).await;
    }
}

/// Calls of a tool of a toolset that is published as `x` wait where this name is in a list.
async fn assert_asked<T: Toolset + 'static>(toolset: impl Fn() -> T, tool: &str, name: &str) {
    for [host, agent] in [[Some(name), None], [None, Some(name)]] {
        let registry = Registry::new();
        registry.register_toolset("toys", toolset()).unwrap();
        let catalog = registry.catalog();
        catalog.publish("toys", "x").unwrap();
        catalog.allow("worker", "toys").unwrap();
        // What an agent lists for approval it has to list as its own, too. Its runs then have it under its bare name.
        let worker = Agent::new("worker", "lab").with_approval_of(agent);
        let worker = if agent.is_some() { worker.with_toolsets(["toys"]) } else { worker };
        let calls = steps(vec![vec![call(tool, "a", 1)]]);
        if registry.register_agent(worker, calls).is_err() {
            assert!(agent.is_some());
            continue;
        }
        let runtime = Runtime::builder(registry).with_catalog(catalog).build();
        if host.is_some() {
            let request = RunRequest::new("worker", payload(0)).with_approval_of(host);
            let outcome = runtime.run(request).await.unwrap();
            assert!(outcome.suspended().is_some(), "`{tool}` runs in spite of `{name}`");
        }
        let request = SessionRequest::new("worker").with_approval_of(host);
        let session = runtime.open_session(request).await.unwrap();
        let failure = session.call(call(tool, "b", 1)).await.outcome.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "`{tool}` runs in spite of `{name}`");
    }
}

/// H6: a session with a list that names no tool is not opened.
#[tokio::test]
async fn h6_a_session_that_lists_an_unknown_tool_for_approval_is_not_opened() {
    let runtime = of_session(&Log::default(), vec![]);
    for name in ["nosuch", "x.Free", "x..free", "y.free", "x.fre\u{435}"] {
        let request = SessionRequest::new("worker").with_approval_of([name]);
        let error = runtime.open_session(request).await.unwrap_err();
        let ToolsetError::UnknownApproval { tools, available } = error else { panic!("{error}") };
        assert_eq!((tools, available), (vec![name.to_owned()], vec!["x.free".to_owned()]));
    }
}

/// H6: a list that names a tool of a nested run counts there, though the run that was asked for has no such tool.
#[tokio::test]
async fn h6_a_list_may_name_tools_of_nested_runs() {
    let registry = worker(false);
    let spec = ToolSpec::new("job").with_types::<N, N>();
    let clerk = Agent::new("clerk", "lab").with_implements(spec).with_tools(["free"]);
    registry.register_agent(clerk, steps(vec![vec![call("free", "a", 1)]])).unwrap();
    let boss = Agent::new("boss", "lab").with_tools(["job"]);
    registry.register_agent(boss, steps(vec![vec![call("job", "a", 1)]])).unwrap();
    let runtime = Runtime::new(registry);
    let request = RunRequest::new("boss", payload(0)).with_approval_of(["free"]);
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(outcome.suspended().expect("`free` waits").pending()[0].tool, "free");
}

/// H6: also by the name under which a catalog publishes it, which no tool of the run itself has.
#[tokio::test]
async fn h6_a_list_may_name_what_a_catalog_publishes_for_nested_runs() {
    let registry = Registry::new();
    registry.register_toolset("toys", tool("free", |n| n)).unwrap();
    let spec = ToolSpec::new("job").with_types::<N, N>();
    let clerk = Agent::new("clerk", "lab").with_implements(spec);
    registry.register_agent(clerk, steps(vec![vec![call("x.free", "a", 1)]])).unwrap();
    let boss = Agent::new("boss", "lab").with_tools(["job"]);
    registry.register_agent(boss, steps(vec![vec![call("job", "a", 1)]])).unwrap();
    let catalog = registry.catalog();
    catalog.publish("toys", "x").unwrap();
    catalog.allow("clerk", "toys").unwrap();
    catalog.publish("", "lab").unwrap();
    catalog.allow("boss", "").unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let request = RunRequest::new("boss", payload(0)).with_approval_of(["x.free"]);
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(outcome.suspended().expect("`x.free` waits").pending()[0].tool, "x.free");
}

/// A runtime whose worker makes these calls and may use `x.free`, in sessions too.
pub(crate) fn of_session(ran: &Log, calls: Vec<Vec<ToolCall>>) -> Runtime {
    let registry = Registry::new();
    let log = ran.clone();
    let free = tool("free", move |n| {
        log.push("free");
        n
    });
    registry.register_toolset("toys", free).unwrap();
    let catalog = registry.catalog();
    catalog.publish("toys", "x").unwrap();
    catalog.allow("worker", "toys").unwrap();
    registry.register_agent(Agent::new("worker", "lab"), steps(calls)).unwrap();
    Runtime::builder(registry).with_catalog(catalog).build()
}
