//! The toolset `todo_list`: a todo list that an agent keeps during a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright::spec::{ToolAnnotations, ToolsetInfo};
use toolwright::{Scope, ToolSpec};
use toolwright_runtime::tools::{Combined, IntoSource, Json};
use toolwright_runtime::{FunctionTool, Source};

use crate::stateful::{Saved, State, Stateful};
use crate::{CHANGES, READS};

/// How many todos there may be, and how many characters a title may have.
const MOST: usize = 100;
const LONGEST_TITLE: usize = 500;

static TODO_LIST: ToolsetInfo = ToolsetInfo {
    name: "todo_list",
    description: "The steps of the current work with their status, kept for the rest of this run.",
    service: "toolwright",
};

#[derive(Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Todos {
    /// All todos, in order.
    #[schemars(length(max = MOST))]
    todos: Vec<Todo>,
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Todo {
    /// The task.
    #[schemars(length(min = 1, max = LONGEST_TITLE))]
    title: String,
    status: Status,
}

/// The status of the task.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Done,
}

impl Saved for Todos {
    fn is_within_limits(&self) -> bool {
        let is_title = |title: &str| (1..=LONGEST_TITLE).contains(&title.chars().count());
        self.todos.len() <= MOST && self.todos.iter().all(|todo| is_title(&todo.title))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Progress {
    /// The number of todos that are done.
    done: usize,
    /// The number of all todos.
    all: usize,
}

/// A todo list that an agent keeps during a run, with the tools `write_todos`, which replaces the list, and `read_todos`. Every
/// run starts with an empty list, and keeps its list over a suspension.
pub fn todo_list() -> Source {
    (|_: Scope| Stateful::<Todos>::new(tools)).into_source()
}

fn tools(list: &State<Todos>) -> Combined {
    let (written, read) = (list.clone(), list.clone());
    let about = "Replace the todo list. Send all todos, including those that are done; keep one in progress at a time.";
    let write = FunctionTool::new(spec("write_todos", about, CHANGES), move |todos: Todos| {
        let done = todos.todos.iter().filter(|todo| matches!(todo.status, Status::Done)).count();
        let progress = Progress { done, all: todos.todos.len() };
        *written.lock() = todos;
        std::future::ready(Json(progress))
    });
    let about = "Read the current todo list.";
    let read = FunctionTool::new(spec("read_todos", about, READS), move |_: Nothing| {
        std::future::ready(Json(read.lock().clone()))
    });
    Combined::new().with("todo_list", write).with("todo_list", read)
}

fn spec(name: &'static str, description: &'static str, annotations: ToolAnnotations) -> ToolSpec {
    ToolSpec::new(name)
        .with_description(description)
        .in_toolset(&TODO_LIST)
        .with_annotations(annotations)
}
