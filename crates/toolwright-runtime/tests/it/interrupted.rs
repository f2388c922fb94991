//! Calls that were interrupted, in runs with a journal.

use std::future::ready;
use std::sync::Arc;

use toolwright::spec::Approval;
use toolwright::{BoxFuture, Executor, Registrar, Scope, Tool, ToolCall, ToolResult, described};
use toolwright_runtime::tools::Combined;
use toolwright_runtime::{Agent, FunctionTool, Registry, RunRequest, Runtime};

use crate::approvals::{guarded, guarded_spec};
use crate::journal::{Broken, LoggingApprover, Tape, kept};
use crate::planners::steps;
use crate::tools::{Echo, Log, N, call, payload};
use crate::toys::spec;

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
