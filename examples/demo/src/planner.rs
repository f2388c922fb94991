//! A planner without a model: it reads the todos, stores one for each task, adds up the minutes, begins the first task and
//! returns the plan. Each decision depends only on the turn.

use calculator_tools::types::AddPayload;
use planning_tools::types::{Plan, PlanInput, PlanStep, StepStatus};
use todos_tools::types::{GetTodosArgs, TodoItem, TodoStatus, UpdateMode, UpdateTodosArgs};
use toolwright::codec::Decode;
use toolwright::{BoxError, BoxFuture, InvalidPayload, Nullable, Payload, ToolCall, ToolResult};
use toolwright_runtime::{Planner, Step, Turn};

use crate::draft::{Task, tasks};
use crate::pages::{Line, Opened};

/// A planner that follows fixed rules.
pub(crate) struct RulePlanner;

impl Planner for RulePlanner {
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(std::future::ready(next(turn)))
    }
}

fn next(turn: &Turn<'_>) -> Result<Step, BoxError> {
    // The planner cannot continue without a result.
    for result in turn.last_results() {
        result.outcome.as_ref().map_err(Clone::clone)?;
    }
    let input: PlanInput = turn.input().decode()?;
    let limit = usize::try_from(input.max_steps)?;
    let tasks = tasks(&input.goal, limit);
    let sums = sums(turn, tasks)?;
    Ok(match turn.step() {
        0 => Step::call([
            todos_tools::calls::get_todos(&GetTodosArgs { status: None })?,
            ToolCall::new("open_page", Payload::new("{}")),
        ]),
        1 => {
            Step::call([vec![store(tasks)?, note(turn, &input.goal)?], additions(&sums)?].concat())
        }
        _ if sums.len() > 1 => Step::call(additions(&sums)?),
        _ if !has_begun(turn) => Step::call([begin(tasks, &sums)?]),
        _ => Step::Finish(Payload::of(&answer(input.goal, tasks))?),
    })
}

/// The minutes after the additions so far. Each step of additions halves their number.
fn sums(turn: &Turn<'_>, tasks: &[Task]) -> Result<Vec<f64>, BoxError> {
    let mut sums: Vec<f64> = tasks.iter().map(|(_, minutes)| *minutes).collect();
    for step in turn.history() {
        let added = step.calls.iter().filter(|done| done.call.tool() == "add");
        let added: Vec<f64> = added.map(|done| sum(&done.result)).collect::<Result<_, _>>()?;
        if !added.is_empty() {
            let odd = sums.chunks_exact(2).remainder().to_vec();
            sums = [added, odd].concat();
        }
    }
    Ok(sums)
}

fn sum(result: &ToolResult) -> Result<f64, BoxError> {
    let added: calculator_tools::types::AddResult = decode(result)?;
    Ok(added.sum)
}

fn decode<T: Decode>(result: &ToolResult) -> Result<T, BoxError> {
    let payload = result.outcome.as_ref().map_err(Clone::clone)?;
    Ok(payload.decode()?)
}

fn additions(sums: &[f64]) -> Result<Vec<ToolCall>, InvalidPayload> {
    let pairs = sums.chunks_exact(2);
    pairs.map(|pair| calculator_tools::calls::add(&AddPayload { a: pair[0], b: pair[1] })).collect()
}

fn store(tasks: &[Task]) -> Result<ToolCall, InvalidPayload> {
    let items = tasks.iter().enumerate().map(|(place, task)| todo(place, task)).collect();
    todos_tools::calls::update_todos(&UpdateTodosArgs { mode: UpdateMode::Replace, items })
}

/// Writes the goal on the page that was opened.
fn note(turn: &Turn<'_>, goal: &str) -> Result<ToolCall, BoxError> {
    let opened = turn.last_results().nth(1).ok_or("no page was opened")?;
    let Opened { page } = decode(opened)?;
    let line = Line { page, line: goal.to_owned() };
    Ok(ToolCall::new("write_page", Payload::of(&line)?))
}

/// Begins the first task, and notes the sum of all minutes in it.
fn begin(tasks: &[Task], sums: &[f64]) -> Result<ToolCall, InvalidPayload> {
    let note = sums.first().map(|minutes| format!("{minutes} minutes in all"));
    let first = tasks.first().map(|task| todo(0, task));
    let items = first.map(|item| TodoItem { status: TodoStatus::InProgress, note, ..item });
    let items = items.into_iter().collect();
    todos_tools::calls::update_todos(&UpdateTodosArgs { mode: UpdateMode::Merge, items })
}

/// Returns whether the first task has begun: the todos are written once at the start, and once more then.
fn has_begun(turn: &Turn<'_>) -> bool {
    let done = turn.history().iter().flat_map(|step| &step.calls);
    done.filter(|done| done.call.tool() == "update_todos").count() == 2
}

fn todo(place: usize, (title, _): &Task) -> TodoItem {
    let id = format!("step-{}", place + 1);
    TodoItem { id, title: (*title).to_owned(), status: TodoStatus::Pending, note: None }
}

fn answer(goal: String, tasks: &[Task]) -> Plan {
    let step = |(place, (title, minutes)): (usize, &Task)| PlanStep {
        title: (*title).to_owned(),
        status: if place == 0 { StepStatus::InProgress } else { StepStatus::Pending },
        minutes: Some(Nullable::Value(*minutes)),
    };
    Plan { goal, steps: tasks.iter().enumerate().map(step).collect() }
}
