//! Calls that were interrupted, in runs with a journal.

use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolwright::spec::{Approval, CallLimits, ToolAnnotations};
use toolwright::{
    BoxError, BoxFuture, Executor, Registrar, Scope, Tool, ToolCall, ToolResult, ToolSpec,
    described,
};
use toolwright_runtime::tools::{Combined, Delegation, Source};
use toolwright_runtime::{
    Agent, ApprovalRequest, FunctionTool, Hooks, Journal, Planner, Registry, ResumeRequest,
    RunRequest, Runtime, RuntimeBuilder, Step, Turn, Verdict,
};

use crate::approvals::{guarded, guarded_spec};
use crate::journal::{Broken, LoggingApprover, More, Tape, kept};
use crate::nested::asking_by;
use crate::planners::{briefs, rule, steps};
use crate::tools::{Echo, Log, N, call, payload};
use crate::toys::{spec, tool};

/// A crash after any effect: an approval of a tool that is not idempotent lets it run once at most.
#[tokio::test]
async fn a_call_of_a_tool_that_is_not_idempotent_is_not_made_again_after_an_interruption() {
    let approved = async |log: &Log, tape: &Arc<Tape>| {
        let registry = Registry::new();
        registry.register_tool(guarded(log)).unwrap();
        let agent = Agent::new("boss", "lab").with_tools(["wipe"]);
        registry.register_agent(agent, steps(vec![vec![call("wipe", "b", 3)]])).unwrap();
        let approver = LoggingApprover(Log::default());
        let runtime = Runtime::builder(registry).with_approver(Arc::new(approver));
        kept(runtime, tape).await
    };
    let (whole, log) = (Arc::new(Tape::default()), Log::default());
    let expected = approved(&log, &whole).await;
    assert_eq!(log.lines().len(), 1);
    let keys = whole.keys();
    assert_eq!(keys, ["step/0", "tool/b", "question/b", "answer/b", "begin/b", "call/b", "step/1"]);
    let begun = keys.iter().position(|key| key == "begin/b").unwrap() + 1;
    for length in 0..=keys.len() {
        let (log, tape) = (Log::default(), Tape::cut(&whole, length));
        let outcome = approved(&log, &tape).await;
        assert_eq!(log.lines().len(), usize::from(length < begun), "after {length} entries");
        if length == begun {
            let result = &outcome.calls().next().unwrap().result;
            let failure = result.outcome.as_ref().unwrap_err();
            assert!(failure.message.contains("may have taken effect"), "{failure:?}");
        } else {
            assert_eq!(outcome, expected, "after {length} entries");
        }
    }
}

#[tokio::test]
async fn a_call_whose_outcome_cannot_be_recorded_may_have_taken_effect_if_it_began() {
    for (how, runs_calls) in [("full", true), ("gone", false)] {
        let log = Log::default();
        let registry = Registry::new();
        registry.register_tool(guarded(&log)).unwrap();
        let agent = Agent::new("boss", "lab").with_tools(["wipe"]);
        registry.register_agent(agent, steps(vec![vec![call("wipe", "a", 3)]])).unwrap();
        let runtime = Runtime::builder(registry)
            .with_approver(Arc::new(LoggingApprover(Log::default())))
            .with_journal(Arc::new(Broken(how)))
            .build();
        let request = RunRequest::new("boss", payload(0)).with_run_id("r1");
        let outcome = runtime.run(request).await.unwrap();
        let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
        let warns = failure.message.contains("may have taken effect");
        assert_eq!(
            (warns, log.lines().len()),
            (runs_calls, usize::from(runs_calls)),
            "{failure:?}"
        );
    }
}

/// Knows its calls by their ids, or not.
struct Remote {
    log: Log,
    knows_calls: bool,
}

impl Executor for Remote {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.log.push(call.id());
        Box::pin(ready(ToolResult::new(call, Ok(call.args().clone()))))
    }

    fn has_resumable_calls(&self) -> bool {
        self.knows_calls
    }
}

