//! Hooks: their order, and the changes they can make.

use std::sync::Arc;

use toolwright::spec::Approval;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure,
};

use toolwright_runtime::{
    Agent, ApprovalRequest, Approver, Hook, Hooks, Registry, ResumeRequest, RunRequest, Runtime,
    Toolset, Verdict,
};

use crate::planners::{brief, steps};
use crate::tools::{Log, call, payload, test_registry};
use crate::toys::tool;

/// A hook with two functions, which logs when it runs.
struct Noting<B, A> {
    name: &'static str,
    log: Log,
    before: B,
    after: A,
}

impl<B, A> Hook for Noting<B, A>
where
    B: Fn(&Payload) -> Result<Payload, BoxError> + Send + Sync,
    A: Fn(Outcome) -> Result<Outcome, BoxError> + Send + Sync,
{
    fn name(&self) -> &str {
        self.name
    }

    fn before<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
        self.log.push(format!("{} before {}", self.name, call.args()));
        Box::pin(std::future::ready((self.before)(call.args())))
    }

    fn after<'a>(
        &'a self,
        _: &'a ToolCall,
        outcome: Outcome,
    ) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        let what = match &outcome {
            Ok(payload) => payload.to_string(),
            Err(failure) => failure.kind.to_string(),
        };
        self.log.push(format!("{} after {what}", self.name));
        Box::pin(std::future::ready((self.after)(outcome)))
    }
}

