//! Journals: a repeated run behaves the same, and recorded effects do not happen again.

use std::collections::BTreeSet;
use std::future::{pending, ready};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use toolwright::spec::{Approval, CallLimits, ToolAnnotations};
use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, Scope, Tool, ToolCall,
    ToolFailure, ToolSpec,
};
use toolwright_runtime::{
    Agent, ApprovalRequest, Approver, Collector, Event, EventKind, FunctionTool, Hook, Hooks,
    Journal, Planner, Registry, ResumeRequest, RunOutcome, RunRequest, Runtime, RuntimeBuilder,
    SessionRequest, Step, Toolset, Turn, Verdict,
};

use crate::approvals::{guarded, guarded_spec};
use crate::nested::asking_by;
use crate::planners::{briefs, rule, steps};
use crate::tools::{Log, N, Think, call, payload};
use crate::toys::{spec, tool};

/// A journal in memory with its entries in order, and the ids of child runs.
#[derive(Default)]
pub(crate) struct Tape(Mutex<Vec<(String, String)>>, Mutex<Vec<String>>);

impl Tape {
    /// Creates a journal with the first entries of another.
    pub(crate) fn cut(from: &Self, length: usize) -> Arc<Self> {
        let entries = from.0.lock().unwrap()[..length].to_vec();
        Arc::new(Self(Mutex::new(entries), Mutex::default()))
    }

    /// Returns a number for a child run, whose id is generated.
    fn child(&self, id: &str) -> usize {
        let mut children = self.1.lock().unwrap();
        children.iter().position(|child| child == id).unwrap_or_else(|| {
            children.push(id.to_owned());
            children.len() - 1
        })
    }

    fn key(&self, run_id: &str, key: &str) -> String {
        match run_id {
            "r1" => key.to_owned(),
            child => match self.child(child) {
                0 => format!("child {key}"),
                number => format!("child {number} {key}"),
            },
        }
    }

    fn kept(&self, key: &str) -> Option<String> {
        let entries = self.0.lock().unwrap();
        entries.iter().find(|(kept, _)| kept == key).map(|(_, entry)| entry.clone())
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(key, _)| key.clone()).collect()
    }
}

impl Journal for Tape {
    fn record<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
        effect: BoxFuture<'a, String>,
    ) -> BoxFuture<'a, Result<String, BoxError>> {
        let key = self.key(run_id, key);
        Box::pin(async move {
            if let Some(kept) = self.kept(&key) {
                return Ok(kept);
            }
            let entry = effect.await;
            self.0.lock().unwrap().push((key, entry.clone()));
            Ok(entry)
        })
    }

    fn find<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
        Box::pin(ready(Ok(self.kept(&self.key(run_id, key)))))
    }
}

/// Approves, and logs that it was asked.
pub(crate) struct LoggingApprover(pub(crate) Log);

impl Approver for LoggingApprover {
    fn decide<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        self.0.push("asked");
        Box::pin(ready(Verdict::ApproveWith(payload(9))))
    }
}

/// Adds one to the arguments of `free`.
pub(crate) struct More(pub(crate) Log);

impl Hook for More {
    fn name(&self) -> &'static str {
        "more"
    }

    fn before<'a>(&'a self, _: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
        self.0.push("hooked before");
        Box::pin(ready(Ok(payload(2))))
    }

    fn after<'a>(
        &'a self,
        _: &'a ToolCall,
        outcome: Outcome,
    ) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        self.0.push("hooked after");
        Box::pin(ready(Ok(outcome)))
    }
}

/// The spec of a tool that may run again after an interruption.
fn idempotent(spec: ToolSpec) -> ToolSpec {
    spec.with_annotations(ToolAnnotations { idempotent: Some(true), ..ToolAnnotations::default() })
}

/// `free`, which adds one.
fn free(log: &Log) -> FunctionTool {
    let log = log.clone();
    FunctionTool::new(idempotent(spec("free")), move |args: N| {
        log.push(format!("free {}", args.n));
        ready(N { n: args.n + 1 })
    })
}

