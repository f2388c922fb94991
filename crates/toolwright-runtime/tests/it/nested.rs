//! Child runs, which implement calls: time limits, attempts, hooks, and suspension.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use toolwright::spec::{CallLimits, ToolAnnotations};
use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure, ToolSpec,
};
use toolwright_runtime::{
    Agent, ApprovalRequest, Collector, Event, EventKind, FunctionTool, Hook, Hooks, Planner,
    Registry, ResumeRequest, RunRequest, Runtime, Step, Turn,
};

use crate::approvals::{guarded, nested};
use crate::planners::{briefs, rule, steps};
use crate::tools::{Log, N, call, payload};
use crate::toys::{spec, tool};

/// A registry with an agent `boss`, which calls `job` once. `clerk` implements it with these limits.
fn registry(limits: CallLimits, clerk: Arc<dyn Planner>) -> Registry {
    registry_of(limits, clerk, None)
}

/// The same, where `clerk` may have a tool.
fn registry_of(
    limits: CallLimits,
    clerk: Arc<dyn Planner>,
    tool: Option<FunctionTool>,
) -> Registry {
    let registry = Registry::new();
    let tools: Vec<_> = tool.iter().map(|tool| tool.entry().name().to_owned()).collect();
    registry.register_tools(tool).unwrap();
    let job = ToolSpec::new("job").with_toolset("jobs").with_limits(limits);
    let implements =
        Agent::new("clerk", "lab").with_implements(job.with_types::<N, N>()).with_tools(tools);
    registry.register_agent(implements, clerk).unwrap();
    let boss = Agent::new("boss", "lab").with_tools(["job"]);
    registry.register_agent(boss, steps(vec![vec![call("job", "a", 1)]])).unwrap();
    registry
}

/// Never returns a step.
struct Endless;

impl Planner for Endless {
    fn plan<'a>(&'a self, _: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_of_a_tool_applies_to_the_run_of_its_agent() {
    let limits = CallLimits { timeout: Some(Duration::from_secs(7)), ..CallLimits::UNLIMITED };
    let runtime = Runtime::new(registry(limits, Arc::new(Endless)));
    let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert_eq!(
        failure.message,
        "`job` took longer than its limit of 7s; the call may have taken effect, so find out before calling again"
    );
}

#[tokio::test(start_paused = true)]
async fn the_attempts_of_a_tool_apply_to_the_runs_of_its_agent() {
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
    let started = tokio::time::Instant::now();
    let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#]);
    let (attempts, delays): (Vec<_>, Vec<_>) = retried(&all).into_iter().unzip();
    assert_eq!(attempts, [1, 2]);
    assert!(started.elapsed() >= delays.iter().sum::<Duration>(), "{delays:?}");
}

/// An agent that changes something and then fails is not run again, as its tool is neither read-only nor idempotent.
#[tokio::test(start_paused = true)]
async fn an_attempt_of_an_agent_whose_calls_may_have_taken_effect_is_not_repeated() {
    let log = Log::default();
    let failing = || {
        rule(|turn: &Turn<'_>| match turn.step() {
            0 => Ok(Step::call([call("send", "s", 1)])),
            _ => Err(ToolFailure::new(FailureKind::Unavailable, "not now", Recovery::Retry).into()),
        })
    };
    let limits = CallLimits { attempts: Some(3), ..CallLimits::UNLIMITED };
    let send = |annotations| {
        let log = log.clone();
        FunctionTool::new(spec("send").with_annotations(annotations), move |args: N| {
            log.push("sent");
            std::future::ready(args)
        })
    };
    let read_only = ToolAnnotations { read_only: Some(true), ..ToolAnnotations::UNKNOWN };
    for (annotations, expected, sent) in [
        (ToolAnnotations::UNKNOWN, FailureKind::Internal, 1),
        (read_only, FailureKind::Unavailable, 3),
    ] {
        let before = log.lines().len();
        let registry = registry_of(limits, failing(), Some(send(annotations)));
        let outcome =
            Runtime::new(registry).run(RunRequest::new("boss", payload(0))).await.unwrap();
        let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
        assert_eq!(failure.kind, expected, "{failure}");
        assert_eq!(log.lines().len() - before, sent);
    }
}

