//! Runs that answer calls: their time, their attempts, the hooks around them, and what becomes of calls beside one that
//! waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use toolwright::spec::CallLimits;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure, ToolSpec,
};
use toolwright_runtime::{
    Agent, Collector, Event, EventKind, Hook, Hooks, Planner, Registry, ResumeRequest, RunRequest,
    Runtime, Step, Turn,
};

use crate::approvals::{guarded, nested};
use crate::planners::{briefs, rule, steps};
use crate::tools::{Log, N, call, payload};
use crate::toys::{spec, tool};

/// A registry whose agent `boss` calls `job` once, which runs of `clerk` answer within limits.
fn registry(limits: CallLimits, clerk: Arc<dyn Planner>) -> Registry {
    let registry = Registry::new();
    let job = ToolSpec::new("job").with_toolset("jobs").with_limits(limits);
    let implements = Agent::new("clerk", "lab").implementing(job.with_types::<N, N>());
    registry.register_agent(implements, clerk).unwrap();
    let boss = Agent::new("boss", "lab").with_tools(["job"]);
    registry.register_agent(boss, steps(vec![vec![call("job", "a", 1)]])).unwrap();
    registry
}

/// Never comes to a step.
struct Endless;

impl Planner for Endless {
    fn plan<'a>(&'a self, _: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn an_agents_run_ends_with_the_time_of_the_tool_it_answers() {
    let limits = CallLimits { timeout: Some(Duration::from_secs(7)), ..CallLimits::UNLIMITED };
    let runtime = Runtime::new(registry(limits, Arc::new(Endless)));
    let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    let failure = outcome.exchanges().next().unwrap().result.outcome.clone().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert_eq!(failure.message, "`job` took longer than its limit of 7s");
}

#[tokio::test(start_paused = true)]
async fn an_agents_run_has_the_attempts_of_the_tool_it_answers() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let clerk = rule(move |turn| {
        if counted.fetch_add(1, Ordering::SeqCst) < 2 {
            let failure = ToolFailure::new(FailureKind::Unavailable, "not now", Recovery::Retry);
            return Err(failure.into());
        }
        Ok(Step::Finish(turn.input().clone()))
    });
    let limits = CallLimits { attempts: Some(3), ..CallLimits::UNLIMITED };
    let all = Collector::new();
    let runtime = Runtime::builder(registry(limits, clerk)).with_events(all.clone()).build();
    let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#]);
    let attempts: Vec<_> = all
        .events()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::ToolCallRetried { attempt, .. } => Some(*attempt),
            _ => None,
        })
        .collect();
    assert_eq!(attempts, [1, 2]);
}

/// Logs what passes.
struct Passing(Log);

impl Hook for Passing {
    fn name(&self) -> &'static str {
        "log"
    }

    fn before<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
        self.0.push(format!("before {}", call.tool()));
        Box::pin(std::future::ready(Ok(call.args().clone())))
    }

    fn after<'a>(
        &'a self,
        call: &'a ToolCall,
        outcome: Outcome,
    ) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        self.0.push(format!("after {}: {}", call.tool(), outcome.is_ok()));
        Box::pin(std::future::ready(Ok(outcome)))
    }
}

/// H1, H6: a run that waits is no outcome, so the hooks after its call run once, when there is one.
#[tokio::test]
async fn hooks_run_once_around_a_call_whose_run_waited_meanwhile() {
    let log = Log::default();
    let hooks = Hooks::new().with_for("delegate", Passing(log.clone()));
    let runtime = Runtime::builder(nested(&log)).with_hooks(hooks).build();
    let outcome = runtime.run(RunRequest::new("parent", payload(0))).await.unwrap();
    assert_eq!(log.lines(), ["before delegate"]);
    let run = outcome.suspended().unwrap();
    let answers = [run.pending()[0].approve()];
    runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
    assert_eq!(log.lines(), ["before delegate", r#"wiped {"n":3}"#, "after delegate: true"]);
}

/// A registry whose agent makes one step of calls over `wipe` (guarded) and `last` (a barrier).
fn guarded_step(calls: Vec<ToolCall>, log: &Log) -> Registry {
    let registry = Registry::new();
    registry.register_tool(guarded(log)).unwrap();
    let limits = CallLimits { sequential: true, ..CallLimits::UNLIMITED };
    let last = log.clone();
    let barrier = move |args: N| {
        last.push(format!("last {}", args.n));
        async move { Ok::<_, ToolFailure>(args) }
    };
    let barrier = toolwright_runtime::FunctionTool::new(spec("last").with_limits(limits), barrier);
    registry.register_tool(barrier).unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["wipe", "last"]);
    registry.register_agent(agent, steps(vec![calls])).unwrap();
    registry
}

/// A call whose id was used before is refused at once, even where a barrier keeps its siblings waiting.
#[tokio::test]
async fn a_refused_call_does_not_run_after_its_run_was_resumed() {
    let log = Log::default();
    let calls = vec![call("wipe", "a", 1), call("last", "a", 2), call("last", "b", 3)];
    let runtime = Runtime::new(guarded_step(calls, &log));
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    let answers = [run.pending()[0].approve()];
    let outcome = runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "invalid_call", r#"{"n":3}"#]);
    assert_eq!(log.lines(), [r#"wiped {"n":1}"#, "last 3"]);
}

fn balance(events: &[Event]) -> i64 {
    let weight = |event: &Event| match event.kind {
        EventKind::ToolCallScheduled { .. } => 1,
        EventKind::ToolResultReceived { .. } => -1,
        _ => 0,
    };
    events.iter().map(weight).sum()
}

/// G31: a call that was announced has one end, even where its tool is gone when its run goes on.
#[tokio::test]
async fn a_call_whose_tool_is_gone_when_its_run_goes_on_still_ends() {
    let (log, before, after) = (Log::default(), Collector::new(), Collector::new());
    let runtime = Runtime::builder(nested(&log)).with_events(before.clone()).build();
    let outcome = runtime.run(RunRequest::new("parent", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    assert_eq!(balance(&before.events()), 1, "the call of the agent is open");
    let elsewhere = Registry::new();
    elsewhere.register_toolset("delegating", tool("other", |n| n)).unwrap();
    let parent = Agent::new("parent", "lab").with_toolsets(["delegating"]);
    elsewhere.register_agent(parent, steps(vec![Vec::new()])).unwrap();
    let runtime = Runtime::builder(elsewhere).with_events(after.clone()).build();
    let answers = [run.pending()[0].approve()];
    let outcome = runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), ["not_found"]);
    assert_eq!(balance(&after.events()), -1, "and was closed");
}
