//! Tests the examples end to end with a planner that follows a fixed rule (G22, G30, G31, G32).

use std::sync::{Arc, Mutex, PoisonError};

use planner_session_planner_agent::{calls, specs};
use planning_tools::types::{Plan, PlanInput, PlanStep, StepStatus};
use todos_service::errors::{GetTodosError, UpdateTodosError};
use todos_service::service::TodosService;
use todos_service::types::{GetTodosPayload, TodosSnapshot, UpdateTodosPayload};
use todos_tools::executor::TodosExecutor;
use todos_tools::types::{GetTodosArgs, TodoItem, TodoStatus, UpdateMode, UpdateTodosArgs};
use toolwright::Registrar as _;
use toolwright::codec::from_json;
use toolwright::registration::per_run;
use toolwright::{BoxError, BoxFuture, MethodError, Payload, ToolSpec};
use toolwright_runtime::{
    ApprovalRequest, CallRequest, Collector, Event, EventKind, Planner, Registry, ResumeRequest,
    RunRequest, Runtime, SealKey, Step, Turn, Verdict,
};

use super::Tested;

/// The todos of all runs, each with its run.
#[derive(Clone, Default)]
struct Store(Arc<Mutex<Vec<(String, TodoItem)>>>);

impl Store {
    fn of(&self, run: &str) -> TodosSnapshot {
        let todos = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = todos.iter().filter(|(owner, _)| owner == run);
        TodosSnapshot { items: own.map(|(_, item)| item.clone()).collect() }
    }
}

impl TodosService for Store {
    async fn update_todos(
        &self,
        payload: UpdateTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<UpdateTodosError>> {
        let items = payload.items.into_iter().map(|item| (payload.run_id.clone(), item));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(items);
        Ok(self.of(&payload.run_id))
    }

    async fn get_todos(
        &self,
        payload: GetTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<GetTodosError>> {
        Ok(self.of(&payload.run_id))
    }
}

pub(super) struct Sums;

impl calculator_service::service::CalculatorService for Sums {
    async fn add(
        &self,
        payload: calculator_service::types::AddPayload,
    ) -> Result<calculator_service::types::AddResult, MethodError> {
        Ok(calculator_service::types::AddResult { sum: payload.a + payload.b })
    }
}

/// Finishes at once with its instructions as the result.
struct Repeat;

impl Planner for Repeat {
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        let result = Payload::of(&turn.instructions().to_owned()).map(Step::Finish);
        Box::pin(std::future::ready(result.map_err(Into::into)))
    }
}

/// G4: the instructions of a planner contain the description of each toolset of its agent once.
#[tokio::test]
async fn g4_planners_read_the_descriptions_of_their_toolsets() {
    let mut registry = Registry::new();
    todos_tools::register(&mut registry, Store::default()).unwrap();
    calculator_tools::register(&mut registry, Sums).unwrap();
    planner_session_planner_agent::register(&mut registry, Arc::new(Repeat)).unwrap();
    let runtime = Runtime::new(registry);
    let outcome =
        runtime.run(RunRequest::new("session_planner", Payload::new("{}"))).await.unwrap();
    let instructions: String = outcome.decode().unwrap();
    assert_eq!(
        instructions,
        "Keep plans short. Store each step as a todo.\n\n`todos`: Update or fetch the todos of a run.\n\n\
         `calculator`: Does sums."
    );
}

/// Stores one todo and adds two numbers, reads the todos back, and returns them as a plan.
struct Rule;

impl Planner for Rule {
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(std::future::ready(next(turn)))
    }
}