/// A crash before the outcome is recorded.
#[tokio::test]
async fn an_interrupted_call_of_an_executor_that_knows_its_calls_is_made_again() {
    for knows_calls in [true, false] {
        let log = Log::default();
        let run = async |tape: &Arc<Tape>| {
            let mut registry = Registry::new();
            let remote = Remote { log: log.clone(), knows_calls };
            registry.register(&[Echo::SPEC], Arc::new(remote)).unwrap();
            let agent = Agent::new("boss", "lab").with_tools(["echo"]);
            registry.register_agent(agent, steps(vec![vec![call("echo", "a", 1)]])).unwrap();
            kept(Runtime::builder(registry), tape).await
        };
        let whole = Arc::new(Tape::default());
        let expected = run(&whole).await;
        let at = whole.keys().iter().position(|key| key == "call/a").unwrap();
        let is_same = run(&Tape::cut(&whole, at)).await == expected;
        assert_eq!((is_same, log.lines().len()), (knows_calls, 1 + usize::from(knows_calls)));
    }
}

/// A toolset with `wipe`, in which a repeated run finds that something has changed.
fn changed(what: &str, log: &Log) -> Combined {
    let guarded = guarded(log);
    match what {
        "unlisted" => Combined::new(),
        "unavailable" => Combined::new().with("disks", guarded.with_availability(|| false)),
        "question" => {
            let spec = guarded_spec().with_approval(Approval::default());
            Combined::new().with("disks", FunctionTool::new(spec, async |args: N| args))
        }
        "arguments" => Combined::new()
            .with("disks", FunctionTool::new(guarded_spec(), async |args: Named| args)),
        _ => Combined::new().with("disks", guarded),
    }
}

described! {
    #[derive(Clone)]
    struct Named {
        name: String,
    }
}

/// A crash before the outcome is recorded.
#[tokio::test]
async fn an_interrupted_call_that_cannot_be_made_again_may_have_taken_effect() {
    let log = Log::default();
    let run = async |what: &str, tape: &Arc<Tape>| {
        let registry = Registry::new();
        registry.register_toolset("disks", changed(what, &log)).unwrap();
        let agent = Agent::new("boss", "lab").with_toolsets(["disks"]);
        registry.register_agent(agent, steps(vec![vec![call("wipe", "a", 1)]])).unwrap();
        let approver = Arc::new(LoggingApprover(Log::default()));
        kept(Runtime::builder(registry).with_approver(approver), tape).await
    };
    let whole = Arc::new(Tape::default());
    run("", &whole).await;
    let at = whole.keys().iter().position(|key| key == "call/a").unwrap();
    for what in ["unavailable", "unlisted", "question", "arguments"] {
        let outcome = run(what, &Tape::cut(&whole, at)).await;
        let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
        assert!(failure.message.contains("may have taken effect"), "{what}: {failure:?}");
        let outcome = run(what, &Tape::cut(&whole, at - 1)).await;
        let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
        assert!(!failure.message.contains("may have taken effect"), "{what}: {failure:?}");
    }
    assert_eq!(log.lines().len(), 1);
}

#[tokio::test]
async fn an_interrupted_call_outside_of_runs_whose_tool_is_gone_may_have_taken_effect() {
    let scope = Scope { run_id: Some("r1".to_owned()), ..Scope::default() };
    let ask = async |registry: Registry, tape: &Arc<Tape>| {
        let runtime = Runtime::builder(registry).with_journal(tape.clone()).build();
        runtime.call(call("wipe", "a", 1).with_scope(scope.clone())).await.outcome
    };
    let registry = Registry::new();
    registry.register_tool(FunctionTool::new(spec("wipe"), async |args: N| args)).unwrap();
    let whole = Arc::new(Tape::default());
    ask(registry, &whole).await.unwrap();
    let at = whole.keys().iter().position(|key| key == "call/a").unwrap();
    let failure = ask(Registry::new(), &Tape::cut(&whole, at)).await.unwrap_err();
    assert!(failure.message.contains("may have taken effect"), "{failure:?}");
}

/// The entry after the hooks, and the one at the end of the run of an agent.
#[tokio::test]
async fn a_call_whose_end_cannot_be_recorded_may_have_taken_effect() {
    for (key, name) in [("after/a", "free"), ("end/1/a", "job")] {
        let log = Log::default();
        let registry = Registry::new();
        registry.register_tool(tool("free", |n| n)).unwrap();
        let job = spec("job").with_toolset("jobs").with_types::<N, N>();
        let clerk = Agent::new("clerk", "lab").with_implements(job);
        registry.register_agent(clerk, steps(vec![])).unwrap();
        let boss = Agent::new("boss", "lab").with_tools([name]);
        registry.register_agent(boss, steps(vec![vec![call(name, "a", 1)]])).unwrap();
        let runtime = Runtime::builder(registry).with_hooks(Hooks::new().with(More(log)));
        let runtime = runtime.with_journal(Arc::new(Broken(key))).build();
        let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
        let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
        assert!(failure.message.contains("may have taken effect"), "{key}: {failure:?}");
    }
}

