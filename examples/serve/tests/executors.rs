//! G23: tests the toolsets of generated MCP servers, called over MCP through the executors of the same crates.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use planner_service::types::{Plan, PlanInput};
use planning_tools::executor::PlanningMcpExecutor;
use todos_service::service::FakeTodosService;
use todos_service::types::{GetTodosPayload, TodoStatus, TodosSnapshot};
use todos_tools::executor::TodosMcpExecutor;
use todos_tools::types::GetTodosArgs;
use tokio::net::TcpListener;
use toolwright::codec::from_json;
use toolwright::{BoxFuture, Executor, FailureKind, Payload, Scope, ToolCall, ToolResult};
use toolwright_mcp::client::{Client, ServerCommand, ServerUrl};
use toolwright_mcp::{HttpOptions, McpServer, ServerSpec};

/// Starts a server in this process. Returns a client of it.
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

/// Returns plans without steps.
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

#[tokio::test]
async fn g23_the_server_fills_in_injected_fields() {
    static SPEC: ServerSpec =
        ServerSpec { name: "todos", version: "1", toolsets: &[todos_tools::specs::ALL] };
    let service = Arc::new(FakeTodosService::default());
    service.get_todos.returning(Ok(TodosSnapshot::default()));
    let mut server = McpServer::new(&SPEC);
    todos_tools::register(&mut server, Arc::clone(&service)).unwrap();
    let there = HttpOptions::new().with_scope(|_, scope| scope.run_id = Some("run there".into()));
    let client = client_of(server.complete().unwrap(), there).await;
    let executor = TodosMcpExecutor::new(client);

    let here = Scope { run_id: Some("run here".into()), ..Scope::default() };
    let call = todos_tools::calls::get_todos(&GetTodosArgs::default()).unwrap().with_scope(here);
    let todos = executor.execute(&call).await.outcome.unwrap();
    assert_eq!(from_json(todos.as_bytes()), Ok(TodosSnapshot::default()));
    assert_eq!(service.get_todos.calls(), [GetTodosPayload::new("run there")]);

    let with_run_id = call.with_args(Payload::new(r#"{"run_id":"run here"}"#));
    let failure = executor.execute(&with_run_id).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidCall, "{failure:?}");
}

/// H3: the time limit of five seconds in `schema/todos.yaml` ends a call that blocks one of two threads. Meanwhile, another call
/// is answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h3_the_time_limit_of_a_generated_server_ends_a_call_that_blocks_its_thread() {
    static SPEC: ServerSpec =
        ServerSpec { name: "todos", version: "1", toolsets: &[todos_tools::specs::ALL] };
    let (held, until) = mpsc::channel::<()>();
    let until = Mutex::new(until);
    let service = FakeTodosService::default();
    // A call for all todos blocks its thread until the sender is dropped.
    service.get_todos.answering(move |payload| {
        if payload.status.is_none() {
            let _ = until.lock().unwrap().recv_timeout(Duration::from_secs(30));
        }
        Ok(TodosSnapshot::default())
    });
    let mut server = McpServer::new(&SPEC);
    todos_tools::register(&mut server, service).unwrap();
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
