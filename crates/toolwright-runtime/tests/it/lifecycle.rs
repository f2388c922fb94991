//! The lifecycle of toolsets: each that is entered is exited once.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Payload, Scope, ToolCall, ToolFailure, ToolResult, ToolSpec,
};
use toolwright_runtime::tools::{Combined, IntoSource};
use toolwright_runtime::{
    Agent, FunctionTool, Handles, Policy, Registry, RunOutcome, RunRequest, Runtime, Script,
    Source, ToolEntry, Toolset,
};

use crate::planners::{briefs, rule, steps};
use crate::state::Warnings;
use crate::tools::{Log, N, call, payload};
use crate::toys::{Toy, spec, tool};

static ECHO: &[&ToolSpec] = &[<crate::tools::Echo as toolwright::Tool>::SPEC];

fn registry(
    toys: impl IntoIterator<Item = Toy>,
    planner: Arc<dyn toolwright_runtime::Planner>,
) -> Registry {
    let registry = Registry::new();
    let mut names = Vec::new();
    for toy in toys {
        names.push(toy.name);
        registry.register_toolset(toy.name, toy).unwrap();
    }
    let agent = Agent::new("worker", "lab").with_toolsets(names);
    registry.register_agent(agent, planner).unwrap();
    registry
}

async fn run(registry: Registry) -> RunOutcome {
    Runtime::new(registry).run(RunRequest::new("worker", payload(0))).await.unwrap()
}

/// R11: exits are in reverse order.
#[tokio::test]
async fn r11_toolsets_are_entered_and_exited_once_even_if_the_run_fails() {
    let planners = [steps(vec![]), rule(|_| Err("no idea".into())), rule(|_| panic!("no plan"))];
    for planner in planners {
        let log = Log::default();
        let toys = [Toy::new("one", &log), Toy::new("two", &log)];
        let _ = run(registry(toys, planner)).await;
        assert_eq!(log.lines(), ["enter one", "enter two", "exit two", "exit one"]);
    }
}

/// R11: the toolset that failed and those after it are not exited.
#[tokio::test]
async fn r11_a_failed_enter_rolls_back_in_reverse() {
    let log = Log::default();
    let stuck = Toy { stuck: true, ..Toy::new("three", &log) };
    let toys = [Toy::new("one", &log), Toy::new("two", &log), stuck, Toy::new("four", &log)];
    let failure = run(registry(toys, steps(vec![]))).await.result().unwrap_err();
    assert_eq!(log.lines(), ["enter one", "enter two", "exit two", "exit one"]);
    let detail = failure.detail.unwrap();
    assert_eq!(detail, "toolset `three` did not enter: the door is locked");
}

#[tokio::test]
async fn i5_an_error_on_exit_does_not_fail_the_run_or_stop_other_exits() {
    let log = Log::default();
    let toys = [Toy::new("one", &log), Toy { exit_fails: true, ..Toy::new("two", &log) }];
    assert_eq!(run(registry(toys, steps(vec![]))).await.result(), Ok(payload(0)));
    assert_eq!(log.lines(), ["enter one", "enter two", "exit two", "exit one"]);
}

/// I5: at the end of the run or the step, and if another toolset cannot be entered.
#[tokio::test]
async fn i5_an_error_on_exit_is_logged() {
    let failing = || Toy { exit_fails: true, ..Toy::new("one", &Log::default()) };
    let stuck = Toy { stuck: true, ..Toy::new("two", &Log::default()) };
    let both = Combined::new().with("one", failing()).with("two", stuck);
    let cases: [(Source, &[&str]); 3] = [
        (failing().into_source(), &["a toolset did not exit cleanly"]),
        (Source::per_step(move |_: Scope| failing()), &["a toolset did not exit cleanly"; 2]),
        (both.into_source(), &["after another toolset failed to enter, a toolset failed to exit"]),
    ];
    for (source, expected) in cases {
        let registry = Registry::new();
        registry.register_toolset("set", source).unwrap();
        let agent = Agent::new("worker", "lab").with_toolsets(["set"]);
        registry.register_agent(agent, steps(vec![vec![call("one", "a", 1)]])).unwrap();
        let warned = Log::default();
        let _guard = tracing::subscriber::set_default(Warnings(warned.clone()));
        run(registry).await;
        let lines = warned.lines();
        assert_eq!(lines.len(), expected.len(), "{lines:?}");
        for (line, words) in lines.iter().zip(expected) {
            assert!(line.contains(words) && line.contains("the door is stuck"), "{line}");
        }
    }
}

