//! Runtimes that execute calls of other runtimes, and tools that make calls on behalf of theirs.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolwright::{FailureKind, Registrar, Scope, Tool, ToolCall, ToolFailure, ToolResult};
use toolwright_runtime::{
    Agent, ApprovalRequest, CallRequest, FunctionTool, Hooks, Policy, Registry, RunRequest,
    Runtime, RuntimeBuilder, Verdict,
};

use crate::journal::{LoggingApprover, More, Tape, kept};
use crate::planners::{briefs, steps};
use crate::steps::Late;
use crate::tools::{Echo, Log, N, TestExecutor, Think, call, payload};
use crate::toys::{spec, tool};
use crate::two_names::tick;

/// A runtime in which `boss` calls `think`, which another runtime executes: there `thinker` runs it, who makes three calls of `tick`.
fn thinking(ran: &Log) -> RuntimeBuilder {
    let there = Registry::new();
    there.register_tool(tick(ran)).unwrap();
    let thinker = Agent::new("thinker", "lab").with_implements(Think::SPEC).with_tools(["tick"]);
    let ticks = ["0", "1", "2"].map(|id| vec![call("tick", id, 1)]);
    there.register_agent(thinker, steps(ticks.into())).unwrap();
    let mut here = Registry::new();
    here.register_tool(tick(&Log::default())).unwrap();
    here.register(&[Think::SPEC], Arc::new(Runtime::new(there))).unwrap();
    let boss = Agent::new("boss", "lab").with_tools(["think"]);
    here.register_agent(boss, steps(vec![vec![call("think", "a", 1)]])).unwrap();
    let catalog = here.catalog();
    catalog.publish("thinking", "far").unwrap();
    catalog.allow("boss", "thinking").unwrap();
    Runtime::builder(here).with_catalog(catalog)
}