/// `wipe`, which needs an approval.
fn wipe(log: &Log) -> FunctionTool {
    let log = log.clone();
    FunctionTool::new(idempotent(guarded_spec()), move |args: N| {
        log.push(format!("wiped {}", args.n));
        ready(args)
    })
}

/// A runtime with an agent that calls `free`, `wipe` (needs an approval) and `think`, which a child run implements that
/// calls `free`, too. All of them log.
fn runtime(log: &Log, journal: Arc<dyn Journal>) -> (Runtime, Arc<Collector>) {
    let registry = Registry::new();
    registry.register_tools([wipe(log), free(log)]).unwrap();
    let child_log = log.clone();
    let child = rule(move |turn| {
        child_log.push(format!("child plans {}", turn.step()));
        Ok(match turn.last_results().next() {
            None => Step::call([call("free", "c", 5)]),
            Some(result) => Step::Finish(result.outcome.clone()?),
        })
    });
    let agent = Agent::new("child", "lab").with_tools(["free"]).with_implements(Think::SPEC);
    registry.register_agent(agent, child).unwrap();
    let agent = Agent::new("parent", "lab").with_tools(["free", "wipe", "think"]);
    let first = vec![call("free", "a", 1), call("wipe", "b", 3)];
    registry.register_agent(agent, steps(vec![first, vec![call("think", "d", 7)]])).unwrap();
    let all = Collector::new();
    let runtime = Runtime::builder(registry)
        .with_approver(Arc::new(LoggingApprover(log.clone())))
        .with_hooks(Hooks::new().with_for("free", More(log.clone())))
        .with_journal(journal)
        .with_events(all.clone())
        .build();
    (runtime, all)
}

async fn run(log: &Log, journal: Arc<dyn Journal>) -> (RunOutcome, Vec<String>) {
    let (runtime, all) = runtime(log, journal);
    let request = RunRequest::new("parent", payload(0)).with_run_id("r1");
    let outcome = runtime.run(request).await.unwrap();
    let seen = all.events().iter().map(|event| event.kind.as_str().to_owned()).collect();
    (outcome, seen)
}

const KEYS: [&str; 21] = [
    "step/0",
    "tool/a",
    "tool/b",
    "before/a",
    "call/a",
    "after/a",
    "question/b",
    "answer/b",
    "call/b",
    "step/1",
    "tool/d",
    "agent/d",
    "run/1/d",
    "child step/0",
    "child tool/c",
    "child before/c",
    "child call/c",
    "child after/c",
    "child step/1",
    "end/1/d",
    "step/2",
];

#[tokio::test]
async fn a_journal_records_the_effects_of_a_run_under_stable_keys() {
    let tape = Arc::new(Tape::default());
    let (outcome, _) = run(&Log::default(), tape.clone()).await;
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#, r#"{"n":9}"#, r#"{"n":3}"#]);
    assert_eq!(tape.keys(), KEYS);
}

/// This simulates a crash at any point.
#[tokio::test]
async fn a_run_repeated_from_any_point_ends_the_same_and_repeats_no_recorded_effect() {
    let (whole, log) = (Arc::new(Tape::default()), Log::default());
    let (expected, seen) = run(&log, whole.clone()).await;
    let all = log.lines();
    let mut done = Vec::new();
    for length in 0..=whole.keys().len() {
        let (log, tape) = (Log::default(), Tape::cut(&whole, length));
        let (outcome, seen_again) = run(&log, tape.clone()).await;
        assert_eq!(outcome, expected, "after {length} entries");
        assert_eq!(seen_again, seen, "after {length} entries");
        let kept = all.len() - log.lines().len();
        assert!(done.last().is_none_or(|last| *last <= kept), "after {length} entries");
        assert_eq!(log.lines(), all[kept..], "what had not happened, and nothing else");
        done.push(kept);
    }
    assert_eq!((done[0], done.last()), (0, Some(&all.len())), "{all:?}");
}

