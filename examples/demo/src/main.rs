//! Runs the agent `session_planner` of the example schema with a store in memory, and prints every event. The planner follows
//! fixed rules or, with `--model`, asks a model. With `--restate`, tools and agent are in two workers of a Restate server; with
//! `--nats`, the calculator is in another process.

mod calculator;
mod draft;
#[cfg(test)]
mod interrupted;
mod model;
mod narrator;
mod nats;
mod pages;
mod planner;
mod process;
mod restate;
mod show;
mod store;
mod summary;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use planning_tools::types::{Plan, PlanInput};
use toolwright::{BoxError, RegistrationError, ToolCall};
use toolwright_runtime::execute::{ExecutionService, Retry, Timeout};
use toolwright_runtime::{Agent, ApprovalRequest, Background, Planner, Registry, Runtime, Verdict};
use tower::ServiceBuilder;
use tower::retry::RetryLayer;

use crate::calculator::Calculator;
use crate::model::Options;
use crate::narrator::Narrator;
use crate::pages::Pages;
use crate::store::MemoryStore;

const DEFAULT_GOAL: &str = "Release version 1.0 of the command line tool";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(plan) => {
            // An error means that the reader has closed the pipe.
            let _ = write!(std::io::stdout(), "\n{}", show::plan(&plan));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<Plan, BoxError> {
    let (mut words, mut options) = (Vec::new(), Options::default());
    let (mut engine, mut worker) = (None, None);
    let mut rest = std::env::args().skip(1);
    while let Some(word) = rest.next() {
        let option = match word.as_str() {
            "--restate" | "--nats" => {
                engine = Some(word);
                continue;
            }
            "--worker" => &mut worker,
            "--model" => &mut options.model,
            "--base-url" => &mut options.base_url,
            "--name" => &mut options.name,
            _ => {
                words.push(word);
                continue;
            }
        };
        *option = Some(rest.next().ok_or_else(|| format!("expected a value after `{word}`"))?);
    }
    let goal = if words.is_empty() { DEFAULT_GOAL.to_owned() } else { words.join(" ") };
    match (worker, engine.as_deref()) {
        (Some(worker), _) if worker.starts_with("nats") => nats::serve().await,
        (Some(worker), _) => restate::serve(&worker).await,
        (None, Some("--restate")) => restate::plan(goal).await,
        (None, Some(_)) => nats::plan(goal, options).await,
        (None, None) => plan(goal, options, registry).await,
    }
}

/// Gets a plan by a call of the agent's tool.
async fn plan(
    goal: String,
    options: Options,
    registry: impl FnOnce(Arc<dyn Planner>) -> Result<Registry, RegistrationError>,
) -> Result<Plan, BoxError> {
    let call = plan_session(goal)?;
    let chosen = options.planner().await?;
    let mut narrator = Narrator::default();
    let events = Background::new(1024, move |event| narrator.print(event));
    let runtime = Runtime::builder(registry(Arc::clone(&chosen.planner))?)
        .with_events(events.clone())
        .with_approver(Arc::new(|_: &ApprovalRequest| Verdict::Approve))
        .with_execution_service(execute())
        .build();
    let result = runtime.call(call).await;
    drop(runtime);
    events.finish();
    let payload = result.outcome.as_ref().map_err(Clone::clone)?;
    Ok(payload.decode()?)
}

fn plan_session(goal: String) -> Result<ToolCall, BoxError> {
    Ok(planning_tools::calls::plan_session(&PlanInput::new(goal))?)
}

/// The default layers, but with shorter waits between retries.
fn execute() -> ExecutionService {
    let (first, longest) = (Duration::from_millis(20), Duration::from_secs(1));
    let retry = RetryLayer::new(Retry::new().with_attempts(1).with_backoff(first, longest));
    let timeout = Timeout::new(Timeout::DEFAULT);
    ExecutionService::new(ServiceBuilder::new().layer(retry).layer(timeout).into_inner())
}

/// Registers the toolsets and then the agent, which uses the tools of the schema and a hand-written toolset with an instance for
/// each run.
fn registry(planner: Arc<dyn Planner>) -> Result<Registry, RegistrationError> {
    let mut registry = Registry::new();
    todos_tools::register(&mut registry, MemoryStore::default())?;
    calculator_tools::register(&mut registry, Calculator)?;
    registry.register_toolset("pages", |_| Pages::default())?;
    let agent = Agent::from(&planner_session_planner_agent::specs::AGENT).with_toolsets(["pages"]);
    registry.register_agent(agent, planner)?;
    Ok(registry)
}
