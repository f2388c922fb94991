//! The limits of a run.

use std::time::Duration;

use toolwright::FailureKind;
use toolwright_runtime::Step;

use crate::planners::{LIMITED, briefs, rule, run, steps};
use crate::tools::{call, payload};

#[tokio::test(start_paused = true)]
async fn a_step_that_does_not_fit_is_denied_as_a_whole_and_the_planner_can_still_finish() {
    let first = vec![call("echo", "a", 1)];
    let second = vec![call("echo", "b", 2), call("echo", "c", 3)];
    let outcome = run(&LIMITED, steps(vec![first, second])).await;
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "denied", "denied"]);
    assert_eq!(outcome.result(), Ok(payload(0)));
    let message =
        outcome.exchanges().nth(1).unwrap().result.outcome.as_ref().unwrap_err().message.clone();
    assert_eq!(
        message,
        "none of the 2 calls was made: the run has 1 left of its 2 tool calls; finish with what is known"
    );
}

#[tokio::test(start_paused = true)]
async fn a_planner_that_asks_again_after_a_denial_ends_the_run() {
    let planner = rule(|turn| {
        let id = turn.step().to_string();
        Ok(Step::Call(vec![call("echo", &id, 1)]))
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
async fn a_success_starts_the_count_of_failures_anew() {
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

/// What stands behind a barrier has its place among the results too.
#[tokio::test(start_paused = true)]
async fn a_run_over_its_time_gives_up_the_calls_behind_a_barrier() {
    let calls = vec![call("alone", "a", 60_000), call("echo", "b", 1)];
    let outcome = run(&LIMITED, steps(vec![calls])).await;
    assert_eq!(briefs(&outcome), ["cancelled", "cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_with_the_time_of_its_run_keeps_its_result() {
    let outcome = run(&LIMITED, steps(vec![vec![call("slow", "a", 500)]])).await;
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Timeout);
    assert_eq!(briefs(&outcome), [r#"{"n":500}"#]);
}
