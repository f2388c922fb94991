//! The calls of a step: concurrent, in order, or one at a time.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolwright::spec::CallLimits;
use toolwright::{BoxFuture, FailureKind, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_runtime::execute::Retry;
use toolwright_runtime::tools::{Combined, IntoSource};
use toolwright_runtime::{
    Agent, ApprovalRequest, Approver, ExecutionService, FunctionTool, Hooks, Policy, Registry,
    RunRequest, Runtime, Step, ToolEntry, Verdict,
};

use crate::approvals::guarded;
use crate::journal::{Broken, More, Tape};
use crate::planners::{WORKER, brief, briefs, rule, run, steps};
use crate::tools::{Log, N, call, payload, test_registry};
use crate::toys::{spec, tool};

/// Returns the log of the tools for a step of calls, and the results.
async fn log_of(calls: Vec<ToolCall>, one_at_a_time: bool) -> (Vec<String>, Vec<String>) {
    let (registry, log) = test_registry();
    registry.register_agent(&WORKER, steps(vec![calls])).unwrap();
    let mut request = RunRequest::new("worker", payload(0));
    if one_at_a_time {
        request = request.one_at_a_time();
    }
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    (log.lines(), briefs(&outcome))
}

#[tokio::test(start_paused = true)]
async fn r12_calls_of_a_step_overlap_and_results_keep_call_order() {
    let calls = vec![call("slow", "a", 30), call("slow", "b", 10), call("slow", "c", 20)];
    let (log, results) = log_of(calls, false).await;
    assert_eq!(log, ["start 30", "start 10", "start 20", "end 10", "end 20", "end 30"]);
    assert_eq!(results, [r#"{"n":30}"#, r#"{"n":10}"#, r#"{"n":20}"#]);
}

/// R12: it waits for the calls before it, and those after it wait for it.
#[tokio::test(start_paused = true)]
async fn r12_a_sequential_tool_is_a_barrier() {
    let calls = vec![
        call("slow", "a", 30),
        call("slow", "b", 10),
        call("alone", "c", 20),
        call("slow", "d", 5),
        call("slow", "e", 4),
    ];
    let (log, results) = log_of(calls, false).await;
    let expected = [
        "start 30", "start 10", "end 10", "end 30", "start 20", "end 20", "start 5", "start 4",
        "end 4", "end 5",
    ];
    assert_eq!(log, expected);
    assert_eq!(results.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn r12_a_refused_call_of_a_sequential_tool_is_not_a_barrier() {
    let (registry, log) = test_registry();
    let refused = ToolCall::new("alone", Payload::new("{}")).with_id("b");
    let calls = vec![call("slow", "a", 30), refused, call("slow", "c", 10)];
    let listing = Agent::new("worker", "lab").with_tools(["slow", "alone"]);
    registry.register_agent(listing.with_approval_of(["alone"]), steps(vec![calls])).unwrap();
    let request = RunRequest::new("worker", payload(0));
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":30}"#, "invalid_call", r#"{"n":10}"#]);
    assert_eq!(log.lines(), ["start 30", "start 10", "end 10", "end 30"]);
}

#[tokio::test(start_paused = true)]
async fn r12_a_run_can_make_its_calls_one_at_a_time() {
    let (log, _) = log_of(vec![call("slow", "a", 30), call("slow", "b", 10)], true).await;
    assert_eq!(log, ["start 30", "end 30", "start 10", "end 10"]);
}

/// The first call stops the run, and ends at the same moment.
#[tokio::test]
async fn no_call_begins_after_its_run_was_stopped() {
    let (log, token) = (Log::default(), CancellationToken::new());
    let (wiped, cancelled) = (log.clone(), token.clone());
    let stop = tool("stop", move |n| {
        cancelled.cancel();
        n
    });
    let wipe = tool("wipe", move |n| {
        wiped.push("wiped");
        n
    });
    let registry = Registry::new();
    registry.register_tools([stop, wipe]).unwrap();
    let listing = Agent::new("worker", "lab").with_tools(["stop", "wipe"]);
    let calls = vec![vec![call("stop", "a", 1), call("wipe", "b", 2)]];
    registry.register_agent(listing, steps(calls)).unwrap();
    let request = RunRequest::new("worker", payload(0)).one_at_a_time().with_cancellation(token);
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "cancelled"]);
    assert!(log.lines().is_empty());
}

#[tokio::test]
async fn the_planner_sees_each_step_with_its_results() {
    let planner = rule(|turn| {
        assert_eq!(turn.history().len(), turn.step());
        assert!(turn.tools().all(|spec| spec.name() != "old"), "deprecated tools are not offered");
        Ok(match turn.step() {
            0 => Step::call([call("echo", "a", 7)]),
            _ => {
                Step::Finish(turn.last_results().next().unwrap().outcome.as_ref().unwrap().clone())
            }
        })
    });
    let outcome = run(&WORKER, planner).await;
    assert_eq!(outcome.result(), Ok(payload(7)));
}

#[tokio::test]
async fn a_call_by_an_alias_reaches_the_tool_under_its_name() {
    let outcome = run(&WORKER, steps(vec![vec![call("repeat", "a", 1)]])).await;
    let record = outcome.calls().next().unwrap();
    assert_eq!(record.call.tool(), "echo");
    assert_eq!(record.result.outcome.as_ref(), Ok(&payload(1)));
}

#[tokio::test]
async fn the_name_of_a_tool_takes_precedence_over_an_alias_of_another() {
    let renamed = FunctionTool::new(spec("new").with_aliases(&["old"]), async |args: N| args);
    let set = Combined::new().with("renamed", renamed).with("old", tool("old", |n| n * 10));
    let registry = Registry::new();
    registry.register_toolset("set", set).unwrap();
    let listing = Agent::new("worker", "lab").with_toolsets(["set"]);
    registry.register_agent(listing, steps(vec![vec![call("old", "a", 1)]])).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":10}"#]);
}

#[tokio::test]
async fn an_alias_has_the_prefix_of_its_tool() {
    let registry = Registry::new();
    let renamed = FunctionTool::new(spec("new").with_aliases(&["old"]), async |args: N| args);
    registry.register_toolset("set", renamed).unwrap();
    let catalog = registry.catalog();
    catalog.publish("set", "x").unwrap();
    catalog.allow("worker", "set").unwrap();
    let calls = vec![vec![call("x.old", "a", 1), call("old", "b", 2)]];
    registry.register_agent(Agent::new("worker", "lab"), steps(calls)).unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "not_found"]);
    let session = runtime.open_session("worker").await.unwrap();
    assert_eq!(brief(&session.call(call("x.old", "c", 3)).await), r#"{"n":3}"#);
}

/// Tools that are listed only during a run may share an alias.
#[tokio::test]
async fn an_alias_of_two_tools_means_neither() {
    let renamed = |name| FunctionTool::new(spec(name).with_aliases(&["old"]), async |args: N| args);
    let set = Combined::new().with("a", renamed("a")).with("b", renamed("b"));
    let runtime = Runtime::new(Registry::new());
    let calling = ("set", &set.into_source());
    let (result, _) = runtime.call_in(calling, None, None, call("old", "a", 1)).await.unwrap();
    assert_eq!(brief(&result), "not_found");
}

#[tokio::test]
async fn a_call_of_another_definition_of_its_tool_is_refused() {
    let echo = || FunctionTool::new(spec("echo"), async |args: N| args);
    let (source, runtime) = (echo().into_source(), Runtime::new(Registry::new()));
    let digest = echo().entry().definition_digest();
    for (digest, expected) in [(digest.as_str(), r#"{"n":1}"#), ("0", "unavailable")] {
        let calling = runtime.call_in(("set", &source), Some(digest), None, call("echo", "a", 1));
        assert_eq!(brief(&calling.await.unwrap().0), expected);
    }
}

#[tokio::test]
async fn the_failure_of_an_unknown_tool_lists_the_offered_tools() {
    let outcome = run(&WORKER, steps(vec![vec![call("paint", "a", 1)]])).await;
    let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
    assert_eq!(
        failure.message,
        "there is no tool `paint`, there is `echo`, `slow`, `alone`, `hang`, `panic`, `lie`, `refuse`"
    );
}

/// G28: ids that the planner sets are replaced, except for a parent call, and its labels are ignored.
#[tokio::test]
async fn g28_calls_carry_the_scope_of_their_run_and_no_labels_of_the_planner() {
    let (registry, _) = test_registry();
    let stray = toolwright::Scope {
        run_id: Some("forged".into()),
        parent_call_id: Some("p1".into()),
        labels: [("tenant", "forged"), ("team", "t2")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        ..Default::default()
    };
    let calls = vec![call("echo", "a", 1).with_scope(stray)];
    registry.register_agent(&WORKER, steps(vec![calls])).unwrap();
    let labels = [("tenant".to_owned(), "t1".to_owned())].into();
    let request = RunRequest::new("worker", payload(0))
        .with_run_id("r1")
        .with_session_id("s1")
        .with_turn_id("t1")
        .with_labels(labels);
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    let call = &outcome.calls().next().unwrap().call;
    assert_eq!(
        (call.run_id(), call.session_id(), call.turn_id()),
        (Some("r1"), Some("s1"), Some("t1"))
    );
    assert_eq!((call.label("tenant"), call.label("team")), (Some("t1"), None));
    assert_eq!(call.parent_call_id(), Some("p1"));
}

/// An approver that approves when the run is cancelled, which it does itself or waits for.
pub(crate) struct Late {
    pub(crate) token: CancellationToken,
    pub(crate) cancels: bool,
}

impl Approver for Late {
    fn decide<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(async {
            if self.cancels {
                self.token.cancel();
            }
            self.token.cancelled().await;
            Verdict::Approve
        })
    }
}

/// Also in a child run. Neither does it begin for hooks and in the journal.
#[tokio::test]
async fn a_call_that_is_approved_as_its_run_is_cancelled_does_not_begin() {
    for (agent, cancels) in [("boss", true), ("boss", false), ("head", true), ("head", false)] {
        let (log, token) = (Log::default(), CancellationToken::new());
        let registry = Registry::new();
        registry.register_tool(guarded(&log)).unwrap();
        let job = spec("job").with_types::<N, N>();
        let boss = Agent::new("boss", "lab").with_implements(job).with_tools(["wipe"]);
        registry.register_agent(boss, steps(vec![vec![call("wipe", "a", 1)]])).unwrap();
        let head = Agent::new("head", "lab").with_tools(["job"]);
        registry.register_agent(head, steps(vec![vec![call("job", "b", 1)]])).unwrap();
        let approver = Late { token: token.clone(), cancels };
        let request = RunRequest::new(agent, payload(0)).with_cancellation(token.clone());
        let (hooked, tape) = (Log::default(), Arc::new(Tape::default()));
        let hooks = Hooks::new().with_for("wipe", More(hooked.clone()));
        let runtime = Runtime::builder(registry).with_approver(Arc::new(approver));
        let runtime = runtime.with_hooks(hooks).with_journal(tape.clone()).build();
        let cancelling = async {
            tokio::task::yield_now().await;
            token.cancel();
        };
        let (outcome, ()) = tokio::join!(runtime.run(request), cancelling);
        assert_eq!(outcome.unwrap().result().unwrap_err().kind, FailureKind::Cancelled);
        assert!(log.lines().is_empty(), "{agent} {cancels}: {:?}", log.lines());
        assert!(hooked.lines().is_empty(), "{agent} {cancels}: {:?}", hooked.lines());
        assert!(tape.keys().iter().all(|key| !key.contains("begin/")), "{:?}", tape.keys());
    }
}

/// The wait before the second attempt ends at that moment.
#[tokio::test(start_paused = true)]
async fn no_attempt_begins_after_its_run_was_stopped() {
    let log = Log::default();
    let tried = log.clone();
    let limits = CallLimits { attempts: Some(2), ..CallLimits::UNLIMITED };
    let closed = FunctionTool::new(spec("closed").with_limits(limits), move |_: N| {
        tried.push("tried");
        async {
            let closed = ToolFailure::new(FailureKind::Unavailable, "closed", Recovery::Retry);
            Err::<N, _>(closed)
        }
    });
    let registry = Registry::new();
    registry.register_tool(closed).unwrap();
    let policy = Policy { time_budget: Some(Duration::from_secs(1)), ..Policy::UNLIMITED };
    let agent = Agent::new("worker", "lab").with_tools(["closed"]).with_policy(policy);
    registry.register_agent(agent, steps(vec![vec![call("closed", "a", 1)]])).unwrap();
    let retry = Retry::new().with_jitter(0.0);
    let execute = ExecutionService::new(tower::retry::RetryLayer::new(retry));
    let runtime = Runtime::builder(registry).with_execution_service(execute).build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Timeout);
    assert_eq!(log.lines(), ["tried"]);
}

/// The calls of a step, one after another: the first one cancels the run, and the id of the second one is used.
#[tokio::test]
async fn a_call_that_was_refused_before_its_run_was_cancelled_keeps_its_failure() {
    let token = CancellationToken::new();
    let cancelling = token.clone();
    let registry = Registry::new();
    let stop = tool("stop", move |n| {
        cancelling.cancel();
        n
    });
    registry.register_tool(stop).unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["stop"]);
    let calls = ["a", "a", "b"].map(|id| call("stop", id, 1)).to_vec();
    registry.register_agent(agent, steps(vec![calls])).unwrap();
    let request = RunRequest::new("worker", payload(0)).one_at_a_time().with_cancellation(token);
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, "invalid_call", "cancelled"]);
}