/// H6: the runtime that makes the call has applied the list to the call itself.
#[tokio::test(start_paused = true)]
async fn h6_an_approval_list_applies_in_child_runs_of_the_runtime_that_executes_a_call() {
    for (list, count) in [(&[][..], 0), (&["tick"], 3), (&["think"], 1), (&["tick", "think"], 4)] {
        let (ran, asked) = (Log::default(), Log::default());
        let request = RunRequest::new("boss", payload(0)).with_approval_of(list.iter().copied());
        let request = request.with_approver(Arc::new(LoggingApprover(asked.clone())));
        let outcome = thinking(&ran).build().run(request).await.unwrap();
        assert_eq!(briefs(&outcome), [r#"{"n":0}"#], "{list:?}");
        assert_eq!((ran.lines().len(), asked.lines().len()), (3, count), "{list:?}");
        let denying = |_: &ApprovalRequest| Verdict::Deny(None);
        let request = RunRequest::new("boss", payload(0)).with_approval_of(list.iter().copied());
        thinking(&ran).build().run(request.with_approver(Arc::new(denying))).await.unwrap();
        assert_eq!(ran.lines().len(), if count == 0 { 6 } else { 3 }, "{list:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn p5_a_run_of_the_runtime_that_executes_a_call_is_stopped_with_the_session_of_the_call() {
    let ran = Log::default();
    let session = Arc::new(thinking(&ran).build().open_session("boss").await.unwrap());
    let calling = {
        let session = Arc::clone(&session);
        tokio::spawn(async move { session.call(call("far.think", "a", 1)).await })
    };
    tokio::time::sleep(Duration::from_millis(150)).await;
    session.stop().await;
    calling.await.unwrap().outcome.unwrap_err();
    assert_eq!(ran.lines().len(), 1);
}

#[tokio::test]
async fn two_runtimes_with_one_journal_have_keys_of_their_own_for_one_call() {
    let (log, tape) = (Log::default(), Arc::new(Tape::default()));
    let hooks = || Hooks::new().with_for("echo", More(log.clone()));
    let run = async || {
        let mut there = Registry::new();
        there.register(&[Echo::SPEC], Arc::new(TestExecutor::default())).unwrap();
        let there = Runtime::builder(there).with_hooks(hooks()).with_journal(tape.clone());
        let mut here = Registry::new();
        here.register(&[Echo::SPEC], Arc::new(there.build())).unwrap();
        let boss = Agent::new("boss", "lab").with_tools(["echo"]);
        here.register_agent(boss, steps(vec![vec![call("echo", "a", 1)]])).unwrap();
        kept(Runtime::builder(here).with_hooks(hooks()), &tape).await
    };
    let outcome = run().await;
    assert_eq!(briefs(&outcome), [r#"{"n":2}"#]);
    let hooked = ["hooked before", "hooked before", "hooked after", "hooked after"];
    assert_eq!(log.lines(), hooked);
    assert_eq!(run().await, outcome);
    assert_eq!(log.lines(), hooked);
}

/// A tool that calls another one on behalf of its call and with the same id.
fn relay(name: &'static str, to: &'static str, link: &Arc<OnceLock<Runtime>>) -> FunctionTool {
    let link = Arc::clone(link);
    FunctionTool::new(spec(name), move |_: N, made: ToolCall| {
        let runtime = link.get().unwrap().clone();
        async move {
            let request = CallRequest::new(call(to, made.id(), 1)).on_behalf_of(&made);
            n_of(runtime.call(request).await)
        }
    })
}

fn n_of(result: ToolResult) -> Result<N, ToolFailure> {
    result.outcome?.decode::<N>().map_err(|issues| ToolFailure::internal(&issues))
}

/// A runtime in which an agent calls one tool. `start` calls `free` on behalf of its call, and `relay` calls `start`. The calls of `far`
/// are made by another runtime, where it calls `free`. `hand` calls `job` on behalf of its call, whose agent calls `free`.
fn calling(
    ran: &Log,
    boss: Agent,
    tool_name: &'static str,
) -> (RuntimeBuilder, Arc<OnceLock<Runtime>>) {
    let free = || {
        let log = ran.clone();
        tool("free", move |n| {
            log.push("free");
            n + 1
        })
    };
    let (link, there): (Arc<OnceLock<Runtime>>, Arc<OnceLock<Runtime>>) = Default::default();
    let other = Registry::new();
    other.register_tools([relay("far", "free", &there), free()]).unwrap();
    let other = there.get_or_init(|| Runtime::new(other)).clone();
    let far = FunctionTool::new(spec("far"), move |_: N, made: ToolCall| {
        let other = other.clone();
        async move { n_of(other.call(made).await) }
    });
    let relays = [("start", "free"), ("relay", "start"), ("hand", "job")];
    let relays = relays.map(|(name, to)| relay(name, to, &link));
    let registry = Registry::new();
    registry.register_tools(relays.into_iter().chain([far, free()])).unwrap();
    let job = spec("job").with_toolset("jobs").with_types::<N, N>();
    let clerk = Agent::new("clerk", "lab").with_implements(job).with_tools(["free"]);
    registry.register_agent(clerk, steps(vec![vec![call("free", "b", 1)]])).unwrap();
    let boss = boss.with_tools([tool_name, "free"]);
    registry.register_agent(boss, steps(vec![vec![call(tool_name, "a", 1)]])).unwrap();
    (Runtime::builder(registry), link)
}

fn starting(ran: &Log) -> (RuntimeBuilder, Arc<OnceLock<Runtime>>) {
    calling(ran, Agent::new("boss", "lab"), "start")
}

/// H6: also two calls deep, and in another runtime. Child runs of the calls do not have the list.
#[tokio::test]
async fn h6_a_call_on_behalf_of_a_call_has_the_approval_list_of_the_agent_that_makes_the_call() {
    for (name, count) in [("start", 1), ("relay", 1), ("far", 1), ("hand", 0)] {
        let (ran, asked) = (Log::default(), Log::default());
        let boss = Agent::new("boss", "lab").with_approval_of(["free"]);
        let (runtime, link) = calling(&ran, boss, name);
        let runtime = link.get_or_init(|| runtime.build());
        let request = RunRequest::new("boss", payload(0));
        let approver = Arc::new(LoggingApprover(asked.clone()));
        runtime.run(request.clone().with_approver(approver)).await.unwrap();
        assert_eq!((ran.lines().len(), asked.lines().len()), (1, count), "{name}");
        let denying = |_: &ApprovalRequest| Verdict::Deny(None);
        runtime.run(request.with_approver(Arc::new(denying))).await.unwrap();
        assert_eq!(ran.lines().len(), 2 - count, "{name}");
    }
}

/// H6: the runtime that makes the call has applied the list to the call itself.
#[tokio::test]
async fn h6_a_call_that_another_runtime_executes_is_asked_about_once() {
    let (ran, asked) = (Log::default(), Log::default());
    let boss = Agent::new("boss", "lab").with_approval_of(["far"]);
    let (runtime, link) = calling(&ran, boss, "far");
    let approver = Arc::new(LoggingApprover(asked.clone()));
    let runtime = link.get_or_init(|| runtime.with_approver(approver).build());
    runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    assert_eq!((ran.lines().len(), asked.lines().len()), (1, 1));
}

/// The approver of the call cancels the run of the caller, and approves the call at the same moment.
#[tokio::test]
async fn a_call_on_behalf_of_a_call_that_is_approved_as_its_run_is_cancelled_does_not_begin() {
    for name in ["start", "relay", "far", "hand"] {
        for cancels in [true, false] {
            let (ran, token) = (Log::default(), CancellationToken::new());
            let (runtime, link) = calling(&ran, Agent::new("boss", "lab"), name);
            let (hooked, tape) = (Log::default(), Arc::new(Tape::default()));
            let hooks = Hooks::new().with_for("free", More(hooked.clone()));
            let runtime = runtime.with_hooks(hooks).with_journal(tape.clone());
            let runtime = link.get_or_init(|| runtime.build());
            let request = RunRequest::new("boss", payload(0)).with_run_id("r1");
            let request = request.with_approval_of(["free"]).with_cancellation(token.clone());
            let request = request.with_approver(Arc::new(Late { token: token.clone(), cancels }));
            let cancelling = async {
                tokio::task::yield_now().await;
                token.cancel();
            };
            let (outcome, ()) = tokio::join!(runtime.run(request), cancelling);
            assert_eq!(outcome.unwrap().result().unwrap_err().kind, FailureKind::Cancelled);
            assert!(ran.lines().is_empty(), "{name} {cancels}: {:?}", ran.lines());
            assert!(hooked.lines().is_empty(), "{name} {cancels}: {:?}", hooked.lines());
            let keys = tape.keys();
            assert!(!keys.iter().any(|key| key.contains("call/")), "{name} {cancels}: {keys:?}");
        }
    }
}

/// A runtime in which `boss` has a second to call `leave`. That starts a task and waits for it: the task makes a call of `tick` after two
/// seconds, or starts a run at once that makes one each 300 milliseconds. The task is returned.
fn leaving(ran: &Log, runs: bool) -> (Runtime, Arc<Mutex<Option<JoinHandle<FailureKind>>>>) {
    let (link, task): (Arc<OnceLock<Runtime>>, Arc<Mutex<_>>) = Default::default();
    let (started, left) = (Arc::clone(&link), Arc::clone(&task));
    let leave = FunctionTool::new(spec("leave"), move |n: N, made: ToolCall| {
        let runtime = started.get().unwrap().clone();
        let running = tokio::spawn(async move {
            let failure = if runs {
                let request = RunRequest::new("worker", payload(0)).on_behalf_of(&made);
                runtime.run(request).await.unwrap().result().unwrap_err()
            } else {
                tokio::time::sleep(Duration::from_secs(2)).await;
                let request = CallRequest::new(call("tick", "b", 1)).on_behalf_of(&made);
                runtime.call(request).await.outcome.unwrap_err()
            };
            failure.kind
        });
        *left.lock().unwrap() = Some(running);
        async move {
            tokio::time::sleep(Duration::from_secs(9)).await;
            n
        }
    });
    let log = ran.clone();
    let tick = FunctionTool::new(spec("tick"), move |n: N| {
        log.push("tick");
        async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            n
        }
    });
    let registry = Registry::new();
    registry.register_tools([leave, tick]).unwrap();
    let ticks = (0..9).map(|id| vec![call("tick", &id.to_string(), 1)]).collect();
    let worker = Agent::new("worker", "lab").with_tools(["tick"]);
    registry.register_agent(worker, steps(ticks)).unwrap();
    let policy = Policy { time_budget: Some(Duration::from_secs(1)), ..Policy::UNLIMITED };
    let boss = Agent::new("boss", "lab").with_tools(["leave"]).with_policy(policy);
    registry.register_agent(boss, steps(vec![vec![call("leave", "a", 1)]])).unwrap();
    (link.get_or_init(|| Runtime::new(registry)).clone(), task)
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_tool_begins_no_call_after_the_run_of_its_call_was_out_of_time() {
    for (runs, count) in [(false, 0), (true, 4)] {
        let ran = Log::default();
        let (runtime, task) = leaving(&ran, runs);
        let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
        assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Timeout);
        let task = task.lock().unwrap().take().unwrap();
        assert_eq!(task.await.unwrap(), FailureKind::Cancelled);
        assert_eq!(ran.lines().len(), count, "{runs}");
    }
}

#[tokio::test]
async fn h6_a_call_on_behalf_of_a_call_has_the_approval_list_and_the_approver_of_the_caller() {
    for (list, count) in [(&[][..], 0), (&["free"], 1), (&["start"], 1)] {
        let (ran, asked) = (Log::default(), Log::default());
        let (runtime, link) = starting(&ran);
        let runtime = link.get_or_init(|| runtime.build());
        let request = RunRequest::new("boss", payload(0)).with_approval_of(list.iter().copied());
        let approver = Arc::new(LoggingApprover(asked.clone()));
        runtime.run(request.clone().with_approver(approver)).await.unwrap();
        assert_eq!((ran.lines().len(), asked.lines().len()), (1, count), "{list:?}");
        let denying = |_: &ApprovalRequest| Verdict::Deny(None);
        runtime.run(request.with_approver(Arc::new(denying))).await.unwrap();
        assert_eq!(ran.lines().len(), 2 - count, "{list:?}");
    }
}

/// A worker gives them to its runtime, so that a call which a tool makes there is nested in all of them.
#[tokio::test]
async fn a_call_of_another_process_is_nested_in_the_calls_that_the_request_names() {
    let nested = Log::default();
    let link: Arc<OnceLock<Runtime>> = Arc::default();
    let own = Arc::clone(&link);
    let outer = FunctionTool::new(spec("outer"), move |_: N, outer: ToolCall| {
        let runtime = own.get().unwrap().clone();
        async move {
            let inner = CallRequest::new(call("inner", "i", 1)).on_behalf_of(&outer);
            let inner = runtime.call(inner).await.outcome?;
            inner.decode::<N>().map_err(|issues| ToolFailure::internal(&issues))
        }
    });
    let log = nested.clone();
    let inner = FunctionTool::new(spec("inner"), move |n: N, inner: ToolCall| {
        log.push(CallRequest::outer_calls(&inner).join(" "));
        std::future::ready(n)
    });
    let registry = Registry::new();
    registry.register_tools([outer, inner]).unwrap();
    let runtime = link.get_or_init(|| Runtime::new(registry));
    for (outer, expected) in [(&[][..], "o"), (&["a"], "a o"), (&["a", "b"], "a b o")] {
        let outer: Vec<_> = outer.iter().map(|&id: &&str| id.to_owned()).collect();
        let request = CallRequest::new(call("outer", "o", 1)).nested_in(outer);
        runtime.call(request).await.outcome.unwrap();
        assert_eq!(nested.lines().last().map(String::as_str), Some(expected));
    }
}

#[tokio::test]
async fn a_call_on_behalf_of_a_call_has_keys_of_its_own_in_the_journal() {
    let (ran, tape) = (Log::default(), Arc::new(Tape::default()));
    let (runtime, link) = starting(&ran);
    let runtime = link.get_or_init(|| runtime.with_journal(tape.clone()).build());
    let request = RunRequest::new("boss", payload(0)).with_run_id("r1");
    assert_eq!(briefs(&runtime.run(request).await.unwrap()), [r#"{"n":2}"#]);
    for key in ["begin/a", "call/a"] {
        assert!(tape.keys().contains(&key.to_owned()));
        assert!(tape.keys().contains(&format!("child {key}")));
    }
}

#[tokio::test]
async fn a_slash_in_an_id_looks_like_no_nested_call_in_the_journal() {
    let (ran, tape) = (Log::default(), Arc::new(Tape::default()));
    let runtime = starting(&ran).0.with_journal(tape.clone()).build();
    for outer in [vec!["c1".to_owned(), "c2".to_owned()], vec!["c1/c2".to_owned()]] {
        let scope = Scope { run_id: Some("r1".to_owned()), ..Scope::default() };
        let made = call("free", "a", 1).with_scope(scope);
        runtime.call(CallRequest::new(made).nested_in(outer)).await.outcome.unwrap();
    }
    assert_eq!(ran.lines().len(), 2);
    assert!(tape.keys().contains(&"child 1 call/a".to_owned()), "{:?}", tape.keys());
}
