//! Tests the committed crates of `gen/` as another project uses them: typed calls, an executor with the user's own service,
//! and results. The runtime is not needed.

use std::error::Error;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use todos_service::errors::{GetTodosError, UpdateTodosError};
use todos_service::service::TodosService;
use todos_tools::executor::TodosExecutor;
use todos_tools::types::{
    GetTodosArgs, TodoItem, TodoStatus, TodosSnapshot, UpdateMode, UpdateTodosArgs,
};
use toolwright::spec::Implementation;
use toolwright::{
    Executor, FailureKind, InvalidPayload, MethodError, Payload, Recovery, Scope, Tool, ToolCall,
    ToolFailure, ToolResult, ToolSpec, Value,
};

type Tested = Result<(), Box<dyn Error>>;

/// The todos of the run `run_1`. Any other run is unknown.
#[derive(Default)]
struct TodosOfRunOne(Mutex<Vec<TodoItem>>);

impl TodosService for TodosOfRunOne {
    async fn update_todos(
        &self,
        payload: todos_service::types::UpdateTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<UpdateTodosError>> {
        if payload.run_id != "run_1" {
            return Err(UpdateTodosError::RunNotFound.into());
        }
        let mut items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if payload.mode == UpdateMode::Replace {
            items.clear();
        }
        items.extend(payload.items);
        Ok(TodosSnapshot { items: items.clone() })
    }

    async fn get_todos(
        &self,
        payload: todos_service::types::GetTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<GetTodosError>> {
        let items = self.0.lock().map_err(|_| MethodError::internal("the lock is poisoned"))?;
        let wanted = |item: &&TodoItem| payload.status.is_none_or(|status| item.status == status);
        Ok(TodosSnapshot { items: items.iter().filter(wanted).cloned().collect() })
    }
}

struct Sums;

impl calculator_service::service::CalculatorService for Sums {
    async fn add(
        &self,
        payload: calculator_service::types::AddPayload,
    ) -> Result<calculator_service::types::AddResult, MethodError> {
        Ok(calculator_service::types::AddResult { sum: payload.a + payload.b })
    }
}

fn draft() -> TodoItem {
    TodoItem::new("draft", "Write the draft", TodoStatus::InProgress)
}

fn replace(items: Vec<TodoItem>) -> UpdateTodosArgs {
    UpdateTodosArgs { mode: UpdateMode::Replace, items }
}

fn in_run(call: ToolCall, run: &str) -> ToolCall {
    call.with_scope(Scope { run_id: Some(run.to_owned()), ..Scope::default() })
}

fn failure(result: ToolResult) -> ToolFailure {
    result.outcome.as_ref().expect_err("the call fails").clone()
}

/// G20: a builder turns typed arguments into a call with the canonical id, the encoded payload and the caller's options.
#[test]
fn a_typed_call_carries_the_canonical_id_and_the_encoded_payload() -> Tested {
    let call = todos_tools::calls::update_todos(&replace(vec![draft()]))?
        .with_id("call_2")
        .with_parent_call_id("call_1");
    assert_eq!(call.tool(), "update_todos");
    assert_eq!((call.id(), call.parent_call_id()), ("call_2", Some("call_1")));
    let items = r#"[{"id":"draft","title":"Write the draft","status":"in_progress"}]"#;
    assert_eq!(call.args().as_str(), format!(r#"{{"mode":"replace","items":{items}}}"#));
    Ok(())
}

/// G20: a builder returns all issues at once.
#[test]
fn an_invalid_call_is_not_built() {
    let item = TodoItem::new("", "x".repeat(201), TodoStatus::Done);
    let invalid = todos_tools::calls::update_todos(&replace(vec![item])).expect_err("two limits");
    let found: Vec<_> =
        invalid.issues().iter().map(|issue| (issue.pointer(), issue.code())).collect();
    assert_eq!(found, [("/items/0/id", "too_short"), ("/items/0/title", "too_long")]);
}

/// G20: there is a builder for every tool, with a method or an agent behind it.
#[test]
fn tools_of_every_kind_have_call_builders() -> Tested {
    let method =
        calculator_tools::calls::add(&calculator_tools::types::AddPayload { a: 2.0, b: 0.5 })?;
    let agent =
        planning_tools::calls::plan_session(&planning_tools::types::PlanInput::new("Ship"))?;
    assert_eq!((method.tool(), method.args().as_str()), ("add", r#"{"a":2,"b":0.5}"#));
    let planned = r#"{"goal":"Ship","max_steps":5}"#;
    assert_eq!((agent.tool(), agent.args().as_str()), ("plan_session", planned));
    Ok(())
}

/// G21: the executor wraps the service trait and fills `run_id` from the call; the model never sees it.
#[tokio::test]
async fn an_executor_runs_typed_calls_on_the_service_with_the_run_of_the_call() -> Tested {
    let executor = TodosExecutor::new(TodosOfRunOne::default());
    let done =
        TodoItem { note: Some("by noon".to_owned()), ..TodoItem::new("a", "A", TodoStatus::Done) };
    let update = todos_tools::calls::update_todos(&replace(vec![draft(), done.clone()]))?;
    let stored = executor.execute(&in_run(update, "run_1")).await;
    assert_eq!(snapshot(&stored)?.items, [draft(), done.clone()]);

    let get = todos_tools::calls::get_todos(&GetTodosArgs { status: Some(TodoStatus::Done) })?;
    let call = in_run(get, "run_1");
    let found = executor.execute(&call).await;
    assert_eq!(found.call_id, call.id());
    assert_eq!(snapshot(&found)?.items, [done]);
    for spec in todos_tools::specs::ALL {
        assert!(!spec.args_schema().contains("run_id"), "{}", spec.name());
    }
    Ok(())
}

#[tokio::test]
async fn an_earlier_name_still_reaches_the_tool() -> Tested {
    let executor = TodosExecutor::new(TodosOfRunOne::default());
    let args = Payload::of(&replace(vec![draft()]))?;
    let result = executor.execute(&in_run(ToolCall::new("set_todos", args), "run_1")).await;
    assert_eq!(snapshot(&result)?.items, [draft()]);
    assert!(todos_tools::specs::advertised().all(|spec| spec.name() != "set_todos"));
    Ok(())
}

/// G28: the failure of an invalid call has the issues, the arguments and an example.
#[tokio::test]
async fn an_invalid_call_fails_with_a_correction() -> Tested {
    let executor = TodosExecutor::new(TodosOfRunOne::default());
    let sent = r#"{"mode":"append","items":[{"id":"a","title":"A"}],"run_id":"run_2"}"#;
    let call = in_run(ToolCall::new("update_todos", Payload::new(sent)), "run_1");
    let failure = failure(executor.execute(&call).await);
    assert_eq!(failure.kind, FailureKind::InvalidCall);
    let Recovery::CorrectCall(correction) = failure.recovery else {
        panic!("found {:?}", failure.recovery);
    };
    let invalid: InvalidPayload = correction.issues.ok_or("no issues")?;
    let found: Vec<_> =
        invalid.issues().iter().map(|issue| (issue.pointer(), issue.code())).collect();
    assert_eq!(
        found,
        [("/mode", "variant"), ("/items/0/status", "missing"), ("/run_id", "unknown_key")]
    );
    assert_eq!(correction.prior_input.as_str(), sent);
    let example = correction.example.ok_or("no example")?;
    assert_eq!(todos_tools::specs::UPDATE_TODOS.check_args(example.as_bytes()), Ok(()));
    Ok(())
}

#[tokio::test]
async fn failures_show_the_model_only_the_texts_of_the_schema() -> Tested {
    let executor = TodosExecutor::new(TodosOfRunOne::default());
    let call = todos_tools::calls::update_todos(&replace(Vec::new()))?;

    let unknown_run = failure(executor.execute(&in_run(call.clone(), "run_2")).await);
    assert_eq!(unknown_run.kind, FailureKind::DomainRejection);
    assert_eq!(unknown_run.code.as_deref(), Some("run_not_found"));
    assert_eq!(unknown_run.message, "the run is unknown");
    assert_eq!(unknown_run.recovery, Recovery::Replan);

    let without_run = failure(executor.execute(&call).await);
    assert_eq!(without_run.kind, FailureKind::Internal);
    assert!(!without_run.message.contains("run_id"), "{}", without_run.message);
    assert!(without_run.detail.ok_or("no detail")?.contains("run_id"));

    let unknown_tool = ToolCall::new("drop_todos", Payload::new("{}"));
    let not_found = failure(executor.execute(&unknown_tool).await);
    assert_eq!(not_found.kind, FailureKind::NotFound);
    Ok(())
}

/// G25: a tool declared on a method uses the method's schemas, and calls the service like any other tool.
#[tokio::test]
async fn a_tool_declared_on_a_method_has_the_types_of_the_method() -> Tested {
    let executor = calculator_tools::executor::CalculatorExecutor::new(Sums);
    let args = calculator_service::types::AddPayload { a: 2.0, b: 40.0 };
    let result = executor.execute(&calculator_tools::calls::add(&args)?).await;
    assert_eq!(payload(&result)?.as_str(), r#"{"sum":42}"#);
    assert_eq!(
        calculator_tools::specs::ADD.implementation(),
        &Implementation::Method { service: "calculator".into(), method: "add".into() }
    );
    Ok(())
}

/// G17, G18: the agent's crate reexports the specs and call builders of its providers, and repeats no type.
#[test]
fn the_agent_reexports_the_specs_and_calls_of_its_providers() -> Tested {
    use planner_session_planner_agent as agent;
    let providers: [&ToolSpec; 3] = [
        &todos_tools::specs::UPDATE_TODOS,
        &todos_tools::specs::GET_TODOS,
        &calculator_tools::specs::ADD,
    ];
    assert_eq!(agent::specs::AGENT.tools.len(), providers.len());
    for (used, provided) in agent::specs::AGENT.tools.iter().zip(providers) {
        assert!(std::ptr::eq(*used, provided), "{} is a copy", used.name());
    }
    let exported = agent::specs::AGENT.exports.first().copied().ok_or("no export")?;
    assert!(std::ptr::eq(exported, &raw const planning_tools::specs::PLAN_SESSION));
    // The same type, or this would not compile.
    let call = agent::calls::get_todos(&GetTodosArgs::default())?;
    assert_eq!(call.tool(), todos_tools::specs::GetTodos::SPEC.name());
    Ok(())
}

/// A type of a user with generated types in it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Board {
    name: String,
    first: TodoItem,
    others: TodosSnapshot,
    filter: Option<TodoStatus>,
}

/// The serde implementations use the codecs, so every format refuses what the codecs refuse.
#[test]
fn generated_types_serialize_inside_the_types_of_a_user() -> Tested {
    let board = Board {
        name: "work".to_owned(),
        first: draft(),
        others: TodosSnapshot { items: vec![draft()] },
        filter: Some(TodoStatus::Done),
    };
    let item = r#"{"id":"draft","title":"Write the draft","status":"in_progress"}"#;
    let json = format!(
        r#"{{"name":"work","first":{item},"others":{{"items":[{item}]}},"filter":"done"}}"#
    );
    assert_eq!(serde_json::to_string(&board)?, json);
    assert_eq!(serde_json::from_str::<Board>(&json)?, board);
    assert_eq!(serde_json::from_value::<Board>(serde_json::to_value(&board)?)?, board);

    let refused = serde_json::from_str::<Board>(&json.replace("in_progress", "begun"));
    let message = refused.expect_err("no such status").to_string();
    assert!(message.contains("`/status`") && message.contains("begun"), "{message}");
    let unwritable = Board { first: TodoItem::new("", "", TodoStatus::Done), ..board };
    assert!(serde_json::to_string(&unwritable).is_err());
    Ok(())
}

fn snapshot(result: &ToolResult) -> Result<TodosSnapshot, Box<dyn Error>> {
    Ok(toolwright::codec::from_json(payload(result)?.as_bytes())?)
}

fn payload(result: &ToolResult) -> Result<&Payload, ToolFailure> {
    result.outcome.as_ref().map_err(ToolFailure::clone)
}

#[test]
fn the_lock_has_the_digests_of_what_models_read_of_the_specs() {
    let lock: Value = include_str!("../../toolwright.lock").parse().expect("it is JSON");
    let specs = todos_tools::specs::ALL.iter().chain(calculator_tools::specs::ALL);
    let mut count = 0;
    for spec in specs {
        let digest = format!("sha256:{}", toolwright::digests::model(spec));
        let locked = lock.pointer(&format!("/tools/{}/digests/model", spec.name()));
        assert_eq!(locked.and_then(Value::as_str), Some(&*digest), "{}", spec.name());
        count += 1;
    }
    assert_eq!(count, 3);
}