fn next(turn: &Turn<'_>) -> Result<Step, BoxError> {
    let input: PlanInput = from_json(turn.input().as_bytes())?;
    let results: Vec<&Payload> = turn
        .last_results()
        .map(|result| result.outcome.as_ref().map_err(Clone::clone))
        .collect::<Result<_, _>>()?;
    Ok(match (turn.step(), results.as_slice()) {
        (0, _) => {
            let items =
                vec![TodoItem::new("one", format!("Begin: {}", input.goal), TodoStatus::Pending)];
            Step::call([
                calls::update_todos(&UpdateTodosArgs { mode: UpdateMode::Replace, items })?,
                calls::add(&calculator_tools::types::AddPayload { a: 20.0, b: 22.0 })?,
            ])
        }
        (1, [_, sum]) if sum.as_str().contains("42") => {
            Step::call([calls::get_todos(&GetTodosArgs::default())?])
        }
        (_, [todos]) => {
            let todos: TodosSnapshot = from_json(todos.as_bytes())?;
            let steps =
                todos.items.into_iter().map(|item| PlanStep::new(item.title, StepStatus::Pending));
            Step::Finish(Payload::of(&Plan { goal: input.goal, steps: steps.collect() })?)
        }
        (step, results) => return Err(format!("unexpected at step {step}: {results:?}").into()),
    })
}

/// A registry with the providers and the agent.
fn registry(store: Store) -> Result<Registry, Box<dyn std::error::Error>> {
    let mut registry = Registry::new();
    todos_tools::register(&mut registry, store)?;
    calculator_tools::register(&mut registry, Sums)?;
    planner_session_planner_agent::register(&mut registry, Arc::new(Rule))?;
    Ok(registry)
}

/// G18, G22, G24, G32: a typed call of `plan_session` runs the agent, whose own calls reach two services.
#[tokio::test]
async fn g18_g22_g24_g32_plan_session_runs_the_agent_that_exports_it() -> Tested {
    let store = Store::default();
    let call = planning_tools::calls::plan_session(&PlanInput::new("Ship"))?;
    let runtime = Runtime::builder(registry(store.clone())?);
    let result = runtime
        .with_approver(Arc::new(|_: &ApprovalRequest| Verdict::Approve))
        .build()
        .call(call)
        .await;
    let plan: Plan = from_json(result.outcome.as_ref().map_err(Clone::clone)?.as_bytes())?;
    assert_eq!(
        plan,
        Plan {
            goal: "Ship".to_owned(),
            steps: vec![PlanStep::new("Begin: Ship", StepStatus::Pending)]
        }
    );
    let stored = store.0.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(stored.len(), 1);
    assert!(!stored[0].0.is_empty(), "the run's id was injected");
    Ok(())
}

/// G22: a host runs the agent of a generated tool. The tool's codecs check the input before the run, and the result, here of a
/// run that was suspended and resumed in another runtime.
#[tokio::test]
async fn g22_a_host_runs_the_agent_of_a_generated_tool_through_its_codecs() -> Tested {
    let refused = RunRequest::of::<planning_tools::specs::PlanSession>(&PlanInput::new(""));
    let issues = refused.err().ok_or("an empty goal is no input")?;
    assert_eq!(issues.issues()[0].pointer(), "/goal");
    let request = RunRequest::of::<planning_tools::specs::PlanSession>(&PlanInput::new("Ship"))?;
    let key = SealKey::new([7; 32])?;
    let here = Runtime::builder(registry(Store::default())?).with_seal_keys([key.clone()]).build();
    let outcome = here.run(request).await?;
    let text = here.export(outcome.suspended().ok_or("storing needs an approval")?).await?;
    let elsewhere = Runtime::builder(registry(Store::default())?).with_seal_keys([key]).build();
    let restored = elsewhere.restore(&text).await?;
    let answers: Vec<_> = restored.pending().iter().map(|asked| asked.approve()).collect();
    let outcome = elsewhere.resume(ResumeRequest::new(&restored, answers)).await?;
    let plan: Plan = outcome.decode().map_err(|error| error.to_string())?;
    assert_eq!(plan.steps, [PlanStep::new("Begin: Ship", StepStatus::Pending)]);
    Ok(())
}

