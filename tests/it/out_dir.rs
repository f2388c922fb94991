//! Tests the modules that the build script compiles into `OUT_DIR` from the same schema as the crates of `gen/`.

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

/// Returns the items that it receives, with the run in the title.
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
fn modules_in_out_dir_have_the_same_specs_as_the_crates() {
    let included =
        [todos_tools::specs::ALL, planning_tools::specs::ALL, calculator_tools::specs::ALL];
    let committed =
        [::todos_tools::specs::ALL, ::planning_tools::specs::ALL, ::calculator_tools::specs::ALL];
    // The debug output has the whole spec, with both schemas.
    let shown = |specs: [&[&ToolSpec]; 3]| specs.map(|set| format!("{set:#?}"));
    assert_eq!(shown(included), shown(committed));
}

/// G18: an agent's module uses the modules of its providers.
#[test]
fn an_agent_in_out_dir_uses_the_specs_of_its_neighbors() {
    let used: Vec<&ToolSpec> = agent::specs::AGENT.tools.to_vec();
    assert!(std::ptr::eq(used[0], &raw const todos_tools::specs::UPDATE_TODOS));
    assert_eq!(agent::specs::AGENT.name, "session_planner");
}