/// A runtime whose agent `chance` makes these steps, with calls of `free`, `wipe` (needs an approval), `flaky` (fails at first) and
/// `think` (a child run calls `free`). Each call of a tool logs one line.
fn chance(log: &Log, journal: Arc<dyn Journal>, made: Vec<Vec<ToolCall>>) -> Runtime {
    let registry = Registry::new();
    let (runs, failed) = (log.clone(), Arc::new(Mutex::new(BTreeSet::new())));
    let limits = CallLimits { attempts: Some(2), ..CallLimits::UNLIMITED };
    let flaky = FunctionTool::new(
        idempotent(spec("flaky")).with_limits(limits),
        move |n: N, call: ToolCall| {
            let is_first = failed.lock().unwrap().insert(call.id().to_owned());
            if !is_first {
                runs.push(format!("flaky {}", call.id()));
            }
            let failure = ToolFailure::new(FailureKind::Unavailable, "not yet", Recovery::Retry);
            ready(if is_first { Err(failure) } else { Ok(n) })
        },
    );
    registry.register_tools([wipe(log), free(log), flaky]).unwrap();
    let child = steps(vec![vec![call("free", "c", 5), call("free", "e", 6)]]);
    let agent = Agent::new("child", "lab").with_tools(["free"]).with_implements(Think::SPEC);
    registry.register_agent(agent, child).unwrap();
    let agent = Agent::new("chance", "lab").with_tools(["free", "wipe", "flaky", "think"]);
    registry.register_agent(agent, steps(made)).unwrap();
    Runtime::builder(registry)
        .with_approver(Arc::new(LoggingApprover(Log::default())))
        .with_journal(journal)
        .build()
}

/// Ten runs of chance with children, approvals, retries and calls at once; a crash after every effect of each.
#[tokio::test(start_paused = true)]
async fn ten_runs_end_the_same_from_every_effect_and_repeat_no_recorded_call() {
    for seed in 0..10 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut step = |step: usize| {
            let calls = 0..random.usize(1..=4);
            let names = ["free", "wipe", "flaky", "think"];
            calls.map(|at| call(names[random.usize(0..4)], &format!("{step}.{at}"), 1)).collect()
        };
        let made: Vec<Vec<ToolCall>> = (0..3).map(&mut step).collect();
        let run = async |log: &Log, tape: &Arc<Tape>| {
            let runtime = chance(log, tape.clone(), made.clone());
            let request = RunRequest::new("chance", payload(0)).with_run_id("r1");
            runtime.run(request).await.unwrap()
        };
        let (whole, log) = (Arc::new(Tape::default()), Log::default());
        let expected = run(&log, &whole).await;
        assert!(expected.result().is_ok(), "seed {seed}: {expected:?}");
        let keys = whole.keys();
        for length in 0..=keys.len() {
            let (again, tape) = (Log::default(), Tape::cut(&whole, length));
            assert_eq!(run(&again, &tape).await, expected, "seed {seed}, after {length} entries");
            let is_call = |key: &&String| key.trim_start_matches("child ").contains("call/");
            let recorded = keys[..length].iter().filter(is_call).count();
            let repeated = again.lines().len();
            let lines = log.lines().len();
            assert_eq!(repeated, lines - recorded, "seed {seed}, after {length} entries");
        }
    }
}

/// Runs `boss` with the id `r1` and a journal.
pub(crate) async fn kept(runtime: RuntimeBuilder, tape: &Arc<Tape>) -> RunOutcome {
    let runtime = runtime.with_journal(tape.clone()).build();
    runtime.run(RunRequest::new("boss", payload(0)).with_run_id("r1")).await.unwrap()
}

/// A runtime in which `boss` calls `free`, which is listed or available while a switch is on.
fn switched(log: &Log, listed: bool, on: &Arc<AtomicBool>) -> RuntimeBuilder {
    let (registry, runs, on) = (Registry::new(), log.clone(), Arc::clone(on));
    let free = tool("free", move |n| {
        runs.push("free");
        n + 1
    });
    if listed {
        let there = move |_: &Scope, tools: Vec<_>| {
            if on.load(Ordering::SeqCst) { tools } else { Vec::new() }
        };
        registry.register_toolset("toys", free.prepared(there)).unwrap();
    } else {
        let free = free.with_availability(move || on.load(Ordering::SeqCst));
        registry.register_toolset("toys", free).unwrap();
    }
    let boss = Agent::new("boss", "lab").with_toolsets(["toys"]);
    registry.register_agent(boss, steps(vec![vec![call("free", "a", 1)]])).unwrap();
    Runtime::builder(registry).with_hooks(Hooks::new().with_for("free", More(log.clone())))
}

