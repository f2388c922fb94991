//! Calls that wait for an approval: the questions, the answers that are accepted, and the calls that run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolwright::spec::{Approval, CallLimits};
use toolwright::{BoxFuture, FailureKind, Payload, ToolCall, ToolFailure, ToolSpec, Value};
use toolwright_runtime::{
    Agent, Answer, ApprovalRequest, Approver, Collector, FunctionTool, Registry, ResumeError,
    ResumeRequest, RunOutcome, RunRequest, Runtime, Script, Source, SuspendedRun, Verdict,
};

use crate::planners::{briefs, steps};
use crate::sealed::key;
use crate::tools::{Log, N, call, payload};
use crate::toys::{spec, tool};

/// The spec of a tool that needs an approval.
pub(crate) fn guarded_spec() -> ToolSpec {
    let words = Approval {
        prompt: Some("Wipe {{ args.n }} disks?".into()),
        denied: Some("Not {{ args.n }}.".into()),
        metadata: Some(r#"{"risk_level":"high","undo":null}"#.into()),
    };
    ToolSpec::new("wipe").with_toolset("disks").with_service("lab").with_approval(words)
}

/// A tool that needs an approval and logs its arguments.
pub(crate) fn guarded(log: &Log) -> FunctionTool {
    let log = log.clone();
    FunctionTool::new(guarded_spec(), move |args: N, call: ToolCall| {
        let unasked = if call.is_approved() { "" } else { " unasked" };
        log.push(format!("wiped {}{unasked}", call.args()));
        async move { Ok::<_, ToolFailure>(args) }
    })
}

/// A runtime with an agent that makes a step of calls of `wipe` (needs an approval), `free` and `last` (a barrier).
fn runtime_with(calls: Vec<ToolCall>, log: &Log, clock: &Arc<AtomicU64>) -> Runtime {
    let registry = Registry::new();
    registry.register_tool(guarded(log)).unwrap();
    let free = log.clone();
    registry
        .register_tool(tool("free", move |n| {
            free.push(format!("free {n}"));
            n
        }))
        .unwrap();
    let (last, limits) = (log.clone(), CallLimits { sequential: true, ..CallLimits::UNLIMITED });
    let barrier = spec("last").with_limits(limits);
    registry
        .register_tool(FunctionTool::new(barrier, move |args: N| {
            last.push(format!("last {}", args.n));
            async move { Ok::<_, ToolFailure>(args) }
        }))
        .unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["wipe", "free", "last"]);
    registry.register_agent(agent, steps(vec![calls])).unwrap();
    let clock = Arc::clone(clock);
    Runtime::builder(registry)
        .with_seal_keys([key()])
        .with_approvals_lasting(Duration::from_mins(1))
        .with_clock(move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::SeqCst)))
        .build()
}

struct Bench {
    runtime: Runtime,
    log: Log,
    clock: Arc<AtomicU64>,
}

fn bench(calls: Vec<ToolCall>) -> Bench {
    let (log, clock) = (Log::default(), Arc::new(AtomicU64::new(1_000)));
    Bench { runtime: runtime_with(calls, &log, &clock), log, clock }
}

impl Bench {
    async fn start(&self) -> SuspendedRun {
        let outcome = self.runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
        outcome.suspended().expect("it waits").clone()
    }

    async fn resume(
        &self,
        run: &SuspendedRun,
        answers: Vec<Answer>,
    ) -> Result<RunOutcome, ResumeError> {
        self.runtime.resume(ResumeRequest::new(run, answers)).await
    }
}

fn one() -> Vec<ToolCall> {
    vec![call("wipe", "a", 3)]
}

