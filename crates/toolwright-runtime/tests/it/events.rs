//! Events: their order, their scopes, and the sinks that receive them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolwright::{Payload, Tool, ToolSpec};
use toolwright_runtime::{
    AgentSpec, Background, CallRequest, Collector, Event, EventKind, EventSender, Policy, Registry,
    RunRequest, Runtime,
};

use crate::planners::{WORKER, run, steps};
use crate::tools::{TEST_TOOLS, Think, call, payload, test_registry};

static THINK: &[&ToolSpec] = &[Think::SPEC];
static THINKER: AgentSpec =
    AgentSpec { exports: THINK, tools: TEST_TOOLS, ..AgentSpec::new("thinker", "lab") };
static CHIEF: AgentSpec = AgentSpec { tools: THINK, ..AgentSpec::new("chief", "lab") };
static HASTY: AgentSpec = AgentSpec {
    tools: THINK,
    policy: Policy { time_budget: Some(Duration::from_millis(100)), ..Policy::UNLIMITED },
    ..AgentSpec::new("hasty", "lab")
};

/// A registry with an agent that makes one call; another agent runs it and makes a call of its own.
fn nested(chief: &'static AgentSpec, thinkers: &str) -> Registry {
    let (registry, _) = test_registry();
    let inner = call(thinkers, "inner", 60_000);
    registry.register_agent(&THINKER, steps(vec![vec![inner]])).unwrap();
    registry.register_agent(chief, steps(vec![vec![call("think", "outer", 1)]])).unwrap();
    registry
}

/// Describes an event: agent, parent call, kind.
fn line(event: &Event) -> String {
    let what = match &event.kind {
        EventKind::RunStarted { .. } => "started".to_owned(),
        EventKind::RunFinished { result: Ok(_), .. } => "finished".to_owned(),
        EventKind::RunFinished { result: Err(failure), .. } => failure.kind.to_string(),
        EventKind::ToolCallScheduled { call, tool } => format!("{} {}?", tool.name(), call.id()),
        EventKind::ToolResultReceived { call_id, tool, outcome, .. } => match outcome {
            Ok(_) => format!("{} {call_id}!", tool.name()),
            Err(failure) => format!("{} {call_id} {}", tool.name(), failure.kind),
        },
        other => other.as_str().to_owned(),
    };
    let parent = event.scope.parent_call_id.as_deref().unwrap_or("-");
    format!("{} {parent}: {what}", event.agent.as_deref().unwrap_or("-"))
}

fn lines(collector: &Collector) -> Vec<String> {
    collector.events().iter().map(line).collect()
}

/// G30: the call is scheduled immediately before its child run starts, and its result follows the end of the child run.
/// Both events are those of the parent run.
#[tokio::test]
async fn g30_a_delegated_call_encloses_its_child_run() {
    let all = Collector::new();
    let runtime = Runtime::builder(nested(&CHIEF, "echo")).with_events(all.clone()).build();
    runtime.run(RunRequest::new("chief", payload(0))).await.unwrap().result().unwrap();
    let expected = [
        "chief -: started",
        "chief -: think outer?",
        "thinker outer: started",
        "thinker outer: echo inner?",
        "thinker outer: echo inner!",
        "thinker outer: finished",
        "chief -: think outer!",
        "chief -: finished",
    ];
    assert_eq!(lines(&all), expected);
    let sequences: Vec<_> = all.events().iter().map(|event| event.sequence).collect();
    assert!(sequences.is_sorted_by(|a, b| a < b));
}

/// G30: the run is the parent run.
#[tokio::test]
async fn g30_a_delegated_calls_events_carry_run_and_tool() {
    let all = Collector::new();
    let runtime = Runtime::builder(nested(&CHIEF, "echo")).with_events(all.clone()).build();
    let request = RunRequest::new("chief", payload(0)).with_run_id("r1").with_session_id("s1");
    runtime.run(request).await.unwrap();
    let (chief, thinker): (Vec<_>, Vec<_>) =
        all.events().into_iter().partition(|event| event.run_id() == "r1");
    assert!(thinker.iter().all(|event| event.agent.as_deref() == Some("thinker")));
    assert!(thinker.iter().all(|event| event.scope.session_id.as_deref() == Some("s1")));
    for event in &chief[1..3] {
        let (EventKind::ToolCallScheduled { tool, .. }
        | EventKind::ToolResultReceived { tool, .. }) = &event.kind
        else {
            panic!("another event: {event:?}")
        };
        assert_eq!((tool.toolset(), tool.service()), (Some("thinking"), Some("lab")));
        assert_eq!(tool.implementation(), Some(Think::SPEC.implementation()));
    }
}

