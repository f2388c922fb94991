//! The demo on Restate: one worker has the tools and another the agent. The agent's worker is killed in the middle of its run, and
//! the next one goes on.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use planner_session_planner_agent::specs::AGENT;
use planning_tools::types::Plan;
use toolwright::{BoxError, Outcome, Registrar, Scope};
use toolwright_engines::Restate;
use toolwright_restate::{ApprovalKey, Ingress, RestateToolset, Runs, Worker};
use toolwright_runtime::{Agent, Registry, Runtime, Toolset};

use crate::calculator::Calculator;
use crate::pages::Pages;
use crate::planner::RulePlanner;
use crate::process;
use crate::store::MemoryStore;

/// The variables with the address of the ingress and the approval key, for workers.
const INGRESS: &str = "TOOLWRIGHT_DEMO_INGRESS";
const KEY: &str = "TOOLWRIGHT_DEMO_KEY";

/// The run that makes the call of the agent's tool, and that call. The agent's run is named after both.
const CALLER: &str = "demo";
const CALL: &str = "plan";

/// After so many results the agent's worker is killed.
const RESULTS: usize = 4;

/// Starts a server and two workers, and gets a plan by a call of the agent's tool.
pub(crate) async fn plan(goal: String) -> Result<Plan, BoxError> {
    let server = toolwright_engines::restate()
        .ok_or("there is no Restate server; run `cargo xtask engines --install`")?;
    let mut secret = [0_u8; 32];
    getrandom::fill(&mut secret)?;
    let key = secret.map(|byte| format!("{byte:02x}")).concat();
    let _tools = Process::start("tools", &server, &key).await?;
    let mut agent = Process::start("agent", &server, &key).await?;

    let ingress = Ingress::new(&server.ingress())?;
    let planning = RestateToolset::new(&ingress, AGENT.exports.iter().copied());
    let scope = Scope { run_id: Some(CALLER.to_owned()), ..Scope::default() };
    let call = crate::plan_session(goal)?.with_id(CALL).with_scope(scope);
    let calling = tokio::spawn(async move { planning.call(&call).await.outcome });
    let runs = Runs::new(&ingress, AGENT.name);
    follow(&runs, &mut agent, &calling).await?;
    let outcome: Outcome = calling.await?;
    Ok(outcome?.decode()?)
}

/// Prints the log of the agent's run, approves its calls, and kills its worker once.
async fn follow(
    runs: &Runs,
    agent: &mut Process,
    calling: &tokio::task::JoinHandle<Outcome>,
) -> Result<(), BoxError> {
    let run = format!("{CALLER}.{CALL}");
    let (mut printed, mut results, mut was_killed) = (0, 0, false);
    while !calling.is_finished() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        // The run may not have begun.
        let (Ok(state), Ok(log)) = (runs.state(&run).await, runs.log(&run).await) else { continue };
        for line in log.iter().skip(printed) {
            let tool = line.tool.as_deref().unwrap_or_default();
            println!("   {:<22} {tool}", line.event);
            results += usize::from(line.event == "tool_result_received");
        }
        printed = log.len();
        if results >= RESULTS && !was_killed {
            was_killed = true;
            println!("   (the agent's worker is killed, and another one starts)");
            agent.replace().await?;
        }
        for question in &state.questions {
            println!("   approved: {}", question.prompt.as_deref().unwrap_or(&question.tool));
            // It may have been answered in the last turn.
            let _ = runs.answer(&run, &question.approve()).await;
        }
    }
    Ok(())
}

/// A worker in a process of its own.
struct Process {
    worker: process::Worker,
    role: &'static str,
    port: u16,
    environment: [(&'static str, String); 2],
}

impl Process {
    /// Starts a worker and announces it.
    async fn start(role: &'static str, server: &Restate, key: &str) -> Result<Self, BoxError> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let environment = [(INGRESS, server.ingress()), (KEY, key.to_owned())];
        let worker = spawn(role, port, &environment).await?;
        server.register(&format!("http://127.0.0.1:{port}")).await?;
        Ok(Self { worker, role, port, environment })
    }

    /// Kills the worker and starts another at its address.
    async fn replace(&mut self) -> Result<(), BoxError> {
        self.worker.kill()?;
        self.worker = spawn(self.role, self.port, &self.environment).await?;
        Ok(())
    }
}

async fn spawn(
    role: &str,
    port: u16,
    environment: &[(&'static str, String)],
) -> Result<process::Worker, BoxError> {
    let worker = process::Worker::start(&format!("{role}:{port}"), environment)?;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(worker)
}

/// Serves as a worker, given as `<role>:<port>`, until the process is killed.
pub(crate) async fn serve(worker: &str) -> Result<Plan, BoxError> {
    let (role, port) = worker.split_once(':').ok_or("expected a role and a port")?;
    let key = std::env::var(KEY)?;
    let mut secret = [0; 32];
    for (byte, at) in secret.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(key.get(at..at + 2).ok_or("the key is too short")?, 16)?;
    }
    let key = ApprovalKey::new(secret);
    let worker = match role {
        "tools" => Worker::new(Runtime::builder(tools()?)).await?.with_approval_key(&key),
        "agent" => {
            let ingress = Ingress::new(&std::env::var(INGRESS)?)?;
            let runtime = Runtime::builder(agent(&ingress, &key).await?);
            Worker::new(runtime).await?.without_toolsets()
        }
        other => return Err(format!("there is no worker `{other}`").into()),
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse()?));
    let listener = loop {
        match tokio::net::TcpListener::bind(address).await {
            Ok(listener) => break listener,
            // The connections of a killed worker may still be closing.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    worker.serve(listener).await?;
    Err("the worker was stopped".into())
}

fn tools() -> Result<Registry, BoxError> {
    let mut registry = Registry::new();
    todos_tools::register(&mut registry, MemoryStore::default())?;
    calculator_tools::register(&mut registry, Calculator)?;
    registry.register_toolset("pages", |_| Pages::default())?;
    Ok(registry)
}

/// The agent, with the tools of the other worker.
async fn agent(ingress: &Ingress, key: &ApprovalKey) -> Result<Registry, BoxError> {
    let mut registry = Registry::new();
    for specs in [todos_tools::specs::ALL, calculator_tools::specs::ALL] {
        let remote = RestateToolset::new(ingress, specs.iter().copied()).with_approval_key(key);
        registry.register(specs, Arc::new(remote))?;
    }
    let pages = Pages::default().tools(&Scope::default()).await?;
    let pages = pages.iter().map(|tool| tool.spec_ref().clone());
    registry.register_toolset("pages", RestateToolset::per_run(ingress, pages))?;
    let agent = Agent::from(&AGENT).with_toolsets(["pages"]);
    registry.register_agent(agent, Arc::new(RulePlanner))?;
    Ok(registry)
}
