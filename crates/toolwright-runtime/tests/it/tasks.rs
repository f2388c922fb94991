//! Calls that a layer moves to tasks of their own: depth, approver and suspended runs travel with the call.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use toolwright::{Outcome, Tool, ToolSpec};
use toolwright_runtime::approval::ApproveAll;
use toolwright_runtime::execute::{Invocation, OutcomeFuture};
use toolwright_runtime::{
    AgentSpec, Collector, Execute, Registry, RunRequest, Runtime, RuntimeBuilder, SuspendedRun,
};
use tower::{Layer, Service};

use crate::approvals::nested;
use crate::planners::{briefs, steps};
use crate::tools::{Log, Recurse, call, payload, stand_registry};

static RECURSE: &[&ToolSpec] = &[Recurse::SPEC];
static RECURSIVE: AgentSpec =
    AgentSpec { exports: RECURSE, tools: RECURSE, ..AgentSpec::new("recursive", "lab") };

/// Runs each call on a task of its own.
#[derive(Clone)]
struct Spawned<S>(S);

struct Spawning;

impl<S> Layer<S> for Spawning {
    type Service = Spawned<S>;

    fn layer(&self, inner: S) -> Spawned<S> {
        Spawned(inner)
    }
}

impl<S> Service<Invocation> for Spawned<S>
where
    S: Service<Invocation, Response = Outcome, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Outcome;
    type Error = Infallible;
    type Future = OutcomeFuture;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, invocation: Invocation) -> OutcomeFuture {
        let running = tokio::spawn(self.0.call(invocation));
        Box::pin(async move { running.await.expect("nobody aborts the task") })
    }
}

fn spawning(registry: Registry) -> RuntimeBuilder {
    Runtime::builder(registry).with_execute(Execute::new(Spawning))
}

fn kinds(collector: &Collector) -> Vec<&'static str> {
    collector.events().iter().map(|event| event.kind.as_str()).collect()
}

#[tokio::test]
async fn a_tool_runs_on_another_task() {
    let own = Collector::new();
    let runtime = spawning(stand_registry().0).with_events(own.clone()).build();
    let result = runtime.call(call("echo", "a", 1)).await;
    assert_eq!(result.as_result(), Ok(&payload(1)));
    assert_eq!(kinds(&own), ["tool_call_scheduled", "tool_result_received"]);
}

#[tokio::test]
async fn an_agent_that_calls_itself_on_other_tasks_is_stopped_at_the_same_depth() {
    let all = Collector::new();
    let mut registry = Registry::new();
    registry.register_agent(&RECURSIVE, steps(vec![vec![call("recurse", "a", 1)]])).unwrap();
    let runtime = spawning(registry).with_events(all.clone()).build();
    let outcome = runtime.run(RunRequest::new("recursive", payload(0))).await.unwrap();
    assert_eq!(outcome.result(), Ok(payload(0)));
    let runs = kinds(&all).iter().filter(|kind| **kind == "run_started").count();
    assert_eq!(runs, 17, "the first run and sixteen below it");
}

#[tokio::test]
async fn an_agent_on_another_task_asks_the_approver_of_the_run() {
    let log = Log::default();
    let runtime = spawning(nested(&log)).build();
    let request = RunRequest::new("parent", payload(0)).with_approver(Arc::new(ApproveAll));
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#]);
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
}

#[tokio::test]
async fn an_agent_on_another_task_is_suspended_and_goes_on() {
    let (log, all) = (Log::default(), Collector::new());
    let runtime = spawning(nested(&log)).build();
    let outcome = runtime.run(RunRequest::new("parent", payload(0))).await.unwrap();
    let text = serde_json::to_string(outcome.suspended().expect("the child waits")).unwrap();
    let restored: SuspendedRun = serde_json::from_str(&text).unwrap();
    let elsewhere = spawning(nested(&log)).with_events(all.clone()).build();
    let answers = restored.pending().iter().map(|asked| asked.approve()).collect();
    let outcome = elsewhere.resume(&restored, answers, None).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#]);
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
    let resumed = kinds(&all).iter().filter(|kind| **kind == "run_resumed").count();
    assert_eq!(resumed, 2, "the parent and its child");
}
