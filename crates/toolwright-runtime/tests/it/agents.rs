//! Agents that implement tools: input, result, scope and depth of their runs.

use std::sync::Arc;

use toolwright::{FailureKind, Payload, Registrar, Tool, ToolSpec};
use toolwright_runtime::{AgentSpec, Collector, EventKind, Registry, RunRequest, Runtime, Step};

use crate::planners::{brief, rule, steps};
use crate::tools::{Recurse, Think, call, payload};

static THINK: &[&ToolSpec] = &[Think::SPEC];
static THINKER: AgentSpec = AgentSpec { exports: THINK, ..AgentSpec::new("thinker", "lab") };

static RECURSE: &[&ToolSpec] = &[Recurse::SPEC];
static RECURSIVE: AgentSpec =
    AgentSpec { exports: RECURSE, tools: RECURSE, ..AgentSpec::new("recursive", "lab") };

/// G22: the child run's input is the call's arguments, and its payload the call's result.
#[tokio::test]
async fn g22_an_agent_answers_calls_of_its_tool() {
    let registry = Registry::new();
    let planner = rule(|turn| {
        assert_eq!(turn.implements().map(ToolSpec::name), Some("think"));
        assert_eq!(turn.scope().parent_call_id.as_deref(), Some("a"));
        assert_eq!(turn.scope().run_id.as_deref(), Some(turn.run_id()));
        Ok(Step::Finish(turn.input().clone()))
    });
    registry.register_agent(&THINKER, planner).unwrap();
    let result = Runtime::new(registry).call(call("think", "a", 42)).await;
    assert_eq!(result.outcome.as_ref(), Ok(&payload(42)));
}

#[tokio::test]
async fn g22_the_final_payload_must_match_the_result_schema_of_the_tool() {
    let all = Collector::new();
    let registry = Registry::new();
    let planner = rule(|_| Ok(Step::Finish(Payload::new(r#"{"n": null}"#))));
    registry.register_agent(&THINKER, planner).unwrap();
    let result = Runtime::builder(registry)
        .with_events(all.clone())
        .build()
        .call(call("think", "a", 1))
        .await;
    assert_eq!(brief(&result), "malformed_result");
    let is_published = all.events().into_iter().any(|event| {
        matches!(event.kind, EventKind::RunFinished { result: Err(failure), .. }
            if failure.kind == FailureKind::MalformedResult)
    });
    assert!(is_published, "the child run failed too");
}

/// G22, I2: each of the runs has its own history and id.
#[tokio::test]
async fn g22_an_agent_may_call_itself() {
    let registry = Registry::new();
    let planner = rule(|turn| {
        let n: i64 = turn.input().as_str()[5..6].parse()?;
        Ok(match turn.last_results().next() {
            Some(result) => Step::Finish(result.outcome.as_ref().map_err(Clone::clone)?.clone()),
            None if n == 0 => Step::Finish(payload(100)),
            None => Step::call([call("recurse", "same", n - 1)]),
        })
    });
    registry.register_agent(&RECURSIVE, planner).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("recursive", payload(3))).await;
    assert_eq!(outcome.unwrap().result(), Ok(payload(100)));
}

#[tokio::test]
async fn an_agent_that_calls_itself_without_end_is_stopped() {
    let all = Collector::new();
    let registry = Registry::new();
    registry.register_agent(&RECURSIVE, steps(vec![vec![call("recurse", "a", 1)]])).unwrap();
    let runtime = Runtime::builder(registry).with_events(all.clone()).build();
    let outcome = runtime.run(RunRequest::new("recursive", payload(0))).await.unwrap();
    assert_eq!(outcome.result(), Ok(payload(0)));
    let runs = all.events().iter().filter(|event| event.kind.as_str() == "run_started").count();
    assert_eq!(runs, 11, "the first run and ten below it");
}

#[tokio::test]
async fn a_runtime_is_an_executor_for_another_registry() {
    let inner = Registry::new();
    let planner = rule(|turn| Ok(Step::Finish(turn.input().clone())));
    inner.register_agent(&THINKER, planner).unwrap();
    let mut outer = Registry::new();
    outer.register(THINK, Arc::new(Runtime::new(inner))).unwrap();
    let result = Runtime::new(outer).call(call("think", "a", 5)).await;
    assert_eq!(result.outcome.as_ref(), Ok(&payload(5)));
}

#[tokio::test]
async fn a_dropped_runtime_drops_its_tools() {
    let held = Arc::new(());
    let watch = Arc::downgrade(&held);
    let registry = Registry::new();
    let planner = rule(move |_| {
        let _ = &held;
        Ok(Step::Finish(payload(0)))
    });
    registry.register_agent(&THINKER, planner).unwrap();
    drop(Runtime::new(registry));
    assert!(watch.upgrade().is_none(), "agent and runtime hold each other");
}