#[tokio::test]
async fn g31_a_sink_on_the_parent_run_sees_nothing_of_the_child() {
    let own = Collector::new();
    let runtime = Runtime::new(nested(&CHIEF, "echo"));
    runtime.run(RunRequest::new("chief", payload(0)).with_events(own.clone())).await.unwrap();
    let expected =
        ["chief -: started", "chief -: think outer?", "chief -: think outer!", "chief -: finished"];
    assert_eq!(lines(&own), expected);
}

/// G31: the time budget ends during a call of the child run.
#[tokio::test(start_paused = true)]
async fn g31_every_start_has_an_end_when_the_run_is_cancelled() {
    let all = Collector::new();
    let runtime = Runtime::builder(nested(&HASTY, "slow")).with_events(all.clone()).build();
    runtime.run(RunRequest::new("hasty", payload(0))).await.unwrap();
    let expected = [
        "hasty -: started",
        "hasty -: think outer?",
        "thinker outer: started",
        "thinker outer: slow inner?",
        "thinker outer: slow inner cancelled",
        "thinker outer: cancelled",
        "hasty -: think outer cancelled",
        "hasty -: timeout",
    ];
    assert_eq!(lines(&all), expected);
}

#[tokio::test]
async fn g29_a_refused_call_has_a_start_and_a_result() {
    let own = Collector::new();
    let (registry, _) = test_registry();
    let request = CallRequest::new(call("missing", "a", 1)).with_events(own.clone());
    Runtime::new(registry).call(request).await;
    assert_eq!(lines(&own), ["- -: missing a?", "- -: missing a not_found"]);
}

#[tokio::test]
async fn a_call_outside_of_runs_has_a_generated_run_id() {
    let own = Collector::new();
    let (registry, _) = test_registry();
    let request = CallRequest::new(call("echo", "a", 1)).with_events(own.clone());
    assert_eq!(Runtime::new(registry).call(request).await.outcome.as_ref(), Ok(&payload(1)));
    assert!(own.events().iter().all(|event| event.run_id().starts_with("run_")));
}

#[tokio::test]
async fn a_sink_that_panics_breaks_nothing() {
    let (registry, _) = test_registry();
    registry.register_agent(&WORKER, steps(vec![vec![call("echo", "a", 1)]])).unwrap();
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let sink = Background::new(16, move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        panic!("full disk")
    });
    let runtime = Runtime::builder(registry).with_events(sink.clone()).build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(outcome.result(), Ok(payload(0)));
    drop(runtime);
    sink.finish();
    assert_eq!(seen.load(Ordering::Relaxed), 4, "events after a panic are delivered");
}

#[tokio::test]
async fn a_receiver_that_never_reads_does_not_block_the_run() {
    let (sender, mut receiver) = EventSender::channel(16);
    let (registry, _) = test_registry();
    let request = CallRequest::new(call("echo", "a", 1)).with_events(Arc::new(sender));
    Runtime::new(registry).call(request).await;
    assert!(matches!(receiver.recv().await.unwrap().kind, EventKind::ToolCallScheduled { .. }));
}

#[tokio::test]
async fn a_runs_input_and_result_are_in_its_events() {
    let own = Collector::new();
    let (registry, _) = test_registry();
    registry.register_agent(&WORKER, steps(vec![])).unwrap();
    let request = RunRequest::new("worker", Payload::new("\"goal\"")).with_events(own.clone());
    Runtime::new(registry).run(request).await.unwrap();
    let events = own.events();
    assert!(
        matches!(&events[0].kind, EventKind::RunStarted { input, .. } if input.as_str() == "\"goal\"")
    );
    assert!(
        matches!(&events[1].kind, EventKind::RunFinished { result: Ok(done), .. } if *done == payload(0))
    );
}

#[tokio::test]
async fn a_run_without_sinks_runs() {
    let outcome = run(&WORKER, steps(vec![vec![call("echo", "a", 1)]])).await;
    assert_eq!(outcome.calls().count(), 1);
}

/// Events that do not fit into its queue are lost.
#[tokio::test]
async fn a_sink_that_blocks_does_not_block_the_run() {
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let sink = Background::new(1, move |_| {
        // Ends when the test drops the sender.
        let _ = wait.recv();
    });
    let (registry, _) = test_registry();
    let runtime = Runtime::builder(registry).with_events(sink.clone()).build();
    for id in 0..10 {
        runtime.call(call("echo", &id.to_string(), 1)).await;
    }
    assert!(sink.lost() >= 18, "two of twenty had room");
    drop((go_on, runtime));
    sink.finish();
}