/// A toolset that never exits.
struct Stays {
    inner: FunctionTool,
    held: Arc<()>,
}

impl Toolset for Stays {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.inner.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.inner.call(call)
    }

    fn exit<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async {
            let _held = Arc::clone(&self.held);
            std::future::pending().await
        })
    }
}

/// I5: in a preflight, and in a run with or without a time budget. The paused clock advances when nothing else happens.
#[tokio::test(start_paused = true)]
async fn i5_a_toolset_that_never_exits_is_given_up_and_stops_no_other() {
    for budget in [None, Some(Duration::from_secs(1))] {
        let (held, log) = (Arc::new(()), Log::default());
        let registry = registry([Toy::new("one", &log)], steps(vec![]));
        let stays = Stays { inner: tool("stay", |n| n), held: Arc::clone(&held) };
        registry.register_toolset("stays", stays).unwrap();
        let agent = Agent::new("waiter", "lab").with_toolsets(["one", "stays"]);
        let agent = agent.with_policy(Policy { time_budget: budget, ..Policy::default() });
        registry.register_agent(agent.clone(), steps(vec![])).unwrap();
        registry.preflight_listing(&agent).await.unwrap();
        let outcome = Runtime::new(registry).run(RunRequest::new("waiter", payload(0))).await;
        assert_eq!(outcome.unwrap().result(), Ok(payload(0)));
        tokio::time::sleep(Duration::from_mins(2)).await;
        assert_eq!(Arc::strong_count(&held), 1, "its exit holds it no longer");
        assert_eq!(log.lines().last().unwrap(), "exit one");
    }
}

/// I5: also in a combination inside of another, in one that is built per step, and if the run ends while it enters its toolsets.
#[tokio::test(start_paused = true)]
async fn i5_a_toolset_that_never_exits_stops_no_other_of_its_combination() {
    let both = |log: &Log| {
        let waits = Toy { waits: 10, ..Toy::new("one", log) };
        Arc::new(Combined::new().with("one", waits).with("stay", Stay))
    };
    let cases: [fn(&Registry, Arc<Combined>); 2] = [
        |registry, both| registry.register_toolset("both", both.prefixed("x")).unwrap(),
        |registry, both| {
            let source = Source::per_step(move |_: Scope| Arc::clone(&both));
            registry.register_toolset("both", source).unwrap();
        },
    ];
    for register in cases {
        for is_dropped in [false, true] {
            let log = Log::default();
            let registry = registry([], steps(vec![]));
            register(&registry, both(&log));
            let agent = Agent::new("waiter", "lab").with_toolsets(["both"]);
            registry.register_agent(agent, steps(vec![])).unwrap();
            let runtime = Runtime::new(registry);
            let running = runtime.run(RunRequest::new("waiter", payload(0)));
            let time = if is_dropped { 5 } else { 1_000_000 };
            let ended = tokio::time::timeout(Duration::from_millis(time), running).await;
            assert_eq!(ended.is_err(), is_dropped);
            tokio::time::sleep(Duration::from_mins(2)).await;
            assert_eq!(log.lines(), ["enter one", "exit one"]);
        }
    }
}

/// R11: a shared instance is entered again by a nested run.
#[tokio::test]
async fn r11_a_nested_run_enters_a_shared_instance_again() {
    let log = Log::default();
    let ask = ToolSpec::new("ask").with_toolset("asking").with_service("lab");
    let spec = ask.with_types::<N, N>();
    let registry = registry([Toy::new("toy", &log)], steps(vec![]));
    let child = Agent::new("child", "lab").with_implements(spec).with_toolsets(["toy"]);
    registry.register_agent(child, Arc::new(Script::new().finish(payload(1)))).unwrap();
    let parent = Agent::new("parent", "lab").with_toolsets(["toy", "asking"]);
    registry.register_agent(parent, steps(vec![vec![call("ask", "a", 1)]])).unwrap();
    Runtime::new(registry).run(RunRequest::new("parent", payload(0))).await.unwrap();
    assert_eq!(log.lines(), ["enter toy", "enter toy in child", "exit toy in child", "exit toy"]);
}

