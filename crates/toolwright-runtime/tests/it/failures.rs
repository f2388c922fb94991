//! Failures of calls, planners and toolsets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolwright::spec::{Approval, CallLimits};
use toolwright::{
    BoxError, BoxFuture, FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
    ToolSpec,
};
use toolwright_runtime::{
    Agent, FunctionTool, Registry, ResumeRequest, RunRequest, Runtime, Step, ToolEntry, Toolset,
};

use crate::planners::{WORKER, brief, briefs, rule, run, steps};
use crate::tools::{call, payload, test_registry};
use crate::toys::tool;

async fn failure_of(call: ToolCall) -> ToolFailure {
    let (registry, _) = test_registry();
    match Runtime::new(registry).call(call).await.outcome {
        Err(failure) => failure,
        Ok(payload) => panic!("succeeded with {payload}"),
    }
}

#[tokio::test(start_paused = true)]
async fn g28_each_failure_has_its_kind_and_recovery() {
    let cases = [
        (call("missing", "a", 1), "not_found", "replan"),
        (ToolCall::new("echo", Payload::new(r#"{"m": 1}"#)), "invalid_call", "correct_call"),
        (ToolCall::new("echo", Payload::new("{")), "invalid_call", "correct_call"),
        (call("refuse", "a", 1), "domain_rejection", "replan"),
        (call("hang", "a", 1), "timeout", "replan"),
        (call("lie", "a", 1), "malformed_result", "replan"),
        (call("panic", "a", 1), "internal", "replan"),
    ];
    for (call, kind, recovery) in cases {
        let what = format!("{} {}", call.tool(), call.args());
        let failure = failure_of(call).await;
        assert_eq!((failure.kind.as_str(), failure.recovery.as_str()), (kind, recovery), "{what}");
    }
}

#[tokio::test]
async fn failed_calls_are_results_and_other_calls_keep_their_results() {
    let calls = vec![call("panic", "a", 1), call("echo", "b", 2), call("lie", "c", 3)];
    let outcome = run(&WORKER, steps(vec![calls])).await;
    assert_eq!(briefs(&outcome), ["internal", r#"{"n":2}"#, "malformed_result"]);
    assert_eq!(outcome.result(), Ok(payload(0)));
}

#[tokio::test]
async fn invalid_arguments_never_reach_the_executor() {
    let (registry, log) = test_registry();
    let call = ToolCall::new("slow", Payload::new(r#"{"n": 1.5}"#));
    let result = Runtime::new(registry).call(call).await;
    let Err(failure) = result.outcome.as_ref() else { panic!("it ran") };
    let Recovery::CorrectCall(correction) = &failure.recovery else { panic!("no correction") };
    let issues = correction.issues.as_ref().unwrap();
    assert_eq!(issues.issues()[0].pointer(), "/n");
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_call_over_its_time_limit_is_dropped() {
    let (registry, log) = test_registry();
    let result = Runtime::new(registry).call(call("hang", "a", 1)).await;
    assert_eq!(brief(&result), "timeout");
    assert_eq!(log.lines(), ["dropped"]);
}

#[tokio::test]
async fn the_message_of_a_panic_is_for_operators_only() {
    let failure = failure_of(call("panic", "a", 1)).await;
    assert!(!failure.message.contains("paper"));
    assert_eq!(failure.detail.as_deref(), Some("the executor panicked: out of paper"));
}

#[tokio::test]
async fn a_tool_that_the_agent_may_not_use_is_not_found() {
    static NARROW: toolwright_runtime::AgentSpec = toolwright_runtime::AgentSpec {
        tools: &[<crate::tools::Echo as toolwright::Tool>::SPEC],
        ..toolwright_runtime::AgentSpec::new("narrow", "lab")
    };
    let outcome = run(&NARROW, steps(vec![vec![call("slow", "a", 1)]])).await;
    let failure = outcome.calls().next().unwrap().result.outcome.as_ref().unwrap_err().clone();
    assert_eq!(failure.kind, FailureKind::NotFound);
    assert_eq!(failure.message, "there is no tool `slow`, there is `echo`");
}

#[tokio::test]
async fn a_call_id_used_before_in_the_run_is_refused() {
    let first = vec![call("echo", "a", 1), call("echo", "a", 2)];
    let outcome = run(&WORKER, steps(vec![first, vec![call("echo", "a", 3)]])).await;
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "invalid_call", "invalid_call"]);
}

#[tokio::test]
async fn the_error_of_a_planner_ends_the_run_and_is_for_operators_only() {
    let outcome = run(&WORKER, rule(|_| Err("no credit left".into()))).await;
    let failure = outcome.result().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Internal);
    assert_eq!(failure.message, "agent `worker` could not go on");
    assert_eq!(failure.detail.as_deref(), Some("no credit left"));
}

#[tokio::test]
async fn a_planner_may_end_the_run_with_a_failure_of_its_own() {
    let own = ToolFailure::declared("no_plan", "There is no plan.", Recovery::Finish);
    let given = own.clone();
    let outcome = run(&WORKER, rule(move |_| Err(given.clone().into()))).await;
    assert_eq!(outcome.result(), Err(own));
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn what_panics_when_it_is_dropped_fails_only_its_call() {
    let limits = CallLimits { timeout: Some(Duration::from_secs(1)), ..CallLimits::default() };
    let spec = |name: &'static str| ToolSpec::new(name).with_limits(limits);
    let carried =
        FunctionTool::new(spec("carried"), async || -> bool { std::panic::panic_any(Bomb) });
    let captured = FunctionTool::new(spec("captured"), || {
        let bomb = Bomb;
        async move {
            std::future::pending::<()>().await;
            drop(bomb);
            true
        }
    });
    let registry = Registry::new();
    registry.register_tool(carried).unwrap();
    registry.register_tool(captured).unwrap();
    let of = |tool: &str| ToolCall::new(tool.to_owned(), Payload::new("{}"));
    let planner = steps(vec![vec![of("carried")], vec![of("captured")]]);
    registry
        .register_agent(Agent::new("worker", "lab").with_tools(["carried", "captured"]), planner)
        .unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("worker", payload(1))).await.unwrap();
    assert_eq!(briefs(&outcome), ["internal", "timeout"]);
    assert!(outcome.result().is_ok());
}

/// A toolset without tools that counts its exits. With a bomb, it fails to exit instead, and panics when it is dropped.
struct Exiting {
    exits: Arc<AtomicUsize>,
    bomb: Option<Bomb>,
}

impl Toolset for Exiting {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        call.not_found(&[])
    }

    fn exit<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        let exited = if self.bomb.is_some() {
            Err(Unspeakable.into())
        } else {
            self.exits.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        Box::pin(std::future::ready(exited))
    }
}

#[tokio::test]
async fn a_run_whose_toolset_panics_in_odd_places_exits_the_others_and_keeps_its_outcome() {
    let (registry, _) = test_registry();
    let exits = Arc::new(AtomicUsize::new(0));
    for name in ["a", "b", "c"] {
        let exits = Arc::clone(&exits);
        let toolset =
            move |_| Exiting { exits: Arc::clone(&exits), bomb: (name == "b").then(|| Bomb) };
        registry.register_toolset(name, toolset).unwrap();
    }
    let agent = Agent::new("worker", "lab").with_tools(["echo"]).with_toolsets(["a", "b", "c"]);
    registry.register_agent(agent, steps(vec![vec![call("echo", "a", 1)]])).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("worker", payload(1))).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#]);
    assert!(outcome.result().is_ok());
    assert_eq!(exits.load(Ordering::Relaxed), 2);
}

/// An error that cannot be displayed.
#[derive(Debug)]
struct Unspeakable;

impl std::fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no words")
    }
}

impl std::error::Error for Unspeakable {}

#[tokio::test]
async fn a_run_whose_planner_fails_with_an_error_that_panics_keeps_its_steps() {
    let planner = rule(|turn| match turn.step() {
        0 => Ok(Step::call([call("echo", "a", 1)])),
        _ => Err(Unspeakable.into()),
    });
    let outcome = run(&WORKER, planner).await;
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#]);
    let failure = outcome.result().unwrap_err();
    assert_eq!(failure.detail.as_deref(), Some("the run panicked: no words"));
}

#[tokio::test]
async fn a_planner_that_panics_or_asks_for_nothing_ends_the_run() {
    let panics = run(&WORKER, rule(|_| panic!("lost the thread"))).await.result().unwrap_err();
    assert_eq!(panics.message, "agent `worker` could not go on");
    assert_eq!(panics.detail.as_deref(), Some("the planner panicked: lost the thread"));
    let idle = run(&WORKER, rule(|_| Ok(Step::call([])))).await.result().unwrap_err();
    assert_eq!(idle.detail.as_deref(), Some("the planner returned a step without calls"));
}

/// A toolset that panics in one of its methods.
#[derive(Clone, Copy)]
struct Panicking(&'static str);

impl Panicking {
    fn reach(self, method: &str) {
        assert!(self.0 != method, "out of paper");
    }
}

impl Toolset for Panicking {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.reach("tools");
        Box::pin(async move {
            let tool = tool("own", |n| n);
            Ok(vec![tool.tools(scope).await?.remove(0).requiring_approval(Approval::default())])
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        call.not_found(&[])
    }

    fn enter<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        self.reach("enter");
        Box::pin(std::future::ready(Ok(())))
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        self.reach("save");
        Box::pin(std::future::ready(Ok(Some(payload(1)))))
    }

    fn restore<'a>(&'a self, _: &'a Scope, _: &'a Payload) -> BoxFuture<'a, Result<(), BoxError>> {
        self.reach("restore");
        Box::pin(std::future::ready(Ok(())))
    }

    fn open_handles(&self) -> Vec<String> {
        self.reach("open_handles");
        Vec::new()
    }

    fn instructions<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Option<String>> {
        self.reach("instructions");
        Box::pin(std::future::ready(None))
    }

    fn is_available(&self, _: &str) -> bool {
        self.reach("is_available");
        true
    }
}

