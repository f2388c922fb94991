//! Typed runs: the codecs of a tool check input and final payload, also after a suspension.

use std::sync::Arc;

use toolwright::{FailureKind, Payload, Tool, ToolFailure, ToolSpec};
use toolwright_runtime::{
    Agent, Collector, EventKind, Planner, Registry, ResumeError, ResumeRequest, RunError,
    RunOutcome, RunRequest, Runtime, Step,
};

use crate::approvals::guarded;
use crate::planners::rule;
use crate::tools::{Echo, Log, N, Think, call, test_registry};

/// A runtime with an agent that calls `wipe`, which needs an approval, and then finishes with a payload.
fn runtime(end: &'static str) -> Runtime {
    let planner = rule(move |turn| {
        assert_eq!(turn.implements().map(ToolSpec::name), Some("think"));
        Ok(match turn.step() {
            0 => Step::call([call("wipe", "a", 3)]),
            _ => Step::Finish(Payload::new(end)),
        })
    });
    Runtime::new(registry(planner))
}

fn registry(planner: Arc<dyn Planner>) -> Registry {
    let (registry, _) = test_registry();
    registry.register_tool(guarded(&Log::default())).unwrap();
    let thinker = Agent::new("thinker", "lab").with_implements(Think::SPEC).with_tools(["wipe"]);
    registry.register_agent(thinker, planner).unwrap();
    registry
}

/// Exports and restores a suspended run, and resumes it in another runtime.
async fn resume_elsewhere(outcome: &RunOutcome, runtime: &Runtime) -> RunOutcome {
    let text = runtime.export(outcome.suspended().expect("it waits")).await.unwrap();
    let restored = runtime.restore(&text).await.unwrap();
    let answers: Vec<_> = restored.pending().iter().map(|question| question.approve()).collect();
    runtime.resume(ResumeRequest::new(&restored, answers)).await.unwrap()
}

#[tokio::test]
async fn a_typed_run_returns_a_result_of_its_tool() {
    let own = Collector::new();
    let runtime = Runtime::new(registry(rule(|turn| Ok(Step::Finish(turn.input().clone())))));
    let request = RunRequest::of::<Think>(&N { n: 4 }).unwrap().with_events(own.clone());
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(outcome.decode::<N>().unwrap(), N { n: 4 });
    let EventKind::RunStarted { implements: Some(tool), .. } = &own.events()[0].kind else {
        panic!("the event of the run has its tool: {:?}", own.events()[0])
    };
    assert_eq!(tool.name(), "think");
}

#[tokio::test]
async fn input_that_the_tool_refuses_is_refused_with_its_issues_before_anything_runs() {
    let all = Collector::new();
    let registry = registry(rule(|_| panic!("the planner is not asked")));
    let runtime = Runtime::builder(registry).with_events(all.clone()).build();
    let wrong = Payload::new(r#"{"n": "four", "m": 1}"#);
    let expected = Think::SPEC.check_args(wrong.as_bytes()).unwrap_err();
    let error = runtime.run(RunRequest::of_tool(Think::SPEC, wrong)).await.unwrap_err();
    assert_eq!(error, RunError::InvalidInput { tool: "think".into(), issues: expected });
    let text = error.to_string();
    assert!(text.contains("/n") && text.contains("/m"), "{text}");
    assert!(all.events().is_empty());
}

#[tokio::test]
async fn a_tool_that_no_agent_implements_is_refused_by_name() {
    let runtime = Runtime::new(registry(rule(|_| panic!("the planner is not asked"))));
    let error = runtime.run(RunRequest::of::<Echo>(&N { n: 1 }).unwrap()).await.unwrap_err();
    assert_eq!(error.to_string(), "no agent implements `echo`; agents implement `think`");
}

/// A child run fails in the same way.
#[tokio::test]
async fn an_invalid_final_payload_fails_a_typed_run() {
    let registry = || registry(rule(|_| Ok(Step::Finish(Payload::new(r#"{"n": null}"#)))));
    let typed = RunRequest::of::<Think>(&N { n: 1 }).unwrap();
    let outcome = Runtime::new(registry()).run(typed).await.unwrap();
    let nested = Runtime::new(registry()).call(call("think", "a", 1)).await;
    let failure = outcome.result().unwrap_err();
    assert_eq!(failure.kind, FailureKind::MalformedResult);
    assert_eq!(nested.outcome.as_ref(), Err(&failure));
}

#[tokio::test]
async fn a_typed_run_stays_typed_when_it_is_suspended_and_resumed_in_another_runtime() {
    let request = || RunRequest::of::<Think>(&N { n: 1 }).unwrap();
    let waiting = runtime("{}").run(request()).await.unwrap();
    let outcome = resume_elsewhere(&waiting, &runtime(r#"{"n": 7}"#)).await;
    assert_eq!(outcome.decode::<N>().unwrap(), N { n: 7 });
    let outcome = resume_elsewhere(&waiting, &runtime("{}")).await;
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::MalformedResult);
}

/// Without the tool, the final payload could not be checked.
#[tokio::test]
async fn a_typed_run_is_not_resumed_if_its_agent_no_longer_implements_the_tool() {
    let waiting = runtime("{}").run(RunRequest::of::<Think>(&N { n: 1 }).unwrap()).await.unwrap();
    let registry = Registry::new();
    registry.register_tool(guarded(&Log::default())).unwrap();
    let thinker = Agent::new("thinker", "lab").with_tools(["wipe"]);
    registry.register_agent(thinker, rule(|_| panic!("the planner is not asked"))).unwrap();
    let run = waiting.suspended().unwrap();
    let answers: Vec<_> = run.pending().iter().map(|question| question.approve()).collect();
    let error = Runtime::new(registry).resume(ResumeRequest::new(run, answers)).await.unwrap_err();
    let (agent, tool) = ("thinker".into(), "think".into());
    assert_eq!(error, ResumeError::UnknownTool { agent, tool });
}

#[tokio::test]
async fn an_untyped_run_accepts_and_returns_anything() {
    let planner = rule(|turn| {
        assert!(turn.implements().is_none());
        Ok(Step::Finish(turn.input().clone()))
    });
    let text = Payload::new("\"a goal\"");
    let request = RunRequest::new("thinker", text.clone());
    let outcome = Runtime::new(registry(planner)).run(request).await.unwrap();
    assert_eq!(outcome.result(), Ok::<_, ToolFailure>(text));
}