#[tokio::test]
async fn a_recorded_call_does_not_change_when_its_tool_is_added_or_removed() {
    for listed in [true, false] {
        for first in [true, false] {
            let (log, tape, on) = (Log::default(), Arc::new(Tape::default()), Arc::default());
            let runtime = || switched(&log, listed, &on);
            on.store(first, Ordering::SeqCst);
            let expected = kept(runtime(), &tape).await;
            let (done, keys) = (log.lines(), tape.keys());
            on.store(!first, Ordering::SeqCst);
            assert_eq!(kept(runtime(), &tape).await, expected, "listed {listed}, first {first}");
            assert_eq!(log.lines(), done, "listed {listed}, first {first}");
            assert!(tape.keys().starts_with(&keys));
        }
    }
}

/// A runtime in which `boss` calls `job`, which `clerk` implements with these limits.
fn delegating(limits: CallLimits, clerk: Arc<dyn Planner>, log: &Log) -> RuntimeBuilder {
    Runtime::builder(asking_by("clerk", clerk, log, limits))
}

/// Never returns a step while there are pauses left.
struct Slow(AtomicU32);

impl Planner for Slow {
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        let left = |left: u32| left.checked_sub(1);
        if self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok() {
            return Box::pin(std::future::pending());
        }
        Box::pin(ready(Ok(Step::Finish(turn.input().clone()))))
    }
}

#[tokio::test(start_paused = true)]
async fn a_recorded_timeout_of_a_child_run_is_kept_when_it_is_repeated() {
    let limits = CallLimits { timeout: Some(Duration::from_secs(7)), ..CallLimits::UNLIMITED };
    let (log, tape) = (Log::default(), Arc::new(Tape::default()));
    let clerk = Arc::new(Slow(AtomicU32::new(1)));
    let expected = kept(delegating(limits, clerk.clone(), &log), &tape).await;
    assert_eq!(briefs(&expected), ["timeout"]);
    assert_eq!(kept(delegating(limits, clerk, &log), &tape).await, expected);
}

/// The wait before an attempt is recorded with the id of its run.
#[tokio::test(start_paused = true)]
async fn each_attempt_has_its_own_run_also_after_a_suspended_one() {
    let limits = CallLimits { attempts: Some(3), ..CallLimits::UNLIMITED };
    let (log, tape) = (Log::default(), Arc::new(Tape::default()));
    let runs = AtomicU32::new(0);
    let clerk = rule(move |turn| match turn.step() {
        0 if runs.fetch_add(1, Ordering::SeqCst) == 1 => Ok(Step::call([call("wipe", "inner", 3)])),
        _ => Err(ToolFailure::new(FailureKind::Unavailable, "not now", Recovery::Retry).into()),
    });
    let all = Collector::new();
    let runtime = delegating(limits, clerk, &log).with_events(all.clone());
    let runtime = runtime.with_journal(tape.clone()).build();
    let request = RunRequest::new("boss", payload(0)).with_run_id("r1");
    let outcome = runtime.run(request.clone()).await.unwrap();
    let run = outcome.suspended().unwrap();
    let answers = [run.pending()[0].approve()];
    let outcome = runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), ["unavailable"]);
    let ids = tape.keys().into_iter().filter(|key| key.starts_with("run/"));
    assert_eq!(ids.collect::<Vec<_>>(), ["run/1/a", "run/2/a", "run/3/a"]);
    let begun = |event: &Event| {
        matches!(event.kind, EventKind::RunStarted { .. }).then(|| event.run_id().to_owned())
    };
    let begun: BTreeSet<_> = all.events().iter().filter_map(begun).collect();
    assert_eq!(begun.len(), 1 + 3);
    let before = tokio::time::Instant::now();
    runtime.run(request).await.unwrap();
    assert_eq!(before.elapsed(), Duration::ZERO, "no pause is made twice");
}