/// The tool starts a run of the agent on behalf of its call.
#[tokio::test(start_paused = true)]
async fn an_attempt_of_a_tool_whose_run_may_have_taken_effect_is_not_repeated() {
    let (log, link) = (Log::default(), Arc::<OnceLock<Runtime>>::default());
    let (noted, started) = (log.clone(), Arc::clone(&link));
    let send = tool("send", move |n| {
        noted.push("sent");
        n
    });
    let limits = CallLimits { attempts: Some(3), ..CallLimits::UNLIMITED };
    let start =
        FunctionTool::new(spec("start").with_limits(limits), move |args: N, call: ToolCall| {
            let runtime = started.get().unwrap().clone();
            async move {
                let request = RunRequest::new("clerk", payload(0)).on_behalf_of(&call);
                runtime.run(request).await.unwrap().result()?;
                Ok::<_, ToolFailure>(args)
            }
        });
    let clerk = rule(|turn: &Turn<'_>| match turn.step() {
        0 => Ok(Step::call([call("send", "s", 1)])),
        _ => Err(ToolFailure::new(FailureKind::Unavailable, "not now", Recovery::Retry).into()),
    });
    let registry = Registry::new();
    registry.register_tools([send, start]).unwrap();
    registry.register_agent(Agent::new("clerk", "lab").with_tools(["send"]), clerk).unwrap();
    let runtime = link.get_or_init(|| Runtime::new(registry));
    let failure = runtime.call(call("start", "a", 1)).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Internal, "{failure}");
    assert_eq!(log.lines(), ["sent"]);
}

/// Returns the numbers of the retried attempts with the waits after them.
fn retried(all: &Collector) -> Vec<(u32, Duration)> {
    let attempt = |event: &Event| match event.kind {
        EventKind::ToolCallRetried { attempt, delay, .. } => Some((attempt, delay)),
        _ => None,
    };
    all.events().iter().filter_map(attempt).collect()
}

/// Logs arguments and outcomes.
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

/// H1, H6: a suspended run has no outcome yet, so the hooks after the call run when there is one.
#[tokio::test]
async fn hooks_run_once_for_a_call_whose_child_run_was_suspended() {
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

/// Sets the arguments to `{"n":2}`, and logs those that it gets after the call.
struct Setting(Log);

impl Hook for Setting {
    fn name(&self) -> &'static str {
        "setting"
    }

    fn before<'a>(&'a self, _: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
        Box::pin(std::future::ready(Ok(payload(2))))
    }

    fn after<'a>(
        &'a self,
        call: &'a ToolCall,
        outcome: Outcome,
    ) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        self.0.push(format!("after {}", call.args()));
        Box::pin(std::future::ready(Ok(outcome)))
    }
}

/// A registry in which `clerk` calls `wipe` (needs an approval), and then finishes with its input.
fn asking(log: &Log, limits: CallLimits) -> Registry {
    let clerk = rule(|turn| {
        Ok(match turn.step() {
            0 => Step::call([call("wipe", "inner", 3)]),
            _ => Step::Finish(turn.input().clone()),
        })
    });
    asking_by("clerk", clerk, log, limits)
}

/// Does the same as [`registry`], with an agent of this name that may call `wipe` (needs an approval). The tool is idempotent.
pub(crate) fn asking_by(
    name: &str,
    planner: Arc<dyn Planner>,
    log: &Log,
    limits: CallLimits,
) -> Registry {
    let registry = Registry::new();
    registry.register_tool(guarded(log)).unwrap();
    let job = ToolSpec::new("job").with_toolset("jobs").with_limits(limits);
    let idempotent = ToolAnnotations { idempotent: Some(true), ..ToolAnnotations::UNKNOWN };
    let job = job.with_types::<N, N>().with_annotations(idempotent);
    let agent = Agent::new(name, "lab").with_tools(["wipe"]).with_implements(job);
    registry.register_agent(agent, planner).unwrap();
    let boss = Agent::new("boss", "lab").with_tools(["job"]);
    registry.register_agent(boss, steps(vec![vec![call("job", "a", 1)]])).unwrap();
    registry
}

