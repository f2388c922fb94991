//! The hooks of a worker around the tools that its agents implement.

use std::sync::Arc;

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, FailureKind, Outcome, Payload, ToolCall, ToolSpec};
use toolwright_restate::RestateToolset;
use toolwright_runtime::tools::IntoSource;
use toolwright_runtime::{
    Agent, ApprovalRequest, Hook, Hooks, Registry, Runtime, Script, Toolset, Verdict,
};

use crate::lab::{Effects, Lab, call, key};
use crate::runs::think;

/// Refuses 13, makes other numbers 7, and records calls and outcomes.
struct Recorded(Effects);

impl Hook for Recorded {
    fn name(&self) -> &'static str {
        "recorded"
    }

    fn before<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
        self.0.push(format!("before {}", call.args()));
        let is_refused = call.args().as_str().contains("13");
        Box::pin(async move {
            if is_refused { Err("13".into()) } else { Ok(Payload::new(r#"{"n":7}"#)) }
        })
    }

    fn after<'a>(
        &'a self,
        call: &'a ToolCall,
        outcome: Outcome,
    ) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        self.0.push(format!("after {}", call.args()));
        Box::pin(async move { Ok(outcome.and(Ok(Payload::new(r#"{"n":9}"#)))) })
    }
}

/// A worker whose agent implements a tool that has the hook.
async fn lab(tool: fn() -> ToolSpec, effects: &Effects) -> Option<Lab> {
    let effects = effects.clone();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        let planner = Script::new().finish(Payload::new(r#"{"n":8}"#));
        let agent = Agent::new("thinker", "lab").with_implements(tool());
        registry.register_agent(agent, planner.into()).unwrap();
        let hooks = Hooks::new().with_for("think", Recorded(effects.clone()));
        Runtime::builder(registry).with_hooks(hooks)
    });
    lab.await
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_around_a_tool_that_an_agent_implements() {
    let effects = Effects::default();
    let Some(lab) = lab(think, &effects).await else { return };
    let toolset = RestateToolset::new(&lab.ingress(), [think()]);
    let thought = toolset.call(&call("think", "a", 1)).await.outcome.unwrap();
    assert_eq!(thought.as_str(), r#"{"n":9}"#);
    let refused = toolset.call(&call("think", "b", 13)).await.outcome.unwrap_err();
    assert_eq!(refused.message, "hook `recorded` failed");
    let expected =
        [r#"before {"n":1}"#, r#"after {"n":7}"#, r#"before {"n":13}"#, r#"after {"n":13}"#];
    assert_eq!(effects.all(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_cannot_change_an_approved_call_of_a_tool_that_an_agent_implements() {
    let guarded = || think().with_approval(Approval::default());
    let effects = Effects::default();
    let Some(lab) = lab(guarded, &effects).await else { return };
    let remote = RestateToolset::new(&lab.ingress(), [guarded()]).with_approval_key(&key());
    let remote = remote.into_source();
    let yes = Arc::new(|_: &ApprovalRequest| Verdict::Approve);
    let runtime = Runtime::builder(Registry::new()).with_approver(yes).build();
    for (id, n, expected) in [("same", 7, None), ("other", 1, Some(FailureKind::Denied))] {
        let calling = runtime.call_in(("far", &remote), None, None, call("think", id, n));
        let (result, _) = calling.await.unwrap();
        assert_eq!(result.outcome.err().map(|failure| failure.kind), expected, "{id}");
    }
}