/// The call ended or, with fewer entries, was interrupted.
#[tokio::test]
async fn a_repeated_run_with_a_longer_approval_list_does_not_ask_about_a_call_that_it_made() {
    let run = async |list: &[&str], tape: &Arc<Tape>| {
        let asked = Log::default();
        let registry = Registry::new();
        registry.register_tool(tool("free", |n| n + 1)).unwrap();
        let agent = Agent::new("boss", "lab").with_tools(["free"]);
        registry.register_agent(agent, steps(vec![vec![call("free", "a", 1)]])).unwrap();
        let approver = Arc::new(LoggingApprover(asked.clone()));
        let runtime = Runtime::builder(registry).with_approver(approver);
        let runtime = runtime.with_journal(tape.clone()).build();
        let request = RunRequest::new("boss", payload(0)).with_run_id("r1");
        let request = request.with_approval_of(list.iter().copied());
        (briefs(&runtime.run(request).await.unwrap()), asked.lines().len())
    };
    let whole = Arc::new(Tape::default());
    run(&[], &whole).await;
    let begun = whole.keys().iter().position(|key| key == "call/a").unwrap();
    for (length, brief, asked) in
        [(begun + 1, r#"{"n":2}"#, 0), (begun, "internal", 0), (begun - 1, r#"{"n":10}"#, 1)]
    {
        let repeated = run(&["free"], &Tape::cut(&whole, length)).await;
        assert_eq!(repeated, (vec![brief.to_owned()], asked), "after {length} entries");
    }
}

/// The tool is gone, or has another description.
#[tokio::test]
async fn a_result_of_the_host_for_a_tool_that_has_changed_may_have_taken_effect() {
    let runtime = |spec: ToolSpec| {
        let registry = Registry::new();
        let tools = Source::run_by_host([spec.with_toolset("people").with_types::<N, N>()]);
        registry.register_toolset("people", tools).unwrap();
        let agent = Agent::new("worker", "lab").with_toolsets(["people"]);
        registry.register_agent(agent, steps(vec![vec![call("ask", "a", 1)]])).unwrap();
        Runtime::new(registry)
    };
    let asking = runtime(ToolSpec::new("ask"));
    let outcome = asking.run(RunRequest::new("worker", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    for spec in [ToolSpec::new("other"), ToolSpec::new("ask").with_description("Asks.")] {
        let answers = [run.pending()[0].result(payload(5))];
        let outcome = runtime(spec).resume(ResumeRequest::new(run, answers)).await.unwrap();
        let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
        assert!(failure.message.contains("may have taken effect"), "{failure:?}");
    }
}

/// The first process ended after the agent had the arguments of the first answer.
#[tokio::test]
async fn an_agent_does_not_run_a_call_with_other_arguments_than_those_that_were_approved() {
    let (tape, input) = (Arc::new(Tape::default()), Log::default());
    let runtime = || {
        let registry = Registry::new();
        let job = spec("job").with_toolset("jobs").with_types::<N, N>();
        let job = job.with_approval(Approval::default());
        let seen = input.clone();
        let planner = rule(move |turn| {
            seen.push(turn.input().as_str());
            Ok(Step::Finish(turn.input().clone()))
        });
        let clerk = Agent::new("clerk", "lab").with_implements(job);
        registry.register_agent(clerk, planner).unwrap();
        let boss = Agent::new("boss", "lab").with_tools(["job"]);
        registry.register_agent(boss, steps(vec![vec![call("job", "a", 1)]])).unwrap();
        Runtime::builder(registry).with_journal(tape.clone()).build()
    };
    let outcome = runtime().run(RunRequest::new("boss", payload(0)).with_run_id("r1")).await;
    let outcome = outcome.unwrap();
    let run = outcome.suspended().unwrap();
    let resume = async |n| {
        let answers = [run.pending()[0].approve_with(payload(n))];
        briefs(&runtime().resume(ResumeRequest::new(run, answers)).await.unwrap())
    };
    assert_eq!(resume(2).await, [r#"{"n":2}"#]);
    assert_eq!(resume(3).await, ["internal"]);
    assert_eq!(resume(2).await, [r#"{"n":2}"#]);
    assert_eq!(input.lines(), [r#"{"n":2}"#]);
}

/// The tool delegates, and the first process ended in the run of the agent, before a list had the tool.
#[tokio::test]
async fn an_agent_does_not_run_a_delegated_call_with_other_arguments_than_those_that_were_approved()
{
    let run = async |list: &[&str], approved: i64, tape: &Arc<Tape>| {
        let registry = Registry::new();
        let job = spec("job").with_types::<N, N>();
        let job = FunctionTool::delegating(job, async |call: ToolCall| {
            let n = call.args().decode::<N>()?.n;
            Ok::<_, BoxError>(Delegation::to("clerk", payload(n + 100)))
        });
        registry.register_tool(job).unwrap();
        let planner = rule(|turn| Ok(Step::Finish(turn.input().clone())));
        registry.register_agent(Agent::new("clerk", "lab"), planner).unwrap();
        let boss = Agent::new("boss", "lab").with_tools(["job"]);
        registry.register_agent(boss, steps(vec![vec![call("job", "a", 1)]])).unwrap();
        let runtime = Runtime::builder(registry).with_journal(tape.clone()).build();
        let approver = move |_: &ApprovalRequest| Verdict::ApproveWith(payload(approved));
        let request = RunRequest::new("boss", payload(0)).with_run_id("r1");
        let request = request.with_approver(Arc::new(approver));
        let request = request.with_approval_of(list.iter().copied());
        briefs(&runtime.run(request).await.unwrap())
    };
    let whole = Arc::new(Tape::default());
    assert_eq!(run(&[], 0, &whole).await, [r#"{"n":101}"#]);
    let ended = whole.keys().iter().position(|key| key == "end/1/a").unwrap();
    let begun = whole.keys().iter().position(|key| key == "child step/0").unwrap();
    for length in [ended, begun] {
        let tape = Tape::cut(&whole, length);
        assert_eq!(run(&["job"], 3, &tape).await, ["internal"], "after {length} entries");
        let tape = Tape::cut(&whole, length);
        assert_eq!(run(&["job"], 1, &tape).await, [r#"{"n":101}"#], "after {length} entries");
    }
}

/// A runtime in which `boss` calls `job`, which is a function, one that is idempotent, or implemented by `clerk`, whose tool is `free`.
/// The tools log the calls that are made.
fn with_job(how: &str, log: &Log) -> RuntimeBuilder {
    let registry = Registry::new();
    let logging = |name: &'static str, spec: ToolSpec| {
        let log = log.clone();
        FunctionTool::new(spec, move |args: N| {
            log.push(name);
            async move { args }
        })
    };
    registry.register_tool(logging("free", spec("free"))).unwrap();
    let job = spec("job").with_toolset("jobs");
    let idempotent = ToolAnnotations { idempotent: Some(true), ..ToolAnnotations::UNKNOWN };
    match how {
        "function" => registry.register_tool(logging("job", job)).unwrap(),
        "idempotent" => {
            registry.register_tool(logging("job", job.with_annotations(idempotent))).unwrap();
        }
        _ => {
            let job = job.with_types::<N, N>();
            let clerk = Agent::new("clerk", "lab").with_implements(job).with_tools(["free"]);
            let calls = steps(vec![vec![call("free", "b", 1)]]);
            registry.register_agent(clerk, calls).unwrap();
        }
    }
    let boss = Agent::new("boss", "lab").with_tools(["job"]);
    registry.register_agent(boss, steps(vec![vec![call("job", "a", 1)]])).unwrap();
    Runtime::builder(registry)
}

/// Another version of the program repeats the run. It has the outcome if that was recorded.
#[tokio::test]
async fn an_interrupted_call_is_not_made_again_by_another_kind_of_tool() {
    let changes = [
        ("function", "idempotent", "call/a"),
        ("function", "agent", "call/a"),
        ("agent", "function", "end/1/a"),
        ("agent", "idempotent", "end/1/a"),
    ];
    for (before, after, end) in changes {
        for list in [&[][..], &["job"]] {
            let (log, whole) = (Log::default(), Arc::new(Tape::default()));
            let expected = kept(with_job(before, &log), &whole).await;
            assert_eq!(log.lines().len(), 1);
            let keys = whole.keys();
            let ended = keys.iter().position(|key| key == end).unwrap();
            let begun = keys.iter().position(|key| key == "begin/a" || key == "run/1/a").unwrap();
            for length in begun + 1..=ended + 1 {
                let again = Log::default();
                let approving = |_: &ApprovalRequest| Verdict::Approve;
                let runtime = with_job(after, &again).with_approver(Arc::new(approving));
                let runtime = runtime.with_journal(Tape::cut(&whole, length)).build();
                let request = RunRequest::new("boss", payload(0)).with_run_id("r1");
                let request = request.with_approval_of(list.iter().copied());
                let outcome = runtime.run(request).await.unwrap();
                let what = format!("{before} to {after}, {list:?}, after {}", keys[length - 1]);
                assert!(again.lines().is_empty(), "{what}: {:?}", again.lines());
                if length > ended {
                    assert_eq!(briefs(&outcome), briefs(&expected), "{what}");
                } else {
                    let result = &outcome.calls().next().unwrap().result;
                    let failure = result.outcome.as_ref().unwrap_err();
                    assert!(
                        failure.message.contains("may have taken effect"),
                        "{what}: {failure:?}"
                    );
                }
            }
        }
    }
}

/// The version that begins the call is the one that repeats it.
#[tokio::test]
async fn an_interrupted_call_of_an_idempotent_tool_is_made_again() {
    let (log, whole) = (Log::default(), Arc::new(Tape::default()));
    let expected = kept(with_job("idempotent", &log), &whole).await;
    let ended = whole.keys().iter().position(|key| key == "call/a").unwrap();
    let outcome = kept(with_job("idempotent", &log), &Tape::cut(&whole, ended)).await;
    assert_eq!((outcome, log.lines().len()), (expected, 2));
}

/// The run of its agent began and was interrupted. Now its tool is gone, or the call is denied.
#[tokio::test]
async fn a_call_whose_agent_began_may_have_taken_effect_if_it_is_denied_or_its_tool_is_gone() {
    let (log, whole) = (Log::default(), Arc::new(Tape::default()));
    kept(with_job("agent", &log), &whole).await;
    let begun = whole.keys().iter().position(|key| key == "run/1/a").unwrap();
    for (length, warns) in [(begun + 1, true), (begun, false)] {
        let gone = Registry::new();
        gone.register_tool(tool("free", |n| n)).unwrap();
        let boss = Agent::new("boss", "lab").with_tools(["free"]);
        gone.register_agent(boss, steps(vec![vec![call("job", "a", 1)]])).unwrap();
        let request = RunRequest::new("boss", payload(0)).with_run_id("r1");
        let denying = |_: &ApprovalRequest| Verdict::Deny(None);
        let denied = request.clone().with_approval_of(["job"]).with_approver(Arc::new(denying));
        let ways = [(Runtime::builder(gone), request), (with_job("agent", &log), denied)];
        for (runtime, request) in ways {
            let runtime = runtime.with_journal(Tape::cut(&whole, length)).build();
            let outcome = runtime.run(request).await.unwrap();
            let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
            let says = failure.message.contains("may have taken effect");
            assert_eq!(says, warns, "{failure:?}");
        }
    }
}

/// A journal that replays in order: nothing is found before the run has got all earlier entries, and no effect runs.
struct InOrder(Arc<Tape>);

impl InOrder {
    async fn entry(&self, run_id: &str, key: &str) -> Result<String, BoxError> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        match self.0.find(run_id, key).await? {
            Some(entry) => Ok(entry),
            None => pending().await,
        }
    }
}

impl Journal for InOrder {
    fn record<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
        _: BoxFuture<'a, String>,
    ) -> BoxFuture<'a, Result<String, BoxError>> {
        Box::pin(self.entry(run_id, key))
    }

    fn find<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
        Box::pin(ready(Ok(None)))
    }

    fn replayed<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<String, BoxError>> {
        Box::pin(self.entry(run_id, key))
    }
}

struct Never;

impl Planner for Never {
    fn plan<'a>(&'a self, _: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_run_without_an_entry_ends_when_its_recorded_timeout_is_replayed() {
    let limits = CallLimits { timeout: Some(Duration::from_secs(7)), ..CallLimits::UNLIMITED };
    let (log, tape) = (Log::default(), Arc::new(Tape::default()));
    let builder = || Runtime::builder(asking_by("clerk", Arc::new(Never), &log, limits));
    let expected = kept(builder(), &tape).await;
    assert_eq!(briefs(&expected), ["timeout"]);
    let since = Instant::now();
    let runtime = builder().with_journal(Arc::new(InOrder(tape))).build();
    let request = RunRequest::new("boss", payload(0)).with_run_id("r1");
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(briefs(&outcome), ["timeout"]);
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
}
