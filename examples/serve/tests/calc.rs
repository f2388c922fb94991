//! Tests the generated calculator server as a child process, with the client of rmcp over standard streams, and over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ErrorCode, ProtocolVersion,
};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::json;

const CALC: &str = env!("CARGO_BIN_EXE_calc");

type Client = RunningService<RoleClient, ClientConfig>;

async fn calc(lifecycle: ClientLifecycleMode) -> Client {
    let process = TokioChildProcess::new(tokio::process::Command::new(CALC)).unwrap();
    ClientConfig::default().serve_with_lifecycle(process, lifecycle).await.unwrap()
}

/// Both eras of the protocol: with a handshake, and without.
fn eras() -> [ClientLifecycleMode; 2] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    [ClientLifecycleMode::Initialize, ClientLifecycleMode::Discover { preferred_versions }]
}

async fn add(client: &Client, args: serde_json::Value) -> CallToolResult {
    let args = args.as_object().unwrap().clone();
    client.call_tool(CallToolRequestParams::new("add").with_arguments(args)).await.unwrap()
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

/// G25, G32: the tool has the schemas of its method, and the server lists them.
#[tokio::test]
async fn g25_g32_the_list_holds_the_generated_schemas() {
    for era in eras() {
        let tools = calc(era).await.list_all_tools().await.unwrap();
        let [add] = tools.as_slice() else { panic!("{tools:?}") };
        assert_eq!((add.name.as_ref(), add.title.as_deref()), ("add", Some("Add")));
        let listed = serde_json::to_value(add).unwrap();
        let spec = calculator_tools::specs::ALL[0];
        for (key, schema) in
            [("inputSchema", spec.args_schema()), ("outputSchema", spec.result_schema())]
        {
            let generated: serde_json::Value = serde_json::from_str(schema).unwrap();
            assert_eq!(listed[key], generated, "{key}");
        }
        assert_eq!(listed["annotations"]["readOnlyHint"], true);
    }
}

/// G4: the instructions of the server contain the description of the toolset.
#[tokio::test]
async fn g4_the_server_has_the_description_of_its_toolset() {
    for era in eras() {
        let client = calc(era).await;
        let instructions = client.peer_info().unwrap().instructions.clone();
        assert_eq!(instructions.as_deref(), Some("`calculator`: Does sums."));
    }
}

/// G25, G32: the generated executor runs a call, and the answer has text and structured content.
#[tokio::test]
async fn g25_g32_a_call_is_answered() {
    for era in eras() {
        let result = add(&calc(era).await, json!({"a": 2, "b": 40.5})).await;
        assert_eq!(result.is_error, Some(false));
        assert_eq!(text(&result), r#"{"sum":42.5}"#);
        assert_eq!(result.structured_content, Some(json!({"sum": 42.5})));
    }
}

#[tokio::test]
async fn invalid_arguments_are_an_error_result_with_their_places() {
    let client = calc(ClientLifecycleMode::Initialize).await;
    let result = add(&client, json!({"a": "two", "c": 1})).await;
    assert_eq!(result.is_error, Some(true));
    for words in ["/a", "/b", "unknown key", "for example"] {
        assert!(text(&result).contains(words), "no `{words}` in: {}", text(&result));
    }
    let result = add(&client, json!({"a": 1, "b": 1})).await;
    assert_eq!(result.structured_content, Some(json!({"sum": 2})), "the server still answers");
}

#[tokio::test]
async fn an_unknown_tool_is_an_invalid_request() {
    let client = calc(ClientLifecycleMode::Initialize).await;
    let error = client.call_tool(CallToolRequestParams::new("subtract")).await.unwrap_err();
    let ServiceError::McpError(error) = error else { panic!("another error: {error}") };
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert_eq!(error.message, "there is no tool `subtract`, there is `add`");
}

#[test]
fn a_server_ends_with_success_when_its_input_closes() {
    let output = Command::new(CALC).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

/// A server over HTTP and its address. It is killed when this value is dropped.
struct HttpServer {
    process: Child,
    address: String,
}

impl HttpServer {
    fn start(program: &str) -> Self {
        let mut process = Command::new(program)
            .args(["--http", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving calc at http://").unwrap();
        let address = address.strip_suffix("/mcp").unwrap().to_owned();
        Self { process, address }
    }

    /// Sends a request of MCP 2026-07-28. The answer can be read until the connection ends.
    fn send(&self, method: &str, name: Option<&str>, params: &str) -> TcpStream {
        let Self { address, .. } = self;
        let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"t","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        );
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream
    }

    fn add(&self, a: u32, b: u32) -> TcpStream {
        let params = format!(r#""name":"add","arguments":{{"a":{a},"b":{b}}},"#);
        self.send("tools/call", Some("add"), &params)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        self.process.wait().unwrap();
    }
}

fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_http_server_answers_at_the_address_that_it_prints() {
    let server = HttpServer::start(CALC);
    let answer = answer(server.send("tools/list", None, ""));
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""name":"add""#), "{answer}");
}

#[test]
fn quick_calls_are_answered_while_another_blocks_its_thread() {
    let server = HttpServer::start(env!("CARGO_BIN_EXE_slow-calc"));
    let blocked = server.add(5_000, 1);
    let since = Instant::now();
    for sum in 0..5 {
        let answer = answer(server.add(0, sum));
        assert!(answer.contains(&format!(r#""sum":{sum}"#)), "{answer}");
    }
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
    drop(blocked);
}

#[cfg(unix)]
#[test]
fn a_call_in_flight_is_answered_after_sigterm_and_the_server_ends_with_success() {
    let mut server = HttpServer::start(env!("CARGO_BIN_EXE_slow-calc"));
    let in_flight = server.add(3_000, 1);
    // When a later call has been answered, this one has begun as well, apart from the order of threads.
    answer(server.add(0, 0));
    std::thread::sleep(Duration::from_millis(500));
    let server_id = rustix::process::Pid::from_child(&server.process);
    rustix::process::kill_process(server_id, rustix::process::Signal::TERM).unwrap();
    let answer = answer(in_flight);
    assert!(answer.contains(r#""sum":3001"#), "{answer}");
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
    assert!(TcpStream::connect(&server.address).is_err());
}

#[test]
fn unknown_arguments_are_refused() {
    let output = Command::new(CALC).arg("--https").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected `--http ADDRESS`"));
}
