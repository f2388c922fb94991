//! Planners and agents for the tests.

use std::sync::Arc;
use std::time::Duration;

use toolwright::{BoxError, BoxFuture, ToolCall, ToolResult};
use toolwright_runtime::{AgentSpec, Planner, Policy, RunOutcome, RunRequest, Runtime, Step, Turn};

use crate::tools::{TEST_TOOLS, payload, test_registry};

/// A planner that calls a function.
pub(crate) struct Rule<F>(pub(crate) F);

impl<F> Planner for Rule<F>
where
    F: Fn(&Turn<'_>) -> Result<Step, BoxError> + Send + Sync,
{
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(std::future::ready((self.0)(turn)))
    }
}

/// Creates a planner from a function.
pub(crate) fn rule<F>(function: F) -> Arc<dyn Planner>
where
    F: Fn(&Turn<'_>) -> Result<Step, BoxError> + Send + Sync + 'static,
{
    Arc::new(Rule(function))
}

/// Creates a planner that makes these steps of calls, and then finishes with `{"n": 0}`.
pub(crate) fn steps(steps: Vec<Vec<ToolCall>>) -> Arc<dyn Planner> {
    rule(move |turn| {
        Ok(match steps.get(turn.step()) {
            Some(calls) => Step::call(calls.clone()),
            None => Step::Finish(payload(0)),
        })
    })
}

/// May call every tool of [`TEST_TOOLS`], without limits.
pub(crate) static WORKER: AgentSpec =
    AgentSpec { tools: TEST_TOOLS, ..AgentSpec::new("worker", "lab") };

/// The same as [`WORKER`], with every limit.
pub(crate) static LIMITED: AgentSpec = AgentSpec {
    tools: TEST_TOOLS,
    policy: Policy {
        max_tool_calls: Some(2),
        max_consecutive_failures: Some(3),
        time_budget: Some(Duration::from_millis(500)),
        ..Policy::UNLIMITED
    },
    ..AgentSpec::new("limited", "lab")
};

/// Runs an agent with the tools of [`TEST_TOOLS`].
pub(crate) async fn run(agent: &'static AgentSpec, planner: Arc<dyn Planner>) -> RunOutcome {
    let (registry, _) = test_registry();
    registry.register_agent(agent, planner).unwrap();
    Runtime::new(registry).run(RunRequest::new(agent.name, payload(0))).await.unwrap()
}

/// Describes a result: its payload, or the kind of its failure.
pub(crate) fn brief(result: &ToolResult) -> String {
    match &result.outcome {
        Ok(payload) => payload.to_string(),
        Err(failure) => failure.kind.to_string(),
    }
}

/// Describes every result of a run, in order.
pub(crate) fn briefs(outcome: &RunOutcome) -> Vec<String> {
    outcome.calls().map(|record| brief(&record.result)).collect()
}
