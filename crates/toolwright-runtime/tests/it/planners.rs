//! Planners for the tests: functions of the turn, and agents to put them in.

use std::sync::Arc;
use std::time::Duration;

use toolwright::{BoxError, BoxFuture, ToolCall, ToolResult};
use toolwright_runtime::{AgentSpec, Planner, Policy, RunOutcome, RunRequest, Runtime, Step, Turn};

use crate::tools::{STAND, payload, stand_registry};

/// Plans by a function.
pub(crate) struct Rule<F>(pub(crate) F);

impl<F> Planner for Rule<F>
where
    F: Fn(&Turn<'_>) -> Result<Step, BoxError> + Send + Sync,
{
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(std::future::ready((self.0)(turn)))
    }
}

/// A planner made of a function.
pub(crate) fn rule<F>(function: F) -> Arc<dyn Planner>
where
    F: Fn(&Turn<'_>) -> Result<Step, BoxError> + Send + Sync + 'static,
{
    Arc::new(Rule(function))
}

/// Makes the given steps of calls, then finishes with `{"n": 0}`.
pub(crate) fn steps(steps: Vec<Vec<ToolCall>>) -> Arc<dyn Planner> {
    rule(move |turn| {
        Ok(match steps.get(turn.step()) {
            Some(calls) => Step::Call(calls.clone()),
            None => Step::Finish(payload(0)),
        })
    })
}

/// May call every tool of the stand, without limits.
pub(crate) static WORKER: AgentSpec = AgentSpec { tools: STAND, ..AgentSpec::new("worker", "lab") };

/// As [`WORKER`], with every limit.
pub(crate) static LIMITED: AgentSpec = AgentSpec {
    tools: STAND,
    policy: Policy {
        max_tool_calls: Some(2),
        max_consecutive_failures: Some(3),
        time_budget: Some(Duration::from_millis(500)),
    },
    ..AgentSpec::new("limited", "lab")
};

/// Runs an agent over the stand's tools.
pub(crate) async fn run(agent: &'static AgentSpec, planner: Arc<dyn Planner>) -> RunOutcome {
    let (registry, _) = stand_registry();
    registry.register_agent(agent, planner).unwrap();
    Runtime::new(registry).run(RunRequest::new(agent.name, payload(0))).await.unwrap()
}

/// One result in a few characters: its payload, or its failure's kind.
pub(crate) fn brief(result: &ToolResult) -> String {
    match &result.outcome {
        Ok(payload) => payload.to_string(),
        Err(failure) => failure.kind.to_string(),
    }
}

/// Every result of a run, in order.
pub(crate) fn briefs(outcome: &RunOutcome) -> Vec<String> {
    outcome.exchanges().map(|exchange| brief(&exchange.result)).collect()
}
