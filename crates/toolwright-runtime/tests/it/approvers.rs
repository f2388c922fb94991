//! Approvers, and the parts of a question that their answers are bound to.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, Payload, Scope, ToolCall, ToolSpec, Value, described};
use toolwright_runtime::{
    Agent, ApprovalRequest, Approver, FunctionTool, Hook, Hooks, Registry, ResumeRequest,
    RunRequest, Runtime, Verdict,
};

use crate::approvals::guarded;
use crate::planners::{brief, briefs, steps};
use crate::state::{counter, request, runtime_of};
use crate::tools::{Log, call, payload};
use crate::toys::tool;

#[tokio::test]
async fn h6_a_call_outside_runs_asks_the_approver_of_the_runtime() {
    for (verdict, expected) in [(Verdict::Approve, r#"{"n":3}"#), (Verdict::Deny(None), "denied")] {
        let registry = Registry::new();
        registry.register_tool(guarded(&Log::default())).unwrap();
        let approver = move |_: &ApprovalRequest| verdict.clone();
        let runtime = Runtime::builder(registry).with_approver(Arc::new(approver)).build();
        assert_eq!(brief(&runtime.call(call("wipe", "a", 3)).await), expected);
    }
}

#[tokio::test]
async fn h6_an_approver_sees_the_handles_that_are_open() {
    let seen = Log::default();
    let log = seen.clone();
    let approver = move |question: &ApprovalRequest| {
        log.push(question.open_handles.join(" "));
        Verdict::Approve
    };
    let runtime = runtime_of(|_: Scope| counter(None));
    let outcome = runtime.run(request().with_approver(Arc::new(approver))).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, r#"{"n":2}"#, "true", r#"{"n":3}"#]);
    let lines = seen.lines();
    let [handle] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(handle.starts_with("lock_"), "{handle}");
}

/// H7: `as` and `wipe` are joined to the same text as `a` and `swipe`.
#[tokio::test]
async fn h7_calls_whose_joined_id_and_tool_are_equal_have_different_digests() {
    let registry = Registry::new();
    for name in ["wipe", "swipe"] {
        registry.register_tool(tool(name, |n| n)).unwrap();
    }
    let calls = vec![call("wipe", "as", 1), call("swipe", "a", 1)];
    let agent = Agent::new("worker", "lab").with_tools(["wipe", "swipe"]);
    let agent = agent.with_approval_of(["wipe", "swipe"]);
    registry.register_agent(agent, steps(vec![calls])).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("worker", payload(0))).await.unwrap();
    let waiting = outcome.suspended().unwrap().pending();
    assert_eq!(waiting[0].args, waiting[1].args);
    assert_ne!(waiting[0].digest, waiting[1].digest);
}

/// Sets `n` to 2 after the approval.
struct Sly;

impl Hook for Sly {
    fn name(&self) -> &'static str {
        "sly"
    }

    fn before<'a>(&'a self, _: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
        Box::pin(std::future::ready(Ok(payload(2))))
    }
}

/// H7: the approval is required by an approval list.
#[tokio::test]
async fn h7_a_hook_cannot_change_what_was_approved_for_a_tool_that_needs_none_of_its_own() {
    let registry = Registry::new();
    registry.register_tool(tool("wipe", |n| n)).unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["wipe"]).with_approval_of(["wipe"]);
    registry.register_agent(agent, steps(vec![vec![call("wipe", "a", 1)]])).unwrap();
    let runtime = Runtime::builder(registry)
        .with_hooks(Hooks::new().with(Sly))
        .with_approver(Arc::new(|_: &ApprovalRequest| Verdict::Approve))
        .build();
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(briefs(&outcome), ["denied"]);
}

/// Approves after a delay.
struct Late(Duration);

impl Approver for Late {
    fn decide<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(async {
            tokio::time::sleep(self.0).await;
            Verdict::Approve
        })
    }
}

/// H7: by the system clock, and by a clock of the host that does not advance until the answer.
#[tokio::test(start_paused = true)]
async fn h7_an_approval_after_the_question_expired_runs_nothing() {
    let minute = Duration::from_mins(1);
    for (answered, clock_jumps, expected) in [
        (minute * 2, false, "denied"),
        (minute / 2, true, "denied"),
        (minute / 2, false, r#"{"n":3}"#),
    ] {
        let log = Log::default();
        let registry = Registry::new();
        registry.register_tool(guarded(&log)).unwrap();
        let started = tokio::time::Instant::now();
        let runtime = Runtime::builder(registry)
            .with_approvals_lasting(minute)
            .with_clock(move || {
                let jumped = clock_jumps && started.elapsed() >= answered;
                SystemTime::UNIX_EPOCH + if jumped { minute } else { Duration::ZERO }
            })
            .with_approver(Arc::new(Late(answered)))
            .build();
        let result = runtime.call(call("wipe", "a", 3)).await;
        assert_eq!(brief(&result), expected);
        assert!(started.elapsed() <= minute, "the wait ends");
        if let Err(failure) = result.outcome {
            assert_eq!(failure.message, "the approval of `wipe` was not answered in time");
            assert!(log.lines().is_empty());
        }
    }
}

described! {
    struct Payment {
        to: String,
        note: Value,
    }
}

#[tokio::test]
async fn h6_a_question_shows_hidden_characters_and_the_tool_gets_the_original_arguments() {
    let words = Approval { prompt: Some("Pay {{ args.to }}?".into()), ..Approval::default() };
    let spec = ToolSpec::new("pay").with_approval(words);
    let pay = FunctionTool::new(spec, async |payment: Payment| payment.to);
    let registry = Registry::new();
    registry.register_tool(pay).unwrap();
    let sent = "{\"to\":\"al\u{202e}ice\",\"note\":1e999}";
    let sent = ToolCall::new("pay", Payload::new(sent));
    let agent = Agent::new("worker", "lab").with_tools(["pay"]);
    registry.register_agent(agent, steps(vec![vec![sent]])).unwrap();
    let runtime = Runtime::new(registry);
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    let waiting = outcome.suspended().unwrap();
    let question = waiting.pending()[0];
    assert_eq!(question.prompt.as_deref(), Some("Pay al\u{fffd}ice?"));
    assert_eq!(question.args.as_str(), r#"{"to":"al\u202eice","note":1e999}"#);
    let request = ResumeRequest::new(waiting, [question.approve()]);
    let outcome = runtime.resume(request).await.unwrap();
    assert_eq!(briefs(&outcome), ["\"al\u{202e}ice\""]);
}
