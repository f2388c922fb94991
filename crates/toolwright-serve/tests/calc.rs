//! The generated calculator server as a client meets it: a child process, asked over its standard
//! streams by rmcp's own client.

use std::process::{Command, Stdio};

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

/// Both eras of the protocol: with a handshake, and without one.
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

/// G25, G32: the method's schemas are the tool's, and the tool's are what is listed.
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

/// G25, G32: a call runs on the generated executor and answers with text and structure.
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
async fn invalid_arguments_are_an_error_result_that_says_where() {
    let client = calc(ClientLifecycleMode::Initialize).await;
    let result = add(&client, json!({"a": "two", "c": 1})).await;
    assert_eq!(result.is_error, Some(true));
    for words in ["/a", "/b", "unknown key", "for example"] {
        assert!(text(&result).contains(words), "no `{words}` in: {}", text(&result));
    }
    let result = add(&client, json!({"a": 1, "b": 1})).await;
    assert_eq!(result.structured_content, Some(json!({"sum": 2})), "the server goes on");
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
fn a_client_that_says_nothing_ends_the_server_in_peace() {
    let output = Command::new(CALC).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}
