//! Generated registration helpers on a real registry (G24).

use std::sync::Arc;

use toolwright::{BoxError, BoxFuture, Executor, Payload, RegistrationError, ToolCall, ToolResult};
use toolwright_runtime::{Planner, Registry, Runtime, Step, Turn};

use super::Tested;
use super::injection::Echo;
use crate::requirement_cases::rates_tools;

struct Idle;

impl Planner for Idle {
    fn plan<'a>(&'a self, _: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(std::future::ready(Err("nobody asks an idle planner".into())))
    }
}

/// Answers every call with one payload.
struct Always(&'static str);

impl Executor for Always {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::ready(ToolResult::new(call, Ok(Payload::new(self.0)))))
    }
}

/// G24: an agent whose tools nothing runs is refused, and the error names the tool and its toolset.
#[test]
fn g24_a_missing_executor_is_named() {
    let mut registry = Registry::new();
    let error = planner_session_planner_agent::register(&mut registry, Arc::new(Idle))
        .expect_err("nothing runs its tools");
    assert_eq!(error.each().len(), 3, "every missing tool is named: {error}");
    let RegistrationError::MissingExecutor { tool, toolset, needed_by } = &error.each()[0] else {
        panic!("{error}")
    };
    assert_eq!((tool.as_str(), toolset.as_str()), ("update_todos", "todos"));
    assert!(needed_by.contains("session_planner"), "{needed_by}");
    assert_eq!(registry.agents().len() + registry.specs().len(), 0);
}

/// G24: the second of two registrations is an error that names both sides, and overwrites nothing.
#[tokio::test]
async fn g24_a_name_registered_twice_is_an_error_and_no_overwrite() -> Tested {
    let mut registry = Registry::new();
    let plan = r#"{"goal":"first","steps":[]}"#;
    planning_tools::register(&mut registry, Arc::new(Always(plan)))?;
    let error = planning_tools::register(&mut registry, Arc::new(Always("null")))
        .expect_err("the name is taken");
    let expected = RegistrationError::DuplicateTool {
        tool: "plan_session".to_owned(),
        registered: "planning".to_owned(),
        offered: "planning".to_owned(),
    };
    assert_eq!(error, expected);
    let input = planning_tools::types::PlanInput::new("any");
    let result = Runtime::new(registry).call(planning_tools::calls::plan_session(&input)?).await;
    assert_eq!(result.outcome.as_ref(), Ok(&Payload::new(plan)));
    Ok(())
}

/// G3, G24: a toolset of which methods back one part takes what runs the other part beside the service.
#[tokio::test]
async fn g3_g24_a_toolset_may_be_backed_in_two_ways() -> Tested {
    let mut registry = Registry::new();
    rates_tools::register(&mut registry, Echo, Arc::new(Always("2.5")))?;
    let specs = registry.specs();
    let names = specs.iter().map(|spec| spec.name());
    assert_eq!(names.collect::<Vec<_>>(), ["pay_all", "guess_rate"]);
    let runtime = Runtime::new(registry);
    let paid = ToolCall::new("pay_all", Payload::new(r#"{"run_id":"run_1","amount":1}"#));
    assert_eq!(runtime.call(paid.clone()).await.outcome.as_ref(), Ok(paid.args()));
    let guessed = rates_tools::calls::guess_rate(&rates_tools::types::GuessRateArgs {})?;
    assert_eq!(runtime.call(guessed).await.outcome.as_ref(), Ok(&Payload::new("2.5")));
    Ok(())
}