/// The run fails if it needs the method. Runs, sessions and calls never panic.
#[tokio::test]
async fn a_panic_in_any_method_of_a_toolset_is_a_failure() {
    for (method, fails) in [
        ("enter", true),
        ("tools", true),
        ("save", true),
        ("restore", true),
        ("open_handles", false),
        ("instructions", false),
        ("is_available", false),
    ] {
        let registry = Registry::new();
        registry.register_toolset("panicking", Panicking(method)).unwrap();
        let agent = Agent::new("worker", "lab").with_toolsets(["panicking"]);
        registry.register_agent(agent, steps(vec![vec![call("own", "a", 1)]])).unwrap();
        let catalog = registry.catalog();
        catalog.publish("panicking", "x").unwrap();
        catalog.allow("worker", "panicking").unwrap();
        let runtime = Runtime::builder(registry).with_catalog(catalog).build();
        let mut outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
        if let Some(waiting) = outcome.suspended() {
            let yes = waiting.pending()[0].approve();
            outcome = runtime.resume(ResumeRequest::new(waiting, [yes])).await.unwrap();
        }
        assert_eq!(outcome.result().is_err(), fails, "{method}: {outcome:?}");
        if let Err(failure) = outcome.result() {
            let detail = failure.detail.unwrap();
            assert!(detail.starts_with("toolset `panicking` panicked while it "), "{detail}");
        }
        if let Ok(session) = runtime.open_session("worker").await {
            assert!(session.call(call("x.own", "b", 1)).await.outcome.is_err());
        }
    }
    let (registry, _) = test_registry();
    registry.set_availability("echo", || panic!("out of paper")).unwrap();
    let failure = Runtime::new(registry).call(call("echo", "c", 1)).await.outcome.unwrap_err();
    assert_eq!(failure.detail.as_deref(), Some("the toolset panicked: out of paper"));
}
