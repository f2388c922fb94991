//! Resumed runs: the state that they keep, and the events of runs that cannot be resumed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolwright::{FailureKind, Payload, ToolCall, ToolSpec};
use toolwright_runtime::{
    Agent, Answer, ApprovalRequest, Collector, PastRun, Policy, Registry, ResumeError,
    ResumeRequest, RunOutcome, RunRequest, Runtime, Script, Step, SuspendedRun, Toolset,
};

use crate::approvals::guarded;
use crate::planners::{brief, briefs, steps};
use crate::tools::{Log, N, call, payload, test_registry};
use crate::toys::Toy;

/// A runtime with an agent with limits, whose calls of `echo` need an approval.
fn runtime(policy: Policy, calls: Vec<Vec<ToolCall>>) -> Runtime {
    let (registry, _) = test_registry();
    let agent = Agent::new("worker", "lab").with_tools(["echo", "slow", "refuse"]);
    let agent = agent.with_approval_of(["echo"]).with_policy(policy);
    registry.register_agent(agent, steps(calls)).unwrap();
    Runtime::new(registry)
}

/// Runs it until it is suspended, and resumes it from its exported state.
async fn run_and_resume(
    policy: Policy,
    calls: Vec<Vec<ToolCall>>,
    answer: impl Fn(&ApprovalRequest) -> Answer,
) -> RunOutcome {
    let runtime = runtime(policy, calls);
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    let text = runtime.export(outcome.suspended().expect("it waits")).await.unwrap();
    let run = runtime.restore(&text).await.unwrap();
    let answers: Vec<_> = run.pending().into_iter().map(answer).collect();
    runtime.resume(ResumeRequest::new(&run, answers)).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn h8_a_call_id_stays_used_after_a_suspension() {
    let again = ["a", "b", "c", "d"].map(|id| call("slow", id, 1)).to_vec();
    let calls =
        vec![vec![call("slow", "a", 1)], vec![call("slow", "b", 1), call("echo", "c", 1)], again];
    let outcome = run_and_resume(Policy::UNLIMITED, calls, ApprovalRequest::approve).await;
    let repeated = "invalid_call";
    assert_eq!(briefs(&outcome)[3..], [repeated, repeated, repeated, r#"{"n":1}"#]);
}

#[tokio::test(start_paused = true)]
async fn h8_calls_before_a_suspension_count_toward_the_limit() {
    let policy = Policy { max_tool_calls: Some(2), ..Policy::UNLIMITED };
    let calls = [call("slow", "a", 1), call("echo", "b", 2), call("slow", "c", 3)];
    let calls = calls.map(|call| vec![call]).to_vec();
    let outcome = run_and_resume(policy, calls, ApprovalRequest::approve).await;
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, r#"{"n":2}"#, "denied"]);
}

#[tokio::test]
async fn h8_failures_before_a_suspension_count_toward_the_limit() {
    let policy = Policy { max_consecutive_failures: Some(2), ..Policy::UNLIMITED };
    let calls = vec![vec![call("refuse", "a", 1)], vec![call("echo", "b", 1)]];
    let outcome = run_and_resume(policy, calls, ApprovalRequest::deny).await;
    let message = outcome.result().unwrap_err().message;
    assert!(message.starts_with("the run was ended after 2 failed calls in a row"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn h8_time_before_a_suspension_counts_toward_the_budget() {
    let policy = Policy { time_budget: Some(Duration::from_secs(1)), ..Policy::UNLIMITED };
    let calls = [call("slow", "a", 600), call("echo", "b", 1), call("slow", "c", 600)];
    let calls = calls.map(|call| vec![call]).to_vec();
    let outcome = run_and_resume(policy, calls, ApprovalRequest::approve).await;
    assert_eq!(briefs(&outcome), [r#"{"n":600}"#, r#"{"n":1}"#, "cancelled"]);
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Timeout);
}

#[tokio::test]
async fn h8_a_resumed_run_whose_step_was_denied_ends_with_the_next_call() {
    let policy = Policy { max_tool_calls: Some(1), ..Policy::UNLIMITED };
    let both = vec![call("refuse", "a", 1), call("refuse", "b", 1)];
    let runtime = runtime(policy, vec![both, vec![call("refuse", "c", 1)]]);
    let kept = Arc::<Mutex<Vec<SuspendedRun>>>::default();
    let keep = Arc::clone(&kept);
    let request = RunRequest::new("worker", payload(0));
    let request = request.with_checkpoints(move |state| keep.lock().unwrap().push(state));
    let ended = runtime.run(request).await.unwrap().result().unwrap_err();
    assert!(ended.message.starts_with("the run asked for more calls than"), "{}", ended.message);
    let after_denial = kept.lock().unwrap()[0].clone();
    let outcome = runtime.resume(ResumeRequest::new(&after_denial, [])).await.unwrap();
    assert_eq!(outcome.result(), Err(ended));
}

/// H8: the tool was removed. The end of each run is published once, the innermost first.
#[tokio::test]
async fn h8_all_child_runs_of_a_call_that_cannot_be_resumed_end() {
    let registry = Registry::new();
    registry.register_tool(guarded(&Log::default())).unwrap();
    let implements = |tool: &'static str| {
        ToolSpec::new(tool).with_toolset("jobs").with_service("lab").with_types::<N, N>()
    };
    for (agent, tool, uses) in [("grandchild", "task", "wipe"), ("child", "job", "task")] {
        let agent = Agent::new(agent, "lab").with_implements(implements(tool)).with_tools([uses]);
        registry.register_agent(agent, steps(vec![vec![call(uses, uses, 3)]])).unwrap();
    }
    let parent = || Agent::new("parent", "lab").with_toolsets(["jobs"]);
    let calls = vec![vec![call("job", "job", 1)]];
    registry.register_agent(parent(), steps(calls)).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("parent", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();

    let (registry, all) = (Registry::new(), Collector::new());
    registry.register_toolset("jobs", crate::toys::tool("other", |n| n)).unwrap();
    registry.register_agent(parent(), steps(vec![])).unwrap();
    let runtime = Runtime::builder(registry).with_events(all.clone()).build();
    let answers = [run.pending()[0].approve()];
    let outcome = runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), ["not_found"]);
    let seen = all.events();
    let seen = seen.iter().map(|event| (event.agent.as_deref().unwrap(), event.kind.as_str()));
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [
            ("parent", "run_resumed"),
            ("grandchild", "run_finished"),
            ("child", "tool_result_received"),
            ("child", "run_finished"),
            ("parent", "tool_result_received"),
            ("parent", "run_finished"),
        ]
    );
}

#[tokio::test]
async fn h8_a_resumed_run_still_knows_the_runs_before_it() {
    let (registry, _) = test_registry();
    let agent = Agent::new("worker", "lab").with_tools(["echo"]).with_approval_of(["echo"]);
    let planner = Script::new().call([call("echo", "a", 1)]).then(|turn| {
        let inputs: Vec<_> = turn.past().iter().map(|run| run.input.to_string()).collect();
        Ok(Step::Finish(Payload::of(&inputs)?))
    });
    registry.register_agent(agent, planner.into()).unwrap();
    let runtime = Runtime::new(registry);
    let mut past = Vec::<PastRun>::new();
    for n in [1, 2, 3] {
        let request = RunRequest::new("worker", payload(n)).with_past(past.clone());
        let outcome = runtime.run(request).await.unwrap();
        let text = runtime.export(outcome.suspended().unwrap()).await.unwrap();
        let run = runtime.restore(&text).await.unwrap();
        let answers = [run.pending()[0].approve()];
        past.push(runtime.resume(ResumeRequest::new(&run, answers)).await.unwrap().into());
    }
    let inputs: Vec<String> = past[2].result.as_ref().unwrap().decode().unwrap();
    assert_eq!(inputs, [r#"{"n":1}"#, r#"{"n":2}"#]);
}

#[test]
fn a_text_that_is_no_past_run_is_refused() {
    let error = PastRun::from_json(r#"{"run_id":"a"}"#).unwrap_err().to_string();
    assert_eq!(
        error,
        "the text is not a past run, expected one that `to_json` returned: missing field `input` at line 1 column 14"
    );
}

/// Another toolset cannot be entered or listed, or the run is cancelled at once or before its calls go on.
#[tokio::test]
async fn the_calls_of_a_resumed_run_that_ends_before_them_end_once() {
    for how in ["enter", "list", "cancelled", "cancelled while it lists"] {
        let registry = Registry::new();
        registry.register_tool(guarded(&Log::default())).unwrap();
        let job = ToolSpec::new("job").with_toolset("jobs").with_service("lab");
        let child = Agent::new("child", "lab").with_implements(job.with_types::<N, N>());
        let wiping = steps(vec![vec![call("wipe", "wipe", 3)]]);
        registry.register_agent(child.with_tools(["wipe"]), wiping).unwrap();
        let parent = Agent::new("parent", "lab").with_tools(["job"]);
        registry.register_agent(parent, steps(vec![vec![call("job", "job", 1)]])).unwrap();
        let runtime = Runtime::new(registry);
        let all = Collector::new();
        let outcome = runtime.run(RunRequest::new("parent", payload(0))).await.unwrap();
        let run = outcome.suspended().unwrap();
        let resuming = ResumeRequest::new(run, [run.pending()[0].approve()]);
        let token = CancellationToken::new();
        let resuming = resuming.with_events(all.clone()).with_cancellation(token.clone());
        let toy = Toy { stuck: how == "enter", ..Toy::new("toy", &Log::default()) };
        let late = token.clone();
        let listing = toy.prepared(move |_, tools| match how {
            "list" => [tools.clone(), tools].concat(),
            "cancelled while it lists" => {
                late.cancel();
                tools
            }
            _ => tools,
        });
        if how == "cancelled" {
            token.cancel();
        }
        let outcome = runtime.resume(resuming.with_toolset("toy", listing)).await.unwrap();
        assert!(outcome.result().is_err());
        let seen: Vec<_> = all.events().iter().map(|event| event.kind.as_str()).collect();
        assert_eq!(seen, ["run_resumed", "tool_result_received", "run_finished"], "{how}");
    }
}

#[tokio::test]
async fn a_waiting_call_of_a_tool_that_is_now_hidden_as_unavailable_is_unavailable() {
    let is_open = Arc::new(AtomicBool::new(true));
    let open = Arc::clone(&is_open);
    let registry = Registry::new();
    let wipe = guarded(&Log::default()).with_availability(move || open.load(Ordering::Relaxed));
    registry.register_tool(wipe).unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["wipe"]);
    registry.register_agent(agent, steps(vec![vec![call("wipe", "a", 1)]])).unwrap();
    let runtime = Runtime::builder(registry).skipping_unavailable().build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    is_open.store(false, Ordering::Relaxed);
    let answers = [run.pending()[0].approve()];
    let outcome = runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), ["unavailable"]);
}

/// A runtime whose agent makes a step of calls of `echo` (needs an approval) and `slow`, and the waiting run.
async fn waiting() -> (Runtime, RunOutcome) {
    let calls = vec![vec![call("slow", "a", 1), call("echo", "b", 2)]];
    let runtime = runtime(Policy::UNLIMITED, calls);
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    (runtime, outcome)
}

#[tokio::test(start_paused = true)]
async fn the_step_of_a_waiting_run_is_part_of_the_conversation() {
    let (_, outcome) = waiting().await;
    let past = PastRun::from(outcome);
    let results: Vec<_> = past.steps[0].calls.iter().map(|record| brief(&record.result)).collect();
    assert_eq!(
        (past.steps.len(), results),
        (1, vec![r#"{"n":1}"#.to_owned(), "denied".to_owned()])
    );
}

/// It is cancelled, or a toolset cannot be entered.
#[tokio::test(start_paused = true)]
async fn a_resumed_run_that_ends_before_its_step_keeps_the_results_of_the_step() {
    for is_cancelled in [true, false] {
        let (runtime, outcome) = waiting().await;
        let run = outcome.suspended().unwrap();
        let resuming = ResumeRequest::new(run, [run.pending()[0].approve()]);
        let token = CancellationToken::new();
        if is_cancelled {
            token.cancel();
        }
        let toy = Toy { stuck: !is_cancelled, ..Toy::new("toy", &Log::default()) };
        let resuming = resuming.with_cancellation(token).with_toolset("toy", toy);
        let outcome = runtime.resume(resuming).await.unwrap();
        outcome.result().unwrap_err();
        assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "cancelled"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_resumed_run_with_an_unknown_name_in_its_approval_list_keeps_its_answers() {
    let (runtime, outcome) = waiting().await;
    let run = outcome.suspended().unwrap();
    let resuming = || ResumeRequest::new(run, [run.pending()[0].approve()]);
    let error = runtime.resume(resuming().with_approval_of(["nosuch"])).await.unwrap_err();
    assert!(matches!(error, ResumeError::UnknownApproval { .. }), "{error}");
    let outcome = runtime.resume(resuming().with_approval_of(["slow"])).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, r#"{"n":2}"#]);
}