/// A factory of counters with a count for each instance, and a count that all instances share.
fn counter(
    shared: &Arc<std::sync::atomic::AtomicI64>,
) -> impl Fn(Scope) -> FunctionTool + Send + Sync + use<> {
    let shared = Arc::clone(shared);
    move |_| {
        let (own, shared) = (std::sync::atomic::AtomicI64::new(0), Arc::clone(&shared));
        tool("count", move |_| {
            let own = own.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
            let all = shared.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
            all * 100 + own
        })
    }
}

/// I1, I2, I3: the runs are recursive.
#[tokio::test]
async fn i1_i2_i3_runs_share_only_what_their_factory_captured() {
    let ask = ToolSpec::new("ask").with_toolset("asking").with_service("lab");
    let spec = ask.with_types::<N, N>();
    let registry = Registry::new();
    registry.register_toolset("counter", counter(&Arc::default())).unwrap();
    let planner = rule(|turn| {
        let depth = i64::from(turn.scope().parent_call_id.is_some());
        Ok(match turn.step() {
            0 => toolwright_runtime::Step::call([call("count", "a", 0)]),
            1 if depth == 0 => toolwright_runtime::Step::call([call("ask", "b", 0)]),
            1 => toolwright_runtime::Step::Finish(
                turn.last_results().next().unwrap().outcome.as_ref().unwrap().clone(),
            ),
            2 => toolwright_runtime::Step::call([call("count", "c", 0)]),
            _ => toolwright_runtime::Step::Finish(payload(0)),
        })
    });
    let agent =
        Agent::new("worker", "lab").with_implements(spec).with_toolsets(["counter", "asking"]);
    registry.register_agent(agent, planner).unwrap();
    let runtime = Runtime::new(registry);
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    // The hundreds are the shared count, and the ones that of the instance. The child run has a new instance.
    assert_eq!(briefs(&outcome), [r#"{"n":101}"#, r#"{"n":201}"#, r#"{"n":302}"#]);
}

/// I4: closed handles are unknown, too.
#[test]
fn i4_handles_are_unique_and_those_of_other_maps_unknown() {
    let (ours, theirs) = (Handles::new("txn", "transaction"), Handles::new("txn", "transaction"));
    let handles: std::collections::BTreeSet<_> = (0..1000).map(|n| ours.open(n)).collect();
    assert_eq!((handles.len(), ours.len()), (1000, 1000));
    let first = handles.first().unwrap();
    let (prefix, digits) = first.split_once('_').unwrap();
    assert_eq!((prefix, digits.len()), ("txn", 8));
    assert!(digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(ours.get(first).is_ok());
    ours.close(first).unwrap();
    for failure in [ours.get(first), ours.close(first), theirs.get(first), ours.get("")] {
        let failure = failure.unwrap_err();
        assert_eq!(failure.kind, FailureKind::DomainRejection);
        assert!(failure.message.starts_with("unknown transaction: "), "{}", failure.message);
    }
    assert_eq!(theirs.get(first).unwrap_err().message, format!("unknown transaction: {first}"));
    assert_eq!((ours.drain().len(), ours.is_empty()), (999, true));
}

/// R11: the test drops it at each point where it waits.
#[tokio::test(start_paused = true)]
async fn r11_a_run_dropped_at_any_point_exits_its_toolsets_once() {
    let mut polls = 0;
    loop {
        let log = Log::default();
        let waiting = |name| Toy { waits: 2, ..Toy::new(name, &log) };
        let two = vec![vec![call("one", "a", 1), call("two", "b", 1)], vec![call("one", "c", 1)]];
        let registry = registry([waiting("one"), waiting("two")], steps(two));
        let per_step = waiting("step");
        let per_step = Source::per_step(move |_: Scope| per_step.clone());
        registry.register_toolset("step", per_step).unwrap();
        let agent = Agent::new("mixed", "lab").with_toolsets(["one", "two", "step"]);
        let two = vec![vec![call("one", "a", 1), call("step", "b", 1)], vec![call("step", "c", 1)]];
        registry.register_agent(agent, steps(two)).unwrap();
        let ended = poll_at_most(polls, Runtime::new(registry)).await;
        // Wait for the tasks that exit toolsets.
        tokio::time::sleep(Duration::from_mins(1)).await;
        let lines = log.lines();
        for name in ["one", "two", "step"] {
            let count =
                |what: &str| lines.iter().filter(|line| **line == format!("{what} {name}")).count();
            assert_eq!(count("enter"), count("exit"), "{name} after {polls} polls: {lines:?}");
        }
        if ended {
            assert!(polls > 15, "the run was cut off at {polls} points only");
            assert_eq!(lines.len(), 10, "one toolset is made for each of three steps: {lines:?}");
            return;
        }
        polls += 1;
    }
}

/// Polls a run at most this often and then drops it. Returns whether it had ended.
async fn poll_at_most(polls: usize, runtime: Runtime) -> bool {
    let mut run = pin!(runtime.run(RunRequest::new("mixed", payload(0))));
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        if run.as_mut().poll(&mut context).is_ready() {
            return true;
        }
        // Let timers advance between polls.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    false
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_keeps_ended_calls_and_exits_its_toolsets() {
    let log = Log::default();
    let token = CancellationToken::new();
    let cancelling = token.clone();
    let registry = registry([Toy::new("one", &log)], steps(vec![]));
    let slow = FunctionTool::new(spec("slow"), async |args: N| {
        tokio::time::sleep(Duration::from_secs(args.n.unsigned_abs())).await;
        Ok::<_, ToolFailure>(args)
    });
    registry.register_tool(slow).unwrap();
    let stop = FunctionTool::new(spec("stop"), move |args: N| {
        let token = cancelling.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(2)).await;
            token.cancel();
            Ok::<_, ToolFailure>(args)
        }
    });
    registry.register_tool(stop).unwrap();
    let calls = vec![call("slow", "a", 1), call("slow", "b", 20), call("stop", "c", 3)];
    let agent = Agent::new("stopped", "lab").with_tools(["slow", "stop"]).with_toolsets(["one"]);
    registry.register_agent(agent, steps(vec![calls])).unwrap();
    let request = RunRequest::new("stopped", payload(0)).with_cancellation(token);
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "cancelled", r#"{"n":3}"#]);
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!(log.lines(), ["enter one", "exit one"]);
}

/// I5: the toolset is entered and exited.
#[tokio::test]
async fn i5_a_call_outside_of_runs_has_its_own_instance() {
    let spec: &'static ToolSpec = ECHO[0];
    let made = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = Arc::clone(&made);
    let mut registry = Registry::new();
    let factory: toolwright::ExecutorFactory = Arc::new(move || {
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Arc::new(crate::tools::TestExecutor::default())
    });
    toolwright::Registrar::register_factory(&mut registry, ECHO, factory).unwrap();
    let runtime = Runtime::new(registry);
    for _ in 0..2 {
        let result = runtime.call(call(spec.name(), "a", 1)).await;
        assert_eq!(result.outcome.as_ref(), Ok(&Payload::new(r#"{"n":1}"#)));
    }
    assert_eq!(made.load(std::sync::atomic::Ordering::SeqCst), 2);
}

/// A toolset that never exits.
struct Stay;

impl Toolset for Stay {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        call.not_found(&[])
    }

    fn exit<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_toolset_that_is_built_per_step_has_a_minute_to_exit() {
    let registry = Registry::new();
    registry.register_toolset("stay", Source::per_step(|_: Scope| Stay)).unwrap();
    registry.register_tool(tool("free", |n| n)).unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["free"]).with_toolsets(["stay"]);
    registry.register_agent(agent, steps(vec![vec![call("free", "a", 1)]])).unwrap();
    let running = tokio::time::timeout(Duration::from_secs(130), run(registry));
    assert_eq!(running.await.unwrap().result(), Ok(payload(0)));
}
