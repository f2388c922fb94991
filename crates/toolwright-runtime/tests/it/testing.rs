//! The module `testing`: calls as a runtime makes them, a clock that tests advance, and transcripts of runs.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect_file;
use toolwright::spec::CallLimits;
use toolwright::{FailureKind, Recovery, Tool, ToolFailure, ToolSpec};
use toolwright_runtime::{
    Agent, ApprovalRequest, Collector, FunctionTool, Registry, ResumeError, ResumeRequest,
    RunRequest, Runtime, Script, Verdict, testing,
};

use crate::approvals::guarded;
use crate::tools::{Echo, Log, N, TestExecutor, Think, call, payload, test_registry};
use crate::toys::Toy;

#[tokio::test]
async fn registered_tools_are_called_as_a_runtime_calls_them() {
    let (log, (registry, _)) = (Log::default(), test_registry());
    registry.register_tool(guarded(&log)).unwrap();
    let tools = testing::tools(registry);
    assert_eq!(tools.run(Echo, &N { n: 7 }).await, Ok(N { n: 7 }));
    assert_eq!(tools.call("repeat", r#"{"n":7}"#).await.unwrap(), payload(7));

    let hang = tools.call("hang", r#"{"n":7}"#).await.unwrap_err();
    assert_eq!(hang.kind, FailureKind::Timeout);
    let lie = tools.call("lie", r#"{"n":7}"#).await.unwrap_err();
    assert_eq!(lie.kind, FailureKind::MalformedResult);
    let unknown = tools.call("ecko", "{}").await.unwrap_err();
    assert_eq!(unknown.message, "there is no tool `ecko`, did you mean `echo`?");

    let wipe = r#"{"n":3}"#;
    let unanswered = tools.call("wipe", wipe).await.unwrap_err();
    assert_eq!(
        unanswered.message,
        "`wipe` needs an approval; call `tools.approving()` or `tools.denying()`"
    );
    let denied = tools.clone().denying().call("wipe", wipe).await.unwrap_err();
    assert_eq!(denied.message, "Not 3.");
    assert!(log.lines().is_empty());
    tools.approving().call("wipe", wipe).await.unwrap();
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
}

#[tokio::test]
async fn both_kinds_of_tools_deny_in_the_same_words() {
    let spec = || ToolSpec::new("wipe").with_approval_prompt("Wipe?");
    let registry = Registry::new();
    registry.register_tool(FunctionTool::new(spec(), async |n: N| n)).unwrap();
    let here = testing::tools(registry).denying().call("wipe", r#"{"n":1}"#).await.unwrap_err();

    let spec: &'static ToolSpec = Box::leak(Box::new(spec()));
    let specs: &'static [&ToolSpec] = Box::leak(Box::new([spec]));
    let (_, log) = test_registry();
    let stand = Arc::new(TestExecutor { log });
    let tools = toolwright::testing::tools(|registrar| registrar.register(specs, stand)).denying();
    let there = tools.call("wipe", r#"{"n":1}"#).await.unwrap_err();
    assert_eq!((here.kind, here.message), (there.kind, there.message));
}

#[tokio::test]
async fn each_call_of_a_toolset_enters_and_exits_it() {
    let log = Log::default();
    let tools = testing::toolset(Toy::new("ball", &log));
    assert_eq!(tools.call("ball", r#"{"n":1}"#).await.unwrap(), payload(2));
    assert_eq!(log.lines(), ["enter ball", "exit ball"]);
    let unknown = tools.call("bal", "{}").await.unwrap_err();
    assert_eq!(unknown.message, "there is no tool `bal`, did you mean `ball`?");

    let made = log.clone();
    let tools = testing::toolset(move |_| Toy::new("kite", &made));
    assert_eq!(tools.call("kite", r#"{"n":1}"#).await.unwrap(), payload(2));
    let stuck = testing::toolset(Toy { stuck: true, ..Toy::new("drum", &log) });
    let failure = stuck.call("drum", r#"{"n":1}"#).await.unwrap_err();
    assert!(failure.detail.unwrap_or_default().contains("the door is locked"));
}

#[tokio::test(start_paused = true)]
async fn time_limits_and_the_time_of_day_move_together() {
    let registry = Registry::new();
    registry.register_tool(guarded(&Log::default())).unwrap();
    let script = Script::new().call([call("wipe", "a", 3)]).finish(payload(0));
    let agent = Agent::new("worker", "lab").with_tools(["wipe"]);
    registry.register_agent(agent, script.into()).unwrap();
    let runtime = Runtime::builder(registry).with_clock(testing::clock()).build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    let answer = run.pending()[0].approve();
    tokio::time::advance(Duration::from_hours(25)).await;
    let error = runtime.resume(ResumeRequest::new(run, [answer])).await.unwrap_err();
    assert!(matches!(error, ResumeError::Expired { .. }), "{error}");
}

/// Nothing in a transcript depends on time or on generated ids.
#[tokio::test]
async fn a_transcript_tells_what_happened_and_is_the_same_each_time() {
    let (registry, _) = test_registry();
    registry.register_tool(guarded(&Log::default())).unwrap();
    let thinking =
        Script::new().call([call("wipe", "a", 3), call("refuse", "b", 1)]).finish(payload(1));
    let thinker =
        Agent::new("thinker", "lab").with_tools(["wipe", "refuse"]).with_implements(Think::SPEC);
    registry.register_agent(thinker, thinking.into()).unwrap();
    let asking = Script::new().call([call("think", "a", 2)]).finish(payload(0));
    let chief = Agent::new("chief", "lab").with_tools(["think"]);
    registry.register_agent(chief, asking.into()).unwrap();

    let approver = |request: &ApprovalRequest| match request.tool.as_str() {
        "wipe" => Verdict::Approve,
        _ => Verdict::Deny(None),
    };
    for _ in 0..2 {
        let events = Collector::new();
        let runtime = Runtime::builder(registry.clone())
            .with_approver(Arc::new(approver))
            .with_events(events.clone())
            .build();
        runtime.run(RunRequest::new("chief", payload(5))).await.unwrap().result().unwrap();
        expect_file!["transcripts/nested.txt"].assert_eq(&testing::transcript(&events.events()));
    }
}

#[tokio::test]
async fn a_transcript_tells_of_retries_answers_and_failed_runs() {
    let registry = Registry::new();
    registry.register_tool(guarded(&Log::default())).unwrap();
    let limits = CallLimits { attempts: Some(2), ..CallLimits::UNLIMITED };
    let busy = FunctionTool::new(ToolSpec::new("ask").with_limits(limits), async |_: N| {
        let failure = ToolFailure::new(FailureKind::Unavailable, "nobody is in", Recovery::Retry);
        Err::<N, _>(failure)
    });
    registry.register_tool(busy).unwrap();
    let script = Script::new().call([call("wipe", "a", 3)]).call([call("ask", "b", 1)]);
    let agent = Agent::new("worker", "lab").with_tools(["wipe", "ask"]);
    registry.register_agent(agent, script.into()).unwrap();
    let events = Collector::new();
    let runtime = Runtime::builder(registry).with_events(events.clone()).build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    let answers = [run.pending()[0].deny_because("it is new")];
    runtime.resume(ResumeRequest::new(run, answers)).await.unwrap().result().unwrap_err();
    runtime.call(call("ask", "c", 1)).await.outcome.unwrap_err();
    expect_file!["transcripts/retried.txt"].assert_eq(&testing::transcript(&events.events()));
}
