//! Layers that run calls on other tasks: depth, approver and suspended runs are kept.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use toolwright::{BoxFuture, Executor, Outcome, Registrar, Tool, ToolCall, ToolResult, ToolSpec};
use toolwright_runtime::execute::Invocation;
use toolwright_runtime::{
    Agent, AgentSpec, ApprovalRequest, Collector, ExecutionService, FunctionTool, Planner,
    Registry, ResumeRequest, RunRequest, Runtime, RuntimeBuilder, Step, Verdict,
};
use tower::{Layer, Service};

use crate::approvals::nested;
use crate::planners::{briefs, rule};
use crate::sealed::key;
use crate::tools::{Log, N, Recurse, Think, call, payload, test_registry};
use crate::toys::spec;

static THINK: &[&ToolSpec] = &[Think::SPEC];
static RECURSE: &[&ToolSpec] = &[Recurse::SPEC];
static RECURSIVE: AgentSpec =
    AgentSpec { exports: RECURSE, tools: RECURSE, ..AgentSpec::new("recursive", "lab") };

/// A layer that runs each call on its own task.
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
    type Future = BoxFuture<'static, Result<Outcome, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, invocation: Invocation) -> Self::Future {
        let running = tokio::spawn(self.0.call(invocation));
        Box::pin(async move { running.await.expect("the task is not aborted") })
    }
}

fn spawning(registry: Registry) -> RuntimeBuilder {
    Runtime::builder(registry).with_execution_service(ExecutionService::new(Spawning))
}

/// Calls a tool once in each run, and counts the runs. It stops at a large depth, so that the test ends.
fn calling(tool: &'static str, runs: &Arc<AtomicU32>) -> Arc<dyn Planner> {
    let runs = Arc::clone(runs);
    rule(move |turn| {
        if turn.step() == 0 && runs.fetch_add(1, Ordering::Relaxed) < 40 {
            return Ok(Step::call([call(tool, "a", 1)]));
        }
        Ok(Step::Finish(payload(0)))
    })
}

/// An executor that is set later.
struct Elsewhere(Arc<OnceLock<Runtime>>);

impl Executor for Elsewhere {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.get().unwrap().execute(call)
    }
}

fn kinds(collector: &Collector) -> Vec<&'static str> {
    collector.events().iter().map(|event| event.kind.as_str()).collect()
}

#[tokio::test]
async fn a_tool_runs_on_another_task() {
    let own = Collector::new();
    let runtime = spawning(test_registry().0).with_events(own.clone()).build();
    let result = runtime.call(call("echo", "a", 1)).await;
    assert_eq!(result.outcome.as_ref(), Ok(&payload(1)));
    assert_eq!(kinds(&own), ["tool_call_scheduled", "tool_result_received"]);
}

#[tokio::test]
async fn an_agent_that_calls_itself_on_other_tasks_is_stopped_at_the_same_depth() {
    let all = Collector::new();
    let registry = Registry::new();
    registry.register_agent(&RECURSIVE, calling("recurse", &Arc::default())).unwrap();
    let runtime = spawning(registry).with_events(all.clone()).build();
    let outcome = runtime.run(RunRequest::new("recursive", payload(0))).await.unwrap();
    assert_eq!(outcome.result(), Ok(payload(0)));
    let runs = kinds(&all).iter().filter(|kind| **kind == "run_started").count();
    assert_eq!(runs, 11, "the first run and ten below it");
}

/// The depth is part of the call's scope.
#[tokio::test]
async fn agents_of_two_runtimes_that_call_each_other_are_stopped_at_the_same_depth() {
    let runs = Arc::default();
    let there: Arc<OnceLock<Runtime>> = Arc::default();
    let mut here = Registry::new();
    here.register(THINK, Arc::new(Elsewhere(Arc::clone(&there)))).unwrap();
    let calls_think = Agent::new("recursive", "lab").with_implements(Recurse::SPEC);
    here.register_agent(calls_think.with_tools(["think"]), calling("think", &runs)).unwrap();
    let here = spawning(here).build();
    let mut other = Registry::new();
    other.register(RECURSE, Arc::new(here.clone())).unwrap();
    let calls_recurse = Agent::new("thinker", "lab").with_implements(Think::SPEC);
    other.register_agent(calls_recurse.with_tools(["recurse"]), calling("recurse", &runs)).unwrap();
    assert!(there.set(spawning(other).build()).is_ok());
    here.run(RunRequest::new("recursive", payload(0))).await.unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 11);
}

/// The tool starts its runs on behalf of its call.
#[tokio::test]
async fn a_tool_that_runs_its_own_agent_is_stopped_at_the_same_depth() {
    let runs = Arc::default();
    let link: Arc<OnceLock<Runtime>> = Arc::default();
    let started = Arc::clone(&link);
    let start = spec("start");
    let start = FunctionTool::new(start, move |args: N, call: ToolCall| {
        let runtime = started.get().unwrap().clone();
        async move {
            let request = RunRequest::new("starter", payload(args.n)).on_behalf_of(&call);
            runtime.run(request).await.unwrap().result()?;
            Ok::<_, toolwright::ToolFailure>(args)
        }
    });
    let registry = Registry::new();
    registry.register_tool(start).unwrap();
    let agent = Agent::new("starter", "lab").with_tools(["start"]);
    registry.register_agent(agent, calling("start", &runs)).unwrap();
    assert!(link.set(spawning(registry).build()).is_ok());
    link.get().unwrap().run(RunRequest::new("starter", payload(0))).await.unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 11);
}

#[tokio::test]
async fn an_agent_on_another_task_asks_the_approver_of_the_run() {
    let log = Log::default();
    let runtime = spawning(nested(&log)).build();
    let request = RunRequest::new("parent", payload(0))
        .with_approver(Arc::new(|_: &ApprovalRequest| Verdict::Approve));
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#]);
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
}

#[tokio::test]
async fn an_agent_on_another_task_is_suspended_and_resumed() {
    let (log, all) = (Log::default(), Collector::new());
    let runtime = spawning(nested(&log)).with_seal_keys([key()]).build();
    let outcome = runtime.run(RunRequest::new("parent", payload(0))).await.unwrap();
    let text = runtime.export(outcome.suspended().expect("the child waits")).await.unwrap();
    let elsewhere = spawning(nested(&log)).with_seal_keys([key()]);
    let elsewhere = elsewhere.with_events(all.clone()).build();
    let restored = elsewhere.restore(&text).await.unwrap();
    let answers: Vec<_> = restored.pending().iter().map(|question| question.approve()).collect();
    let outcome = elsewhere.resume(ResumeRequest::new(&restored, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#]);
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
    let resumed = kinds(&all).iter().filter(|kind| **kind == "run_resumed").count();
    assert_eq!(resumed, 2, "the parent and its child");
}
