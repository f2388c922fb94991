//! Approval lists: every name must be that of a tool, or it is an error.

use toolwright::{FailureKind, Scope, ToolCall, ToolFailure, ToolSpec};
use toolwright_runtime::{
    Agent, FunctionTool, Registry, RunError, RunOutcome, RunRequest, Runtime, SessionRequest,
    Toolset, ToolsetError,
};

use crate::planners::steps;
use crate::tools::{Log, N, call, payload};
use crate::toys::tool;

/// A registry with an agent that calls `free`, which is registered as a tool or, if `is_late`, listed only during the run.
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

/// Names that are similar to `free`.
const STRANGE: [&str; 5] = ["nosuch", "Free", "fre\u{435}", "toys.free", "free "];

fn request(name: &str) -> RunRequest {
    RunRequest::new("worker", payload(0)).with_approval_of([name])
}

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
    assert_eq!(error, "an approval list has `nosuch`, and there is no such tool; there is `free`");
    assert!(runtime.run(request("free")).await.unwrap().suspended().is_some());
}

fn failure_code(outcome: &RunOutcome) -> Option<String> {
    outcome.result().unwrap_err().code.map(Into::into)
}

/// H6: if tools are listed only during the run, the run fails before the planner is asked.
#[tokio::test]
async fn h6_an_approval_list_without_a_listed_tool_fails_the_run_before_any_call() {
    let runtime = Runtime::new(worker(true));
    for name in STRANGE {
        let outcome = runtime.run(request(name)).await.unwrap();
        assert_eq!(failure_code(&outcome).as_deref(), Some("unknown_approval"), "{name}");
        assert_eq!(outcome.calls().count(), 0);
    }
    assert!(runtime.run(request("free")).await.unwrap().suspended().is_some());
}

#[tokio::test]
async fn h6_an_unknown_tool_in_the_approval_list_of_an_agent_fails_the_run_before_any_call() {
    let registry = Registry::new();
    let free = tool("free", |n| n);
    registry.register_toolset("toys", move |_: Scope| free.clone()).unwrap();
    let agent = Agent::new("worker", "lab").with_toolsets(["toys"]).with_approval_of(["fre"]);
    registry.register_agent(agent, steps(vec![vec![call("free", "a", 1)]])).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(failure_code(&outcome).as_deref(), Some("unknown_approval"));
}

/// H6: the tool is published with a prefix.
#[tokio::test]
async fn h6_an_approval_list_may_use_the_published_name_or_the_spec_name() {
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

/// H6: the list is that of the host or of the agent.
#[tokio::test]
async fn h6_an_approval_list_may_use_every_earlier_name_of_a_tool() {
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

/// Asserts that a call of a tool of a toolset published as `x` waits if an approval list has `name`.
async fn assert_asked<T: Toolset + 'static>(toolset: impl Fn() -> T, tool: &str, name: &str) {
    for [host, agent] in [[Some(name), None], [None, Some(name)]] {
        let registry = Registry::new();
        registry.register_toolset("toys", toolset()).unwrap();
        let catalog = registry.catalog();
        catalog.publish("toys", "x").unwrap();
        catalog.allow("worker", "toys").unwrap();
        // The approval list of an agent may only have tools of the agent, so it lists the tool. In its runs the tool has no
        // prefix.
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

/// H6: the run itself has no such tool.
#[tokio::test]
async fn h6_an_approval_list_may_name_tools_of_child_runs() {
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

#[tokio::test]
async fn h6_an_approval_list_may_use_catalog_names_of_tools_of_child_runs() {
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

/// A runtime with an agent that makes these calls, and may use `x.free` in runs and sessions.
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