#[tokio::test]
async fn h1_h8_a_resumed_child_run_keeps_the_arguments_that_hooks_changed() {
    let (log, seen) = (Log::default(), Log::default());
    let hooks = Hooks::new().with_for("job", Setting(seen.clone()));
    let registry = asking(&log, CallLimits::UNLIMITED);
    let runtime = Runtime::builder(registry).with_hooks(hooks).build();
    let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    let answers = [run.pending()[0].approve()];
    let outcome = runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":2}"#]);
    assert_eq!(seen.lines(), [r#"after {"n":2}"#]);
}

#[tokio::test]
async fn h8_a_child_run_is_resumed_only_by_its_own_agent() {
    let log = Log::default();
    let limits = CallLimits::UNLIMITED;
    let runtime = Runtime::new(asking(&log, limits));
    let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    let answers = || run.pending().into_iter().map(ApprovalRequest::approve).collect::<Vec<_>>();

    let planned = log.clone();
    let other = rule(move |_| {
        planned.push("other plans");
        Ok(Step::Finish(payload(9)))
    });
    let registry = asking_by("other", other, &log, limits);
    // The old agent is registered, and does not implement `job`.
    let clerk = Agent::new("clerk", "lab").with_tools(["wipe"]);
    registry.register_agent(clerk, steps(vec![])).unwrap();
    let elsewhere = Runtime::new(registry);
    let outcome = elsewhere.resume(ResumeRequest::new(run, answers())).await.unwrap();
    let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
    assert_eq!(failure.message, "the agent that was running `job` no longer implements it");
    assert!(log.lines().is_empty(), "neither agent went on");
}

#[tokio::test(start_paused = true)]
async fn h3_h8_attempts_before_a_suspension_count() {
    let (log, all) = (Log::default(), Collector::new());
    let fails = || ToolFailure::new(FailureKind::Unavailable, "not now", Recovery::Retry);
    let runs = AtomicU32::new(0);
    let clerk = rule(move |turn| match turn.step() {
        0 if runs.fetch_add(1, Ordering::SeqCst) == 1 => Ok(Step::call([call("wipe", "inner", 3)])),
        _ => Err(fails().into()),
    });
    let limits = CallLimits { attempts: Some(3), ..CallLimits::UNLIMITED };
    let registry = asking_by("clerk", clerk, &log, limits);
    let runtime = Runtime::builder(registry).with_events(all.clone()).build();
    let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    let text = runtime.export(outcome.suspended().unwrap()).await.unwrap();
    let run = runtime.restore(&text).await.unwrap();
    let answers = [run.pending()[0].approve()];
    let outcome = runtime.resume(ResumeRequest::new(&run, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), ["unavailable"]);
    assert_eq!(retried(&all).into_iter().map(|(attempt, _)| attempt).collect::<Vec<_>>(), [1, 2]);
}

/// A registry with an agent that makes a step of calls of `wipe` (needs an approval) and `last` (a barrier).
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

/// A call with a duplicate id is refused at once, even if other calls of the step wait for a barrier.
#[tokio::test]
async fn a_refused_call_does_not_run_after_its_run_is_resumed() {
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

#[tokio::test]
async fn a_call_whose_tool_was_removed_during_a_suspension_still_ends() {
    let (log, before, after) = (Log::default(), Collector::new(), Collector::new());
    let runtime = Runtime::builder(nested(&log)).with_events(before.clone()).build();
    let outcome = runtime.run(RunRequest::new("parent", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    assert_eq!(balance(&before.events()), 1, "the call of the agent is open");
    let elsewhere = Registry::new();
    elsewhere.register_toolset("delegating", tool("other", |n| n)).unwrap();
    let parent = Agent::new("parent", "lab").with_toolsets(["delegating"]);
    elsewhere.register_agent(parent, steps(vec![Vec::new()])).unwrap();
    let hooks = Hooks::new().with_for("delegate", Passing(log.clone()));
    let runtime = Runtime::builder(elsewhere).with_hooks(hooks).with_events(after.clone()).build();
    let answers = [run.pending()[0].approve()];
    let outcome = runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), ["not_found"]);
    assert_eq!(balance(&after.events()), -1, "and was closed");
    assert_eq!(finished(&after), ["child", "parent"]);
    assert_eq!(log.lines(), ["after delegate: false"]);
}

/// Returns the agents whose runs have ended, in order.
fn finished(all: &Collector) -> Vec<String> {
    let of = |event: &Event| match event.kind {
        EventKind::RunFinished { .. } => event.agent.as_deref().map(str::to_owned),
        _ => None,
    };
    all.events().iter().filter_map(of).collect()
}

/// G31: their calls end, too.
#[tokio::test(start_paused = true)]
async fn g31_a_run_out_of_time_ends_its_suspended_child_runs() {
    let (log, all) = (Log::default(), Collector::new());
    let registry = asking(&log, CallLimits::UNLIMITED);
    let endless = async |_: N| std::future::pending::<Result<N, ToolFailure>>().await;
    let endless = toolwright_runtime::FunctionTool::new(spec("endless"), endless);
    registry.register_tool(endless).unwrap();
    let mut hurried = Agent::new("hurried", "lab").with_tools(["job", "endless"]);
    hurried.policy.time_budget = Some(Duration::from_secs(7));
    let calls = vec![call("job", "a", 1), call("endless", "b", 2)];
    registry.register_agent(hurried, steps(vec![calls])).unwrap();
    let runtime = Runtime::builder(registry).with_events(all.clone()).build();
    let outcome = runtime.run(RunRequest::new("hurried", payload(0))).await.unwrap();
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Timeout);
    assert_eq!(briefs(&outcome), ["cancelled", "cancelled"]);
    assert_eq!(balance(&all.events()), 0);
    assert_eq!(finished(&all), ["clerk", "hurried"]);
}
