//! The demo over NATS: the calculator is in a process of its own, which many agents could share.

use std::sync::Arc;
use std::time::Duration;

use calculator_tools::executor::CalculatorExecutor;
use planner_session_planner_agent::specs::AGENT;
use planning_tools::types::Plan;
use toolwright::{
    BoxError, BoxFuture, Executor, Registrar, RegistrationError, ToolCall, ToolResult,
};
use toolwright_nats::{NatsOptions, NatsToolset, async_nats, serve as serve_toolset};
use toolwright_runtime::{Agent, Planner, Registry, Source, Toolset};

use crate::calculator::Calculator;
use crate::model::Options;
use crate::pages::Pages;
use crate::process::Worker;
use crate::store::MemoryStore;

/// The variable with the address of the NATS server, for the worker.
const SERVER: &str = "TOOLWRIGHT_DEMO_NATS";

const TOOLSET: &str = "calculator";

struct Remote(NatsToolset);

impl Executor for Remote {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.call(call)
    }
}

/// Starts a server and a worker, and gets a plan from an agent that uses the worker.
pub(crate) async fn plan(goal: String, options: Options) -> Result<Plan, BoxError> {
    let server = toolwright_engines::nats()
        .ok_or("there is no NATS server; run `cargo xtask engines --install`")?;
    let _worker = Worker::start("nats", &[(SERVER, server.url())])?;
    let client = async_nats::connect(server.url()).await?;
    // The worker takes a moment to start.
    let remote = loop {
        match NatsToolset::connect(&client, TOOLSET, NatsOptions::new()).await {
            Ok(remote) => break remote,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    crate::plan(goal, options, |planner| registry(planner, remote)).await
}

/// The registry of the demo with another calculator.
fn registry(
    planner: Arc<dyn Planner>,
    calculator: NatsToolset,
) -> Result<Registry, RegistrationError> {
    let mut registry = Registry::new();
    todos_tools::register(&mut registry, MemoryStore::default())?;
    registry.register(calculator_tools::specs::ALL, Arc::new(Remote(calculator)))?;
    registry.register_toolset("pages", |_| Pages::default())?;
    registry.register_agent(Agent::from(&AGENT).with_toolsets(["pages"]), planner)?;
    Ok(registry)
}

/// Serves the calculator until the process is killed.
pub(crate) async fn serve() -> Result<Plan, BoxError> {
    let client = async_nats::connect(std::env::var(SERVER)?).await?;
    let executor = Arc::new(CalculatorExecutor::new(Calculator));
    let calculator = Source::executed(calculator_tools::specs::ALL.iter().copied(), executor);
    let worker = serve_toolset(&client, TOOLSET, calculator, NatsOptions::new()).await?;
    tokio::time::sleep(Duration::MAX).await;
    worker.shutdown().await;
    Err("the worker was stopped".into())
}