#[tokio::test]
async fn h7_the_lifetime_of_a_question_after_a_barrier_starts_when_it_is_asked() {
    let (log, clock) = (Log::default(), Arc::new(AtomicU64::new(1_000)));
    let registry = Registry::new();
    registry.register_tool(guarded(&log)).unwrap();
    let limits = CallLimits { sequential: true, ..CallLimits::UNLIMITED };
    let seal = spec("seal").with_limits(limits).with_approval(Approval::default());
    registry.register_tool(FunctionTool::new(seal, async |args: N| args)).unwrap();
    let boss = Agent::new("boss", "lab").with_tools(["wipe", "seal"]);
    let calls = vec![call("wipe", "a", 1), call("seal", "b", 2)];
    registry.register_agent(boss, steps(vec![calls])).unwrap();
    let now = Arc::clone(&clock);
    let runtime = Runtime::builder(registry)
        .with_approvals_lasting(Duration::from_mins(1))
        .with_clock(move || UNIX_EPOCH + Duration::from_secs(now.load(Ordering::SeqCst)))
        .with_journal(Arc::new(Tape::default()))
        .build();
    let request = RunRequest::new("boss", payload(0)).with_run_id("r1");
    let outcome = runtime.run(request).await.unwrap();
    let run = outcome.suspended().unwrap();
    let answers = [run.pending()[0].approve()];
    clock.store(1_050, Ordering::SeqCst);
    let outcome = runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
    let question = outcome.suspended().unwrap().pending()[0].clone();
    assert_eq!((question.tool.as_str(), question.expires_at), ("seal", 1_110_000));
}

/// A journal that fails, or never answers.
pub(crate) struct Broken(pub(crate) &'static str);

impl Journal for Broken {
    fn record<'a>(
        &'a self,
        _: &'a str,
        key: &'a str,
        effect: BoxFuture<'a, String>,
    ) -> BoxFuture<'a, Result<String, BoxError>> {
        Box::pin(async move {
            match self.0 {
                "unreadable" if key == "call/a" => Ok("{".to_owned()),
                "gone" if key == "call/a" => Err("the disk is full".into()),
                "full" if key == "call/a" => {
                    effect.await;
                    Err("the disk is full".into())
                }
                "gone at first" => Err("the disk is full".into()),
                // For the names of tools.
                "silent" if key.starts_with("tool/") => pending().await,
                full if full == key => {
                    effect.await;
                    Err("the disk is full".into())
                }
                _ => Ok(effect.await),
            }
        })
    }

    fn find<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
        let is_gone = self.0 == "gone at first";
        Box::pin(ready(if is_gone { Err("the disk is full".into()) } else { Ok(None) }))
    }
}

#[tokio::test]
async fn an_error_of_the_journal_fails_the_call_or_the_run() {
    let log = Log::default();
    for how in ["unreadable", "gone"] {
        let (outcome, _) = run(&log, Arc::new(Broken(how))).await;
        let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
        assert_eq!(failure.kind, FailureKind::Internal);
        let detail = failure.detail.unwrap();
        assert!(detail.contains("call/a"), "{detail}");
    }
    let (outcome, _) = run(&log, Arc::new(Broken("gone at first"))).await;
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Internal);
}

/// The step was interrupted and not recorded, so that the planner would be asked for it again.
#[tokio::test(start_paused = true)]
async fn a_failed_child_run_makes_no_calls_when_it_is_repeated() {
    let limits = CallLimits { timeout: Some(Duration::from_secs(7)), ..CallLimits::UNLIMITED };
    let (log, tape) = (Log::default(), Arc::new(Tape::default()));
    let slow = Arc::new(Slow(AtomicU32::new(1)));
    let expected = kept(delegating(limits, slow, &log), &tape).await;
    assert_eq!(briefs(&expected), ["timeout"]);
    let planned = log.clone();
    let quick = rule(move |_| {
        planned.push("planned");
        Ok(Step::call([call("wipe", "inner", 3)]))
    });
    let all = Collector::new();
    let again = delegating(limits, quick, &log)
        .with_approver(Arc::new(LoggingApprover(log.clone())))
        .with_events(all.clone());
    assert_eq!(kept(again, &tape).await, expected);
    assert!(log.lines().is_empty(), "{:?}", log.lines());
    let seen: Vec<_> = all.events().iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(
        seen,
        [
            "run_started",
            "tool_call_scheduled",
            "run_started",
            "run_finished",
            "tool_result_received",
            "run_finished"
        ]
    );
}

