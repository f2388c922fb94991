//! The worked examples at work: the `session_planner` agent plans a goal on an embedded planner and
//! an in-memory store, and every event is printed. Holds no logic of a tool or an agent.

mod calculator;
mod draft;
mod narrator;
mod planner;
mod show;
mod store;
mod summary;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use planning_tools::types::{Plan, PlanInput};
use toolwright::codec::from_json;
use toolwright::{BoxError, RegistrationError, ToolCall};
use toolwright_runtime::{Registry, Runtime};

use crate::calculator::Calculator;
use crate::narrator::Narrator;
use crate::planner::RulePlanner;
use crate::store::MemoryStore;

const DEFAULT_GOAL: &str = "Release version 1.0 of the command line tool";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let goal = if words.is_empty() { DEFAULT_GOAL.to_owned() } else { words.join(" ") };
    match plan(goal).await {
        Ok(plan) => {
            // A reader that has left wants no plan either.
            let _ = write!(std::io::stdout(), "\n{}", show::plan(&plan));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Asks for a plan as anybody would: by a call of the tool, whoever answers it.
async fn plan(goal: String) -> Result<Plan, BoxError> {
    let call = ask(goal)?;
    let runtime = Runtime::observed(registry()?, Arc::new(Narrator::default()));
    let result = runtime.call(call).await;
    let payload = result.as_result().map_err(Clone::clone)?;
    Ok(from_json(payload.as_bytes())?)
}

fn ask(goal: String) -> Result<ToolCall, BoxError> {
    Ok(planning_tools::calls::plan_session(&PlanInput { goal, max_steps: None })?)
}

/// Providers first, then the agent that uses them.
fn registry() -> Result<Registry, RegistrationError> {
    let mut registry = Registry::new();
    todos_tools::registration::register(&mut registry, MemoryStore::default())?;
    calculator_tools::registration::register(&mut registry, Calculator)?;
    planner_session_planner_agent::registration::register(&mut registry, Arc::new(RulePlanner))?;
    Ok(registry)
}