/// G30, G31: the caller's sink sees only the start and the result of the call. The runtime's sink also sees the events of the
/// child run, with the child's run id.
#[tokio::test]
async fn g30_g31_the_callers_sink_sees_one_start_and_one_result() -> Tested {
    let (all, own) = (Collector::new(), Collector::new());
    let runtime = Runtime::builder(registry(Store::default())?)
        .with_events(all.clone())
        .with_approver(Arc::new(|_: &ApprovalRequest| Verdict::Approve))
        .build();
    let call = planning_tools::calls::plan_session(&PlanInput::new("Ship"))?.with_id("call_1");
    runtime.call(CallRequest::new(call).with_events(own.clone())).await;
    let seen = own.events();
    let kinds: Vec<&str> = seen.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["tool_call_scheduled", "tool_result_received"]);
    let parent = seen[0].run_id();
    let child = |event: &&Event| event.run_id() != parent;
    let events = all.events();
    let inner: Vec<&Event> = events.iter().filter(child).collect();
    assert!(inner.iter().all(|event| event.agent.as_deref() == Some("session_planner")));
    let first = inner.first().map(|event| event.kind.as_str());
    let last = inner.last().map(|event| event.kind.as_str());
    assert_eq!((first, last), (Some("run_started"), Some("run_finished")));
    let scheduled = inner.iter().filter_map(|event| match &event.kind {
        EventKind::ToolCallScheduled { tool, .. } => Some((tool.name(), tool.toolset())),
        _ => None,
    });
    let expected = [
        ("update_todos", Some("todos")),
        ("add", Some("calculator")),
        ("get_todos", Some("todos")),
    ];
    assert_eq!(scheduled.collect::<Vec<_>>(), expected);
    Ok(())
}

/// G17, G18: the agent's specs are the statics of the providers, not copies.
#[test]
fn g17_g18_an_agents_specs_are_the_providers_own() {
    let own: Vec<*const ToolSpec> =
        specs::AGENT.tools.iter().map(|spec| std::ptr::from_ref(*spec)).collect();
    let providers = [
        &todos_tools::specs::UPDATE_TODOS,
        &todos_tools::specs::GET_TODOS,
        &calculator_tools::specs::ADD,
    ];
    assert_eq!(own, providers.map(std::ptr::from_ref));
    assert_eq!(specs::AGENT.exports.len(), 1);
}

/// I1, G24: a generated toolset is registered with a factory that makes an instance for each run, or with one instance for all
/// runs.
#[tokio::test]
async fn i1_g24_a_generated_toolset_has_an_instance_for_each_run_unless_it_is_shared() -> Tested {
    let scope = toolwright::Scope { run_id: Some("one".to_owned()), ..Default::default() };
    let item = TodoItem::new("a", "Draft", TodoStatus::Pending);
    let store = UpdateTodosArgs { mode: UpdateMode::Replace, items: vec![item] };
    for (shared, expected) in [(false, 0), (true, 1)] {
        let mut registry = Registry::new();
        if shared {
            todos_tools::register(&mut registry, Store::default())?;
        } else {
            let each = per_run(|| TodosExecutor::new(Store::default()));
            registry.register_factory(todos_tools::specs::ALL, each)?;
        }
        let runtime = Runtime::builder(registry)
            .with_approver(Arc::new(|_: &ApprovalRequest| Verdict::Approve))
            .build();
        let write = todos_tools::calls::update_todos(&store)?.with_scope(scope.clone());
        runtime.call(write).await.outcome.as_ref().map_err(Clone::clone)?;
        let read = todos_tools::calls::get_todos(&GetTodosArgs { status: None })?;
        let result = runtime.call(read.with_scope(scope.clone())).await;
        let todos: TodosSnapshot =
            from_json(result.outcome.as_ref().map_err(Clone::clone)?.as_bytes())?;
        assert_eq!(todos.items.len(), expected);
    }
    Ok(())
}
