//! G23: toolsets that a generated MCP server exposes, called through it with their own crates.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use planner_service::types::{Plan, PlanInput};
use planning_tools::executor::PlanningMcpExecutor;
use todos_service::errors::{GetTodosError, UpdateTodosError};
use todos_service::service::TodosService;
use todos_service::types::{GetTodosPayload, TodoStatus, TodosSnapshot, UpdateTodosPayload};
use todos_tools::executor::TodosMcpExecutor;
use todos_tools::types::GetTodosArgs;
use tokio::net::TcpListener;
use toolwright::codec::from_json;
use toolwright::{
    BoxFuture, Executor, FailureKind, MethodError, Payload, Scope, ToolCall, ToolResult,
};
use toolwright_mcp::client::{Client, ServerCommand, ServerUrl};
use toolwright_mcp::{HttpOptions, McpServer, ServerSpec};

/// A client of a server in this process.
async fn client_of(server: McpServer, options: HttpOptions) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(server.serve_listener(listener, options));
    Client::new(ServerUrl::new(url))
}

#[tokio::test]
async fn g23_a_method_backed_tool_is_called_through_its_server() {
    let client = Client::new(ServerCommand::new(env!("CARGO_BIN_EXE_calc")));
    let executor = calculator_tools::executor::CalculatorMcpExecutor::new(client);
    let args = calculator_service::types::AddPayload { a: 2.0, b: 40.5 };
    let call = calculator_tools::calls::add(&args).unwrap();
    let sum = executor.execute(&call).await.outcome.unwrap();
    let sum: calculator_service::types::AddResult = from_json(sum.as_bytes()).unwrap();
    assert!((sum.sum - 42.5).abs() < f64::EPSILON, "{sum:?}");

    let invalid = call.with_args(Payload::new(r#"{"a":2}"#));
    let failure = executor.execute(&invalid).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidCall, "{failure:?}");
}

/// Plans nothing.
struct Idle;

impl Executor for Idle {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        call.run(planning_tools::specs::PlanSession, async |PlanInput { goal, .. }| {
            Ok(Plan { goal, steps: Vec::new() })
        })
    }
}

#[tokio::test]
async fn g23_an_agent_backed_tool_is_called_through_its_server() {
    let client = client_of(planner_mcp::server(Arc::new(Idle)).unwrap(), HttpOptions::new()).await;
    let call = planning_tools::calls::plan_session(&PlanInput::new("Ship")).unwrap();
    let plan = PlanningMcpExecutor::new(client).execute(&call).await.outcome.unwrap();
    assert_eq!(from_json(plan.as_bytes()), Ok(Plan { goal: "Ship".into(), steps: Vec::new() }));
}

/// Keeps the runs it was asked about.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

impl TodosService for Asked {
    async fn update_todos(
        &self,
        _: UpdateTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<UpdateTodosError>> {
        Err(UpdateTodosError::StoreUnavailable)?
    }

    async fn get_todos(
        &self,
        payload: GetTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<GetTodosError>> {
        self.0.lock().unwrap().push(payload.run_id);
        Ok(TodosSnapshot::default())
    }
}

#[tokio::test]
async fn g23_the_server_fills_in_what_the_model_does_not_see() {
    static SPEC: ServerSpec =
        ServerSpec { name: "todos", version: "1", toolsets: &[todos_tools::specs::ALL] };
    let asked = Arc::new(Asked::default());
    let mut server = McpServer::new(&SPEC);
    todos_tools::register(&mut server, Arc::clone(&asked)).unwrap();
    let there = HttpOptions::new().with_scope(|_, scope| scope.run_id = Some("run there".into()));
    let client = client_of(server.complete().unwrap(), there).await;
    let executor = TodosMcpExecutor::new(client);

    let here = Scope { run_id: Some("run here".into()), ..Scope::default() };
    let call = todos_tools::calls::get_todos(&GetTodosArgs::default()).unwrap().with_scope(here);
    let todos = executor.execute(&call).await.outcome.unwrap();
    assert_eq!(from_json(todos.as_bytes()), Ok(TodosSnapshot::default()));
    assert_eq!(*asked.0.lock().unwrap(), ["run there"]);

    let told = call.with_args(Payload::new(r#"{"run_id":"run here"}"#));
    let failure = executor.execute(&told).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidCall, "{failure:?}");
}

/// Blocks the thread that asks for all todos until its sender is dropped. Knows at once that none is done.
struct Stuck(Mutex<mpsc::Receiver<()>>);

impl TodosService for Stuck {
    async fn update_todos(
        &self,
        _: UpdateTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<UpdateTodosError>> {
        Err(UpdateTodosError::StoreUnavailable)?
    }

    async fn get_todos(
        &self,
        payload: GetTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<GetTodosError>> {
        if payload.status.is_none() {
            let _ = self.0.lock().unwrap().recv_timeout(Duration::from_secs(30));
        }
        Ok(TodosSnapshot::default())
    }
}

/// H3: the five seconds of `schema/todos.yaml` are over for a call that blocks one of two threads, and another call is
/// answered meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h3_a_generated_servers_limit_strikes_while_its_tool_blocks_a_thread() {
    static SPEC: ServerSpec =
        ServerSpec { name: "todos", version: "1", toolsets: &[todos_tools::specs::ALL] };
    let (held, until) = mpsc::channel();
    let mut server = McpServer::new(&SPEC);
    todos_tools::register(&mut server, Stuck(Mutex::new(until))).unwrap();
    let there = HttpOptions::new().with_scope(|_, scope| scope.run_id = Some("r".into()));
    let executor = TodosMcpExecutor::new(client_of(server.complete().unwrap(), there).await);
    let since = Instant::now();
    let stuck = todos_tools::calls::get_todos(&GetTodosArgs::default()).unwrap();
    let asking = executor.clone();
    let stuck = tokio::spawn(async move { asking.execute(&stuck).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let done = GetTodosArgs { status: Some(TodoStatus::Done) };
    let quick = todos_tools::calls::get_todos(&done).unwrap();
    executor.execute(&quick).await.outcome.unwrap();
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
    let failure = stuck.await.unwrap().outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout, "{failure:?}");
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    drop(held);
}