/// H6: the other calls of the step have run, and the request has the exact arguments and the prompt of the tool.
#[tokio::test]
async fn h6_the_run_waits_with_a_request_that_shows_what_will_run() {
    let spaced = ToolCall::new("wipe", Payload::new("{ \"n\" : 3.0 }")).with_id("a");
    let bench = bench(vec![call("free", "b", 1), spaced]);
    let run = bench.start().await;
    assert_eq!(bench.log.lines(), ["free 1"]);
    let pending = run.pending();
    let [request] = pending.as_slice() else { panic!("one question: {pending:?}") };
    assert_eq!(request.args.as_str(), "{ \"n\" : 3.0 }");
    assert_eq!((request.tool.as_str(), request.call_id.as_str()), ("wipe", "a"));
    assert_eq!(request.prompt.as_deref(), Some("Wipe 3.0 disks?"));
    assert_eq!((request.digest.len(), request.expects_result), (64, false));
    let metadata = Value::Object(request.metadata.clone());
    assert_eq!(metadata.to_string(), r#"{"risk_level":"high","undo":null}"#);
    assert_eq!(request.expires_at, 1_060_000);
}

/// H7: the other calls of the step do not run again.
#[tokio::test]
async fn h7_approved_runs_as_shown_and_siblings_keep_their_results() {
    let bench = bench(vec![call("free", "b", 1), call("wipe", "a", 3), call("free", "c", 2)]);
    let run = bench.start().await;
    let answers = run.pending().iter().map(|question| question.approve()).collect();
    let outcome = bench.resume(&run, answers).await.unwrap();
    assert_eq!(outcome.result(), Ok(payload(0)));
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, r#"{"n":3}"#, r#"{"n":2}"#]);
    assert_eq!(bench.log.lines(), ["free 1", "free 2", r#"wiped {"n":3}"#]);
}

/// H7: after invalid arguments the run can still be resumed.
#[tokio::test]
async fn h7_edited_arguments_are_checked_and_run() {
    let bench = bench(one());
    let run = bench.start().await;
    let question = run.pending()[0].clone();
    let wrong = question.approve_with(Payload::new(r#"{"n": "all"}"#));
    let refused = bench.resume(&run, vec![wrong]).await.unwrap_err();
    assert!(matches!(refused, ResumeError::InvalidArguments { .. }), "{refused}");
    let outcome = bench.resume(&run, vec![question.approve_with(payload(1))]).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#]);
    assert_eq!(bench.log.lines(), [r#"wiped {"n":1}"#]);
}

#[tokio::test]
async fn h7_edited_arguments_are_not_checked_against_another_tool_with_the_same_name() {
    let registry = Registry::new();
    registry.register_tool(guarded(&Log::default())).unwrap();
    let script = steps(vec![vec![ToolCall::new("wipe", Payload::new("{}"))]]);
    registry.register_agent(Agent::new("worker", "lab"), script).unwrap();
    let runtime = Runtime::new(registry);
    let own = || {
        let own = ToolSpec::new("wipe").with_toolset("own").with_approval(Approval::default());
        FunctionTool::new(own, async || true)
    };
    let request = RunRequest::new("worker", payload(0)).with_toolset("own", own());
    let outcome = runtime.run(request).await.unwrap();
    let run = outcome.suspended().unwrap();
    let answers = [run.pending()[0].approve_with(Payload::new("{ }"))];
    let request = ResumeRequest::new(run, answers).with_toolset("own", own());
    let outcome = runtime.resume(request).await.unwrap();
    assert_eq!(briefs(&outcome), ["true"]);
}

/// H7: the message is that of the approver or, without one, that of the tool.
#[tokio::test]
async fn h7_a_denied_call_has_a_failure_with_a_message_for_the_model() {
    for (reason, expected) in [(None, "Not 3."), (Some("Ask me on Monday."), "Ask me on Monday.")] {
        let bench = bench(one());
        let run = bench.start().await;
        let question = run.pending()[0];
        let answer = reason.map_or_else(|| question.deny(), |reason| question.deny_because(reason));
        let outcome = bench.resume(&run, vec![answer]).await.unwrap();
        let failure = outcome.calls().next().unwrap().result.outcome.as_ref().unwrap_err().clone();
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Denied, expected));
        assert_eq!(outcome.result(), Ok(payload(0)), "the run continues");
        assert!(bench.log.lines().is_empty());
    }
}

/// H7: unknown, repeated, missing and late answers, and those with another digest or verdict.
#[tokio::test]
async fn h7_wrong_answers_are_refused_and_run_nothing() {
    let bench = bench(vec![call("wipe", "a", 3), call("wipe", "b", 4)]);
    let run = bench.start().await;
    let (first, second) = (run.pending()[0].clone(), run.pending()[1].clone());
    let unknown = Answer { id: "approval_0".into(), ..first.approve() };
    let swapped = Answer { digest: second.digest.clone(), ..first.approve() };
    let cases: [(Vec<Answer>, &str); 6] = [
        (vec![], "has no answer"),
        (vec![first.approve()], "has no answer"),
        (vec![first.approve(), second.approve(), unknown], "the run has no such question"),
        (vec![first.approve(), first.deny(), second.approve()], "was answered twice"),
        (vec![swapped, second.approve()], "is to another question"),
        (vec![first.result(payload(1)), second.approve()], "waits for an approval"),
    ];
    for (answers, expected) in cases {
        let error = bench.resume(&run, answers).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    bench.clock.store(1_060, Ordering::SeqCst);
    let late = bench.resume(&run, vec![first.approve(), second.approve()]).await.unwrap_err();
    assert!(matches!(late, ResumeError::Expired { .. }), "{late}");
    assert!(bench.log.lines().is_empty());
    bench.clock.store(1_059, Ordering::SeqCst);
    bench.resume(&run, vec![first.approve(), second.deny()]).await.unwrap();
    let again = bench.resume(&run, vec![first.approve(), second.approve()]).await.unwrap_err();
    assert!(matches!(again, ResumeError::AnsweredBefore { .. }), "{again}");
    assert_eq!(bench.log.lines(), [r#"wiped {"n":3}"#]);
}

/// H8: also in another runtime.
#[tokio::test]
async fn h8_a_suspended_run_survives_export_and_restore() {
    let there = bench(vec![call("free", "b", 1), call("wipe", "a", 3)]);
    let request = RunRequest::new("worker", payload(0))
        .with_run_id("r1")
        .with_session_id("s1")
        .with_approval_of(["free"]);
    let outcome = there.runtime.run(request).await.unwrap();
    let text = there.runtime.export(outcome.suspended().unwrap()).await.unwrap();
    assert!(there.log.lines().is_empty(), "both wait");
    let here = bench(vec![call("free", "b", 1), call("wipe", "a", 3)]);
    let restored = here.runtime.restore(&text).await.unwrap();
    assert_eq!(&restored, outcome.suspended().unwrap());
    assert_eq!((restored.run_id(), restored.agent()), ("r1", "worker"));
    let answers = restored.pending().iter().map(|question| question.approve()).collect();
    let outcome = here.resume(&restored, answers).await.unwrap();
    assert_eq!(outcome.run_id, "r1");
    assert_eq!(outcome.calls().next().unwrap().call.session_id(), Some("s1"));
    assert_eq!(here.log.lines(), ["free 1", r#"wiped {"n":3}"#]);
}

/// A runtime with an agent whose first step needs an approval and whose second step makes two calls of `free`, which needs
/// none itself.
fn two_steps(log: &Log) -> Runtime {
    let registry = Registry::new();
    registry.register_tool(guarded(log)).unwrap();
    let free = log.clone();
    let free = FunctionTool::new(spec("free"), move |args: N| {
        let log = free.clone();
        async move {
            log.push(format!("start {}", args.n));
            tokio::task::yield_now().await;
            log.push(format!("end {}", args.n));
            Ok::<_, ToolFailure>(args)
        }
    });
    registry.register_tool(free).unwrap();
    let second = vec![call("free", "b", 1), call("free", "c", 2)];
    let agent = Agent::new("worker", "lab").with_tools(["wipe", "free"]);
    registry.register_agent(agent, steps(vec![one(), second])).unwrap();
    Runtime::builder(registry).with_seal_keys([key()]).build()
}

/// Exports and restores a run, approves all its questions and resumes it in another runtime.
async fn approve_elsewhere(run: &SuspendedRun, log: &Log) -> RunOutcome {
    let elsewhere = two_steps(log);
    let restored = elsewhere.restore(&two_steps(log).export(run).await.unwrap()).await.unwrap();
    let answers: Vec<_> = restored.pending().iter().map(|question| question.approve()).collect();
    elsewhere.resume(ResumeRequest::new(&restored, answers)).await.unwrap()
}

/// H8: calls of later steps still need an approval.
#[tokio::test]
async fn h8_the_approval_list_survives_export_and_restore() {
    let log = Log::default();
    let request = RunRequest::new("worker", payload(0)).with_approval_of(["free"]);
    let outcome = two_steps(&log).run(request).await.unwrap();
    let outcome = approve_elsewhere(outcome.suspended().unwrap(), &log).await;
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#], "`free` waits");
    let run = outcome.suspended().expect("the second step waits too");
    let tools: Vec<_> = run.pending().iter().map(|question| question.tool.clone()).collect();
    assert_eq!(tools, ["free", "free"]);
    let outcome = approve_elsewhere(run, &log).await;
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#, r#"{"n":1}"#, r#"{"n":2}"#]);
}

#[tokio::test]
async fn h8_a_resumed_run_still_makes_one_call_at_a_time() {
    for (one_at_a_time, expected) in [
        (false, ["start 1", "start 2", "end 1", "end 2"]),
        (true, ["start 1", "end 1", "start 2", "end 2"]),
    ] {
        let log = Log::default();
        let request = RunRequest::new("worker", payload(0));
        let request = if one_at_a_time { request.one_at_a_time() } else { request };
        let outcome = two_steps(&log).run(request).await.unwrap();
        approve_elsewhere(outcome.suspended().unwrap(), &log).await.result().unwrap();
        assert_eq!(log.lines()[1..], expected);
    }
}

#[tokio::test]
async fn h8_a_forged_state_of_a_tool_without_an_agent_runs_nothing() {
    let (log, ran) = (Log::default(), Log::default());
    let outcome = Runtime::new(nested(&log)).run(RunRequest::new("parent", payload(0))).await;
    let outcome = outcome.unwrap();
    let run = outcome.suspended().unwrap();
    let seen = ran.clone();
    let delegate = tool("delegate", move |n| {
        seen.push("delegate runs");
        n
    });
    let registry = Registry::new();
    registry.register_toolset("delegating", delegate).unwrap();
    let parent = Agent::new("parent", "lab").with_toolsets(["delegating"]);
    registry.register_agent(parent, steps(vec![])).unwrap();
    let answers: Vec<_> = run.pending().iter().map(|question| question.approve()).collect();
    let outcome = Runtime::new(registry).resume(ResumeRequest::new(run, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), ["not_found"]);
    assert!(ran.lines().is_empty() && log.lines().is_empty());
}

#[tokio::test]
async fn r12_calls_after_a_waiting_barrier_wait_and_run_after_it() {
    let bench = bench(vec![call("wipe", "a", 1), call("last", "b", 2), call("free", "c", 3)]);
    let run = bench.start().await;
    assert!(bench.log.lines().is_empty());
    let answers = vec![run.pending()[0].approve()];
    let outcome = bench.resume(&run, answers).await.unwrap();
    assert_eq!(bench.log.lines(), [r#"wiped {"n":1}"#, "last 2", "free 3"]);
    assert_eq!(briefs(&outcome).len(), 3);
}

#[tokio::test]
async fn r10_every_run_over_a_shared_toolset_asks_once() {
    let bench = bench(one());
    for _ in 0..5 {
        assert_eq!(bench.start().await.pending().len(), 1);
    }
}

#[tokio::test]
async fn a_call_with_wrong_arguments_is_not_asked_about() {
    let wrong = ToolCall::new("wipe", Payload::new("{}")).with_id("a");
    let bench = bench(vec![wrong]);
    let outcome = bench.runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(briefs(&outcome), ["invalid_call"]);
}

/// Approves some calls and denies others, and collects the prompts.
struct Choosy(Mutex<Vec<String>>);

impl Approver for Choosy {
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        self.0.lock().unwrap().push(request.prompt.clone().unwrap());
        let yes = request.args == payload(1);
        Box::pin(async move {
            tokio::task::yield_now().await;
            if yes { Verdict::Approve } else { Verdict::Deny(None) }
        })
    }
}

/// Outside of runs only an approver can answer.
#[tokio::test]
async fn an_approver_answers_while_the_run_waits() {
    let all = Collector::new();
    let bench = bench(vec![call("wipe", "a", 1), call("wipe", "b", 2)]);
    let choosy = Arc::new(Choosy(Mutex::default()));
    let request = RunRequest::new("worker", payload(0))
        .with_approver(choosy.clone())
        .with_events(all.clone());
    let outcome = bench.runtime.run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "denied"]);
    assert_eq!(*choosy.0.lock().unwrap(), ["Wipe 1 disks?", "Wipe 2 disks?"]);
    let kinds: Vec<_> = all.events().iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "approval_answered").count(), 2);
    let denied = bench.runtime.call(call("wipe", "a", 1)).await;
    let message = &denied.outcome.as_ref().unwrap_err().message;
    assert_eq!(message, "`wipe` needs an approval, and there is no approver");
}

/// The run is suspended until then, and the result is checked.
#[tokio::test]
async fn a_tool_that_the_host_runs_gets_its_result_from_it() {
    for (result, expected) in [(payload(5), r#"{"n":5}"#), (Payload::new("{}"), "malformed_result")]
    {
        let spec = ToolSpec::new("ask").with_toolset("people").with_types::<N, N>();
        let registry = Registry::new();
        registry.register_toolset("people", Source::run_by_host([spec])).unwrap();
        let agent = Agent::new("worker", "lab").with_toolsets(["people"]);
        registry.register_agent(agent, steps(vec![vec![call("ask", "a", 1)]])).unwrap();
        // An approver is not asked, as it cannot know the result.
        let runtime = Runtime::builder(registry)
            .with_approver(Arc::new(|_: &ApprovalRequest| Verdict::Approve))
            .build();
        let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
        let run = outcome.suspended().unwrap();
        let question = run.pending()[0];
        assert!(question.expects_result);
        let wrong =
            runtime.resume(ResumeRequest::new(run, vec![question.approve()])).await.unwrap_err();
        assert!(matches!(wrong, ResumeError::WrongVerdict { .. }), "{wrong}");
        let outcome =
            runtime.resume(ResumeRequest::new(run, vec![question.result(result)])).await.unwrap();
        assert_eq!(briefs(&outcome), [expected]);
    }
}

/// A registry with an agent whose call another agent runs; the child run needs an approval.
pub(crate) fn nested(log: &Log) -> Registry {
    nested_behind(log, ToolSpec::new("delegate"))
}

/// Does the same as [`nested`], with this spec for the tool `delegate`.
pub(crate) fn nested_behind(log: &Log, delegate: ToolSpec) -> Registry {
    let spec = delegate.with_toolset("delegating").with_service("lab").with_types::<N, N>();
    let registry = Registry::new();
    registry.register_tool(guarded(log)).unwrap();
    let child = Agent::new("child", "lab").with_implements(spec).with_tools(["wipe"]);
    let script = Script::new().call([call("wipe", "inner", 3)]).then(|turn| {
        let result = turn.last_results().next().ok_or("no result")?;
        Ok(toolwright_runtime::Step::Finish(result.outcome.as_ref().map_err(Clone::clone)?.clone()))
    });
    registry.register_agent(child, Arc::new(script)).unwrap();
    let parent = Agent::new("parent", "lab").with_toolsets(["delegating"]);
    registry.register_agent(parent, steps(vec![vec![call("delegate", "outer", 1)]])).unwrap();
    registry
}

/// H6, H8: also in another process. Each call has one start and one result (G31).
#[tokio::test]
async fn h6_h8_a_suspended_child_run_suspends_its_parent_and_both_are_resumed() {
    let (log, all) = (Log::default(), Collector::new());
    let runtime = Runtime::builder(nested(&log)).with_events(all.clone()).build();
    let outcome = runtime.run(RunRequest::new("parent", payload(0))).await.unwrap();
    let text = runtime.export(outcome.suspended().unwrap()).await.unwrap();
    let restored = runtime.restore(&text).await.unwrap();
    let question = restored.pending()[0].clone();
    assert_eq!((question.tool.as_str(), question.args.as_str()), ("wipe", r#"{"n":3}"#));
    let outcome =
        runtime.resume(ResumeRequest::new(&restored, vec![question.approve()])).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#]);
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
    let seen: Vec<_> = all
        .events()
        .iter()
        .map(|event| format!("{} {}", event.agent.as_deref().unwrap(), event.kind.as_str()))
        .collect();
    let expected = [
        "parent run_started",
        "parent tool_call_scheduled",
        "child run_started",
        "child approval_requested",
        "child run_suspended",
        "parent run_suspended",
        "parent run_resumed",
        "child run_resumed",
        "child approval_answered",
        "child tool_call_scheduled",
        "child tool_result_received",
        "child run_finished",
        "parent tool_result_received",
        "parent run_finished",
    ];
    assert_eq!(seen, expected);
    let runs: std::collections::BTreeSet<_> =
        all.events().iter().map(|event| event.run_id().to_owned()).collect();
    assert_eq!(runs.len(), 2, "the same child run is resumed");
}

#[tokio::test(start_paused = true)]
async fn time_spent_suspended_does_not_count_toward_the_time_budget() {
    let log = Log::default();
    let registry = Registry::new();
    registry.register_tool(guarded(&log)).unwrap();
    let policy = toolwright_runtime::Policy {
        time_budget: Some(Duration::from_secs(1)),
        ..toolwright_runtime::Policy::UNLIMITED
    };
    let agent = Agent::new("worker", "lab").with_tools(["wipe"]).with_policy(policy);
    registry.register_agent(agent, steps(vec![one()])).unwrap();
    let runtime = Runtime::builder(registry).with_clock(SystemTime::now).build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    let run = outcome.suspended().unwrap();
    let resumed =
        runtime.resume(ResumeRequest::new(run, vec![run.pending()[0].approve()])).await.unwrap();
    assert_eq!(resumed.result(), Ok(payload(0)));
}