fn digit(payload: &Payload) -> i64 {
    payload.as_str().trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

#[expect(clippy::unnecessary_wraps, reason = "must have the type of a hook that can fail")]
fn keep(args: &Payload) -> Result<Payload, BoxError> {
    Ok(args.clone())
}

/// Adds to arguments and results.
fn adding(name: &'static str, log: &Log, n: i64) -> impl Hook + use<> {
    let add = move |to: &Payload| payload(digit(to) + n);
    Noting {
        name,
        log: log.clone(),
        before: move |args: &Payload| Ok(add(args)),
        after: move |outcome| {
            Ok(match outcome {
                Ok(payload) => Ok(add(&payload)),
                failure @ Err(_) => failure,
            })
        },
    }
}

fn runtime(hooks: Hooks) -> Runtime {
    let (registry, _) = test_registry();
    registry.register_tool(tool("other", |n| n)).unwrap();
    Runtime::builder(registry).with_hooks(hooks).build()
}

/// H1: global_pre, tool_pre, execute, tool_post, global_post. Hooks of other tools do not run.
#[tokio::test]
async fn h1_hooks_run_in_order_and_each_gets_the_output_of_the_one_before() {
    let log = Log::default();
    let hooks = Hooks::new()
        .with_for("echo", adding("own", &log, 10))
        .with_for("other", adding("other", &log, 5))
        .with(adding("global", &log, 1));
    let result = runtime(hooks).call(call("echo", "a", 0)).await;
    assert_eq!(result.outcome.as_ref(), Ok(&payload(22)));
    let expected = [
        r#"global before {"n":0}"#,
        r#"own before {"n":1}"#,
        r#"own after {"n":11}"#,
        r#"global after {"n":21}"#,
    ];
    assert_eq!(log.lines(), expected);
}

/// H1: they do not run for tools of other toolsets.
#[tokio::test]
async fn h1_hooks_of_a_toolset_run_between_those_for_all_and_those_of_the_tool() {
    let log = Log::default();
    let hooks = Hooks::new()
        .with_for("other", adding("tool", &log, 100))
        .with_for_toolset("toys", adding("toolset", &log, 10))
        .with(adding("global", &log, 1));
    let runtime = runtime(hooks);
    assert_eq!(brief(&runtime.call(call("echo", "a", 0)).await), r#"{"n":2}"#);
    let of_another = log.lines().len();
    assert_eq!(of_another, 2);
    assert_eq!(brief(&runtime.call(call("other", "b", 0)).await), r#"{"n":222}"#);
    let expected = [
        r#"global before {"n":0}"#,
        r#"toolset before {"n":1}"#,
        r#"tool before {"n":11}"#,
        r#"tool after {"n":111}"#,
        r#"toolset after {"n":211}"#,
        r#"global after {"n":221}"#,
    ];
    assert_eq!(log.lines()[of_another..], expected);
}

/// H2: later hooks get the recovered result.
#[tokio::test]
async fn h2_a_hook_after_the_call_can_recover_a_failure() {
    let log = Log::default();
    let recover = |outcome: toolwright::Outcome| Ok(outcome.or(Ok(payload(7))));
    let recovering = Noting { name: "recover", log: log.clone(), before: keep, after: recover };
    let hooks = Hooks::new().with_for("refuse", recovering).with(adding("global", &log, 0));
    let result = runtime(hooks).call(call("refuse", "a", 1)).await;
    assert_eq!(result.outcome.as_ref(), Ok(&payload(7)));
    assert_eq!(log.lines()[2..], ["recover after domain_rejection", r#"global after {"n":7}"#]);
}

/// H2: the tool does not run, and the hooks after the call get the failure.
#[tokio::test]
async fn h2_a_failing_hook_is_a_failure_with_its_name() {
    let log = Log::default();
    let refuse = |_: &Payload| Err("not today".into());
    let guard = Noting { name: "guard", log: log.clone(), before: refuse, after: Ok };
    let hooks = Hooks::new().with(guard);
    let result = runtime(hooks).call(call("slow", "a", 1)).await;
    let failure = result.outcome.as_ref().unwrap_err();
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (FailureKind::Internal, "hook `guard` failed")
    );
    assert_eq!(failure.detail.as_deref(), Some("not today"));
    assert_eq!(log.lines(), [r#"guard before {"n":1}"#, "guard after internal"]);
}

/// H2: the failure of a hook after the call replaces the outcome.
#[tokio::test]
async fn h2_failures_of_hooks_keep_their_kind_and_panics_are_caught() {
    let denied = || ToolFailure::new(FailureKind::Denied, "no such user", Recovery::Finish);
    let log = Log::default();
    let cases: [(Box<dyn Fn(Outcome) -> Result<Outcome, BoxError> + Send + Sync>, _, _); 2] = [
        (Box::new(move |_| Err(denied().into())), FailureKind::Denied, "hook `late`: no such user"),
        (Box::new(|_| panic!("a bug")), FailureKind::Internal, "hook `late` failed"),
    ];
    for (after, kind, message) in cases {
        let late = Noting { name: "late", log: log.clone(), before: keep, after };
        let result = runtime(Hooks::new().with(late)).call(call("echo", "a", 1)).await;
        let failure = result.outcome.as_ref().unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (kind, message));
    }
}

#[tokio::test]
async fn the_output_of_hooks_is_checked() {
    let log = Log::default();
    let spoil = |_: &Payload| Ok(Payload::new("{}"));
    let args = Noting { name: "args", log: log.clone(), before: spoil, after: Ok };
    let result = runtime(Hooks::new().with(args)).call(call("echo", "a", 1)).await;
    assert_eq!(brief(&result), "invalid_call");
    let spoil = |_| Ok(Ok(Payload::new("[]")));
    let outcome = Noting { name: "result", log, before: keep, after: spoil };
    let result = runtime(Hooks::new().with(outcome)).call(call("echo", "a", 1)).await;
    assert_eq!(brief(&result), "malformed_result");
}

/// H6: with an approver, and if the run is suspended. The hooks run after the approval.
#[tokio::test]
async fn h6_no_hook_has_run_when_an_approval_is_requested() {
    struct LoggingApprover(Log);

    impl Approver for LoggingApprover {
        fn decide<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
            self.0.push("asked");
            Box::pin(std::future::ready(Verdict::Approve))
        }
    }

    let expected = [
        "asked",
        r#"global before {"n":1}"#,
        r#"own before {"n":1}"#,
        "safe runs",
        r#"own after {"n":1}"#,
        r#"global after {"n":1}"#,
    ];
    for suspends in [false, true] {
        let log = Log::default();
        let ran = log.clone();
        let safe = tool("safe", move |n| {
            ran.push("safe runs");
            n
        });
        let registry = Registry::new();
        registry
            .register_toolset("toys", safe.requiring_approval(Approval::default(), |_| true))
            .unwrap();
        let agent = Agent::new("worker", "lab").with_toolsets(["toys"]);
        registry.register_agent(agent, steps(vec![vec![call("safe", "a", 1)]])).unwrap();
        let hooks =
            Hooks::new().with_for("safe", adding("own", &log, 0)).with(adding("global", &log, 0));
        let runtime = Runtime::builder(registry).with_hooks(hooks).build();
        let request = RunRequest::new("worker", payload(0));
        if suspends {
            let outcome = runtime.run(request).await.unwrap();
            log.push("asked");
            let run = outcome.suspended().unwrap();
            runtime
                .resume(ResumeRequest::new(run, vec![run.pending()[0].approve()]))
                .await
                .unwrap();
        } else {
            let approver = Arc::new(LoggingApprover(log.clone()));
            runtime.run(request.with_approver(approver)).await.unwrap();
        }
        assert_eq!(log.lines(), expected, "suspends: {suspends}");
    }
}

/// H7: the call fails.
#[tokio::test]
async fn h7_a_hook_cannot_change_what_was_approved() {
    let log = Log::default();
    let toolset = tool("safe", |n| n).requiring_approval(Approval::default(), |_| true);
    let registry = Registry::new();
    registry.register_toolset("toys", toolset).unwrap();
    let agent = Agent::new("worker", "lab").with_toolsets(["toys"]);
    let planner = steps(vec![vec![call("safe", "a", 1)]]);
    registry.register_agent(agent, planner).unwrap();
    let runtime = Runtime::builder(registry)
        .with_hooks(Hooks::new().with(adding("sly", &log, 1)))
        .with_approver(Arc::new(|_: &ApprovalRequest| Verdict::Approve))
        .build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    let failure = outcome.calls().next().unwrap().result.outcome.as_ref().unwrap_err().clone();
    assert_eq!(failure.kind, FailureKind::Denied);
    assert_eq!(failure.message, "this call of `safe` is not the one that was approved");
}
