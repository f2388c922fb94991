//! The limits of a run.

use std::time::Duration;

use toolwright::{BoxError, BoxFuture, FailureKind, Payload, Scope, ToolCall, ToolResult};
use toolwright_runtime::execute::RateLimit;
use toolwright_runtime::{
    Agent, ExecutionService, Policy, RunRequest, Runtime, Step, ToolEntry, Toolset,
};

use crate::planners::{LIMITED, briefs, rule, run, steps};
use crate::tools::{call, payload, test_registry};

#[tokio::test(start_paused = true)]
async fn a_step_over_the_call_limit_is_denied_as_a_whole_and_the_planner_can_still_finish() {
    let first = vec![call("echo", "a", 1)];
    let second = vec![call("echo", "b", 2), call("echo", "c", 3)];
    let outcome = run(&LIMITED, steps(vec![first, second])).await;
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "denied", "denied"]);
    assert_eq!(outcome.result(), Ok(payload(0)));
    let message =
        outcome.calls().nth(1).unwrap().result.outcome.as_ref().unwrap_err().message.clone();
    assert_eq!(
        message,
        "none of the 2 calls was made: the run has 1 left of its 2 tool calls; finish with what is known"
    );
}

#[tokio::test(start_paused = true)]
async fn a_planner_that_asks_again_after_a_denial_ends_the_run() {
    let planner = rule(|turn| {
        let id = turn.step().to_string();
        Ok(Step::call([call("echo", &id, 1)]))
    });
    let outcome = run(&LIMITED, planner).await;
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, r#"{"n":1}"#, "denied"]);
    let failure = outcome.result().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied);
    let message = "the run asked for more calls than its 2 tool calls; finish with what is known";
    assert_eq!(failure.message, message);
}

#[tokio::test(start_paused = true)]
async fn failures_in_a_row_end_the_run() {
    let first = vec![call("refuse", "a", 1), call("panic", "b", 1)];
    let second = vec![call("echo", "c", 1), call("echo", "d", 1)];
    let outcome = run(&LIMITED, steps(vec![first, second])).await;
    let failure = outcome.result().unwrap_err();
    assert!(failure.message.starts_with("the run was ended after 3 failed calls in a row"));
    assert_eq!(outcome.steps.len(), 2, "the step that ended it is kept");
}

#[tokio::test(start_paused = true)]
async fn a_success_resets_the_count_of_failures() {
    let first = vec![call("refuse", "a", 1), call("echo", "b", 1)];
    let second = vec![call("echo", "c", 1), call("echo", "d", 1)];
    let outcome = run(&LIMITED, steps(vec![first, second])).await;
    assert_eq!(outcome.result(), Ok(payload(0)));
}

#[tokio::test(start_paused = true)]
async fn a_run_over_its_time_ends_with_the_steps_it_made() {
    let planner = steps(vec![vec![call("echo", "a", 1)], vec![call("slow", "b", 60_000)]]);
    let started = tokio::time::Instant::now();
    let outcome = run(&LIMITED, planner).await;
    assert_eq!(started.elapsed(), Duration::from_millis(500));
    let failure = outcome.result().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert_eq!(failure.message, "agent `limited` took longer than its budget of 500ms");
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "cancelled"]);
}

/// These calls have results, too.
#[tokio::test(start_paused = true)]
async fn a_run_over_its_time_cancels_the_calls_after_a_barrier() {
    let calls = vec![call("alone", "a", 60_000), call("echo", "b", 1)];
    let outcome = run(&LIMITED, steps(vec![calls])).await;
    assert_eq!(briefs(&outcome), ["cancelled", "cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_at_the_deadline_of_its_run_keeps_its_result() {
    let outcome = run(&LIMITED, steps(vec![vec![call("slow", "a", 500)]])).await;
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Timeout);
    assert_eq!(briefs(&outcome), [r#"{"n":500}"#]);
}

#[tokio::test]
async fn the_longest_duration_there_is_can_be_a_budget_and_a_window() {
    let (registry, _) = test_registry();
    let policy = Policy { time_budget: Some(Duration::MAX), ..Policy::default() };
    let agent = Agent::new("worker", "lab").with_tools(["echo"]).with_policy(policy);
    let calls = ["a", "b"].map(|id| vec![call("echo", id, 1)]);
    registry.register_agent(agent, steps(calls.into())).unwrap();
    let execute = ExecutionService::new(RateLimit::new(1, Duration::MAX));
    let runtime = Runtime::builder(registry).with_execution_service(execute).build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "rate_limited"]);
}

#[tokio::test]
async fn a_run_without_time_begins_nothing() {
    let (registry, log) = test_registry();
    let policy = Policy { time_budget: Some(Duration::ZERO), ..Policy::UNLIMITED };
    let agent = Agent::new("worker", "lab").with_tools(["echo"]).with_policy(policy);
    registry.register_agent(agent, steps(vec![vec![call("echo", "a", 1)]])).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!((briefs(&outcome), log.lines()), (Vec::new(), Vec::new()));
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Timeout);
}

/// A toolset that never finishes saving or exiting.
#[derive(Clone, Copy, PartialEq)]
enum Clinging {
    Save,
    Exit,
}

impl Toolset for Clinging {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        call.not_found(&[])
    }

    fn exit<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async {
            if *self == Self::Exit {
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        Box::pin(async {
            if *self == Self::Save {
                std::future::pending::<()>().await;
            }
            Ok(None)
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_toolset_that_never_saves_or_exits_does_not_delay_the_end_of_a_run() {
    for (clinging, longest) in [(Clinging::Save, 500), (Clinging::Exit, 500 + 1_000)] {
        let (registry, _) = test_registry();
        registry.register_agent(&LIMITED, steps(vec![vec![call("echo", "a", 1)]])).unwrap();
        let request = RunRequest::new("limited", payload(0)).with_toolset("clinging", clinging);
        let started = tokio::time::Instant::now();
        let running = Runtime::new(registry).run(request.with_checkpoints(|_| {})).await;
        assert_eq!(started.elapsed(), Duration::from_millis(longest));
        let outcome = running.unwrap();
        assert_eq!(outcome.result().is_err(), clinging == Clinging::Save);
        assert_eq!(briefs(&outcome), [r#"{"n":1}"#]);
    }
}