#[tokio::test]
async fn the_name_of_a_hidden_tool_does_not_mean_another_whose_alias_it_is() {
    let log = Log::default();
    let erased = log.clone();
    let erase = FunctionTool::new(spec("erase").with_aliases(&["delete"]), move |args: N| {
        erased.push("erased");
        async move { args }
    });
    let delete = tool("delete", |n| n).with_availability(|| false);
    let registry = Registry::new();
    registry.register_toolset("toys", Combined::new().with("a", erase).with("b", delete)).unwrap();
    let agent = Agent::new("worker", "lab").with_toolsets(["toys"]);
    let planner = rule(|turn| {
        let seen: Vec<_> = turn.tools().map(ToolEntry::name).collect();
        assert_eq!(seen, ["erase"]);
        Ok(match turn.step() {
            0 => Step::call([call("delete", "a", 1)]),
            _ => Step::Finish(payload(0)),
        })
    });
    registry.register_agent(agent, planner).unwrap();
    let runtime = Runtime::builder(registry).skipping_unavailable().build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(briefs(&outcome), ["not_found"]);
    assert!(log.lines().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_though_its_journal_never_answers() {
    let (registry, _) = test_registry();
    registry.register_agent(&WORKER, steps(vec![vec![call("echo", "a", 1)]])).unwrap();
    let runtime = Runtime::builder(registry).with_journal(Arc::new(Broken("silent"))).build();
    let token = CancellationToken::new();
    let request = RunRequest::new("worker", payload(0)).with_cancellation(token.clone());
    let cancelling = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let running = tokio::time::timeout(Duration::from_secs(9), runtime.run(request));
    let (outcome, ()) = tokio::join!(running, cancelling);
    let failure = outcome.expect("it ends").unwrap().result().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cancelled);
}