#[tokio::test]
async fn a_recorded_call_of_an_agent_keeps_its_outcome_after_its_tool_is_removed() {
    let (log, tape) = (Log::default(), Arc::new(Tape::default()));
    let echo = rule(|turn| Ok(Step::Finish(turn.input().clone())));
    let expected = kept(delegating(CallLimits::UNLIMITED, echo, &log), &tape).await;
    assert_eq!(briefs(&expected), [r#"{"n":1}"#]);
    let registry = Registry::new();
    registry.register_agent(Agent::new("boss", "lab"), steps(vec![Vec::new()])).unwrap();
    assert_eq!(kept(Runtime::builder(registry), &tape).await, expected);
}

/// Answers every question with the same verdict.
struct Always(Verdict);

impl Approver for Always {
    fn decide<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(ready(self.0.clone()))
    }
}

/// A registry in which `boss` calls `wipe`, which logs and may need an approval.
fn wiping(log: &Log, is_guarded: bool) -> Registry {
    let (registry, runs) = (Registry::new(), log.clone());
    let free = tool("wipe", move |n| {
        runs.push("wiped");
        n
    });
    registry.register_tool(if is_guarded { guarded(log) } else { free }).unwrap();
    let boss = Agent::new("boss", "lab").with_tools(["wipe"]);
    registry.register_agent(boss, steps(vec![vec![call("wipe", "a", 1)]])).unwrap();
    registry
}

#[tokio::test]
async fn a_recorded_denial_is_kept_when_the_tool_needs_no_approval_any_more() {
    let (log, tape) = (Log::default(), Arc::new(Tape::default()));
    let runtime = |is_guarded| {
        let no = Always(Verdict::Deny(None));
        Runtime::builder(wiping(&log, is_guarded)).with_approver(Arc::new(no))
    };
    let expected = kept(runtime(true), &tape).await;
    assert_eq!(briefs(&expected), ["denied"]);
    assert_eq!(kept(runtime(false), &tape).await, expected);
    assert!(log.lines().is_empty(), "{:?}", log.lines());
}

/// H6: also if an approver answers.
#[tokio::test]
async fn h6_a_result_does_not_answer_a_call_that_the_host_does_not_run() {
    let (log, tape) = (Log::default(), Arc::new(Tape::default()));
    let runtime = Runtime::builder(wiping(&log, true));
    let runtime = runtime.with_approver(Arc::new(Always(Verdict::Result(payload(5)))));
    let outcome = kept(runtime, &tape).await;
    let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied);
    assert!(failure.detail.unwrap().contains("gave a result, expected an approval"));
    assert!(log.lines().is_empty());
}

#[tokio::test]
async fn a_session_with_a_journal_makes_one_call_of_each_id() {
    let registry = Registry::new();
    registry.register_toolset("toys", tool("free", |n| n + 1)).unwrap();
    let catalog = registry.catalog();
    catalog.publish("toys", "toys").unwrap();
    catalog.allow("boss", "toys").unwrap();
    let builder = Runtime::builder(registry).with_catalog(catalog);
    let runtime = builder.with_journal(Arc::new(Tape::default())).build();
    let scope = Scope { run_id: Some("r1".to_owned()), ..Scope::default() };
    let request = || SessionRequest::new("boss").with_scope(scope.clone());
    let session = runtime.open_session(request()).await.unwrap();
    assert_eq!(session.call(call("toys.free", "a", 1)).await.outcome, Ok(payload(2)));
    let failure = session.call(call("toys.free", "a", 7)).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidCall);
    let again = runtime.open_session(request()).await.unwrap();
    assert_eq!(again.call(call("toys.free", "a", 1)).await.outcome, Ok(payload(2)));
}
