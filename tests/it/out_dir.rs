//! The modules that the build script compiles into `OUT_DIR`: the same files as the crates of `gen/`, used from inside
//! this package.

use std::error::Error;

use toolwright::{Executor, MethodError, Scope, ToolSpec};

use crate::generated::planner_session_planner_agent as agent;
use crate::generated::todos_service::errors::{GetTodosError, UpdateTodosError};
use crate::generated::todos_service::service::TodosService;
use crate::generated::todos_service::types::{GetTodosPayload, UpdateTodosPayload};
use crate::generated::todos_tools::executor::TodosExecutor;
use crate::generated::todos_tools::types::{
    TodoItem, TodoStatus, TodosSnapshot, UpdateMode, UpdateTodosArgs,
};
use crate::generated::{calculator_tools, planning_tools, todos_tools};

/// Gives back what it is sent, with the run in the title.
struct Echo;

impl TodosService for Echo {
    async fn update_todos(
        &self,
        payload: UpdateTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<UpdateTodosError>> {
        let run = payload.run_id;
        let titled = |item: TodoItem| TodoItem { title: format!("{run}: {}", item.title), ..item };
        Ok(TodosSnapshot { items: payload.items.into_iter().map(titled).collect() })
    }

    async fn get_todos(
        &self,
        _: GetTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<GetTodosError>> {
        Err(GetTodosError::RunNotFound.into())
    }
}

/// G32, third use: a build script compiles the schema, and a typed call runs on the included modules.
#[tokio::test]
async fn modules_in_out_dir_build_and_run_typed_calls() -> Result<(), Box<dyn Error>> {
    let items = vec![TodoItem::new("draft", "Write", TodoStatus::Pending)];
    let args = UpdateTodosArgs { mode: UpdateMode::Merge, items };
    let scope = Scope { run_id: Some("run_1".to_owned()), ..Scope::default() };
    let call = todos_tools::calls::update_todos(&args)?.with_scope(scope);
    let result = TodosExecutor::new(Echo).execute(&call).await;
    let given: TodosSnapshot =
        serde_json::from_str(result.outcome.as_ref().map_err(Clone::clone)?.as_str())?;
    assert_eq!(given.items, [TodoItem::new("draft", "run_1: Write", TodoStatus::Pending)]);
    Ok(())
}

#[test]
fn modules_in_out_dir_say_of_every_tool_what_the_crates_say() {
    let included =
        [todos_tools::specs::ALL, planning_tools::specs::ALL, calculator_tools::specs::ALL];
    let committed =
        [::todos_tools::specs::ALL, ::planning_tools::specs::ALL, ::calculator_tools::specs::ALL];
    // The debug form holds the whole declaration, both schemas among it.
    let words = |specs: [&[&ToolSpec]; 3]| specs.map(|set| format!("{set:#?}"));
    assert_eq!(words(included), words(committed));
}

/// G18: an agent's module is made of its providers' modules.
#[test]
fn an_agent_in_out_dir_uses_the_specs_of_its_neighbours() {
    let used: Vec<&ToolSpec> = agent::specs::AGENT.tools.to_vec();
    assert!(std::ptr::eq(used[0], &raw const todos_tools::specs::UPDATE_TODOS));
    assert_eq!(agent::specs::AGENT.name, "session_planner");
}
