//! Tests the server with rmcp's own client in both eras of the protocol.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ErrorCode, ProtocolVersion,
};
use rmcp::service::{RunningService, ServiceError};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use toolwright::ToolSpec;
use toolwright_mcp::{Limits, McpServer, ServerSpec};

use crate::lab::{ANY_OBJECT, SERVER, lab};

type Client = RunningService<RoleClient, ClientConfig>;

async fn client(lifecycle: ClientLifecycleMode) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(ours);
    tokio::spawn(lab().serve_streams(input, output));
    ClientConfig::default().serve_with_lifecycle(theirs, lifecycle).await.unwrap()
}

async fn initialized() -> Client {
    client(ClientLifecycleMode::Initialize).await
}

fn call(tool: &'static str, args: &serde_json::Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(args.as_object().unwrap().clone())
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

/// G25: the list has the names, descriptions, schemas and order of the specs.
#[tokio::test]
async fn g25_the_list_is_the_specs_own() {
    let tools = initialized().await.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    let expected = [
        "echo", "count", "tree", "picture", "regional", "anything", "steps", "panic", "wait",
        "fail",
    ];
    assert_eq!(names, expected, "neither aliases, nor deprecated or hidden tools");
    let echo = serde_json::to_string(&tools[0]).unwrap();
    let expected = format!(
        r#"{{"name":"echo","title":"Echo","description":"Returns its arguments.","inputSchema":{ANY_OBJECT},"outputSchema":{ANY_OBJECT},"annotations":{{"readOnlyHint":true}},"_meta":{{"io.github.toolwright/tool":{{"service":"lab","toolset":"lab"}},"io.github.toolwright/digest":"sha256:56dac94c7e325fbfc2859d9ac08788116aca3afa7c67d1c986f1001f2c3e98f9"}}}}"#
    );
    assert_eq!(echo, expected);
    assert_eq!(tools[5].output_schema, None, "a schema that accepts anything is left out");
    assert_eq!(tools[1].annotations, None);
}

/// G25: a result is given as structured content and as the same text.
#[tokio::test]
async fn g25_an_object_result_is_text_and_structure() {
    let args = serde_json::json!({"z": [1, null], "a": 0.5});
    let result = initialized().await.call_tool(call("echo", &args)).await.unwrap();
    assert_eq!(result.is_error, Some(false));
    assert_eq!(text(&result), r#"{"z":[1,null],"a":0.5}"#);
    assert_eq!(result.structured_content, Some(args));
}

#[tokio::test]
async fn absent_arguments_are_an_empty_object_and_a_plain_result_is_wrapped() {
    let result = initialized().await.call_tool(CallToolRequestParams::new("count")).await.unwrap();
    assert_eq!(text(&result), "0");
    assert_eq!(result.structured_content, Some(serde_json::json!({"result": 0})));
}

#[tokio::test]
async fn aliases_and_deprecated_tools_can_be_called() {
    let client = initialized().await;
    let args = serde_json::json!({"a": 1});
    let repeated = client.call_tool(call("repeat", &args)).await.unwrap();
    assert_eq!(text(&repeated), r#"{"a":1}"#);
    let old = client.call_tool(call("old", &args)).await.unwrap();
    assert_eq!(text(&old), "24", "a client is a session");
}

#[tokio::test]
async fn a_failure_is_an_error_result_without_its_detail() {
    let result = initialized().await.call_tool(CallToolRequestParams::new("fail")).await.unwrap();
    assert_eq!(result.is_error, Some(true));
    assert_eq!(text(&result), "not today");
}

#[tokio::test]
async fn an_unknown_or_hidden_tool_is_an_invalid_request() {
    let client = initialized().await;
    for name in ["missing", "inner"] {
        let error = client.call_tool(CallToolRequestParams::new(name)).await.unwrap_err();
        let ServiceError::McpError(error) = error else { panic!("another error: {error}") };
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
        let expected = format!("there is no tool `{name}`, there is `echo`, `count`, ");
        assert!(error.message.starts_with(&expected), "{}", error.message);
    }
    let hidden = format!("\u{202e}{}", "x".repeat(10_000));
    let error = client.call_tool(CallToolRequestParams::new(hidden)).await.unwrap_err();
    let ServiceError::McpError(error) = error else { panic!("another error: {error}") };
    assert!(error.message.starts_with("there is no tool `\u{fffd}xxx"), "{}", error.message);
    assert!(error.message.len() < 1_000, "{}", error.message);
}

#[tokio::test]
async fn a_client_of_2026_07_28_lists_and_calls_tools() {
    let client = client(ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    })
    .await;
    assert_eq!(client.list_all_tools().await.unwrap().len(), 10);
    let result = client.call_tool(call("echo", &serde_json::json!({"a": 1}))).await.unwrap();
    assert_eq!(text(&result), r#"{"a":1}"#);
}

#[tokio::test]
async fn the_server_info_is_that_of_the_spec() {
    let client = initialized().await;
    let info = client.peer_info().unwrap();
    let server = info.server_info.as_ref().unwrap();
    assert_eq!((server.name.as_str(), server.version.as_str()), ("lab", "2.1.0"));
}

/// G24: exposed tools that are not registered are named.
#[test]
fn g24_a_server_without_executors_is_not_complete() {
    let error = McpServer::new(&SERVER).complete().err().unwrap();
    assert_eq!(
        error.to_string().lines().next(),
        Some(
            "MCP server `lab` needs tool `echo`, but nothing runs it; register toolset `lab` first"
        )
    );
    assert_eq!(error.each().len(), 11, "every unregistered tool");
}

#[tokio::test]
async fn a_client_that_disconnects_at_once_is_no_error() {
    lab().serve_streams(tokio::io::empty(), tokio::io::sink()).await.unwrap();
}

async fn searching(server: McpServer) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(ours);
    let mut server = server.with_search();
    server.tool_list().hide("tree").unwrap();
    tokio::spawn(server.serve_streams(input, output));
    let initialize = ClientLifecycleMode::Initialize;
    ClientConfig::default().serve_with_lifecycle(theirs, initialize).await.unwrap()
}

async fn found(client: &Client, args: serde_json::Value) -> serde_json::Value {
    let result = client.call_tool(call("search_tools", &args)).await.unwrap();
    assert_eq!(result.is_error, Some(false), "{}", text(&result));
    result.structured_content.unwrap()
}

#[tokio::test]
async fn two_tools_that_search_and_call_are_listed_in_place_of_all() {
    let client = searching(lab()).await;
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["search_tools", "call_tool"]);
    let args = serde_json::json!({"query": "count the arguments", "limit": 1.0});
    let any: serde_json::Value = serde_json::from_str(ANY_OBJECT).unwrap();
    let count = serde_json::json!({
        "name": "count", "description": "Counts the arguments.", "args_schema": any,
    });
    assert_eq!(found(&client, args).await, serde_json::json!({"tools": [count]}));
    let hidden = found(&client, serde_json::json!({"query": "tree old inner"})).await;
    assert_eq!(hidden, serde_json::json!({"tools": []}), "hidden and deprecated tools");
}

#[tokio::test]
async fn a_search_has_the_limit_of_results() {
    let limits = Limits { result_bytes: 100, ..Limits::default() };
    let client = searching(lab().with_limits(limits)).await;
    let args = serde_json::json!({"query": "count echo picture"});
    let result = client.call_tool(call("search_tools", &args)).await.unwrap();
    assert_eq!(result.is_error, Some(true), "{}", text(&result));
    assert!(text(&result).contains("at most 100"), "{}", text(&result));
}

#[tokio::test]
async fn a_tool_that_was_found_is_called_with_the_arguments_as_they_were_sent() {
    let client = searching(lab()).await;
    let args = serde_json::json!({"name": "echo", "arguments": {"z": [1, null], "a": 0.5}});
    let result = client.call_tool(call("call_tool", &args)).await.unwrap();
    assert_eq!(text(&result), r#"{"z":[1,null],"a":0.5}"#);
    assert_eq!(result.structured_content, Some(args["arguments"].clone()));
    let result = client.call_tool(call("call_tool", &serde_json::json!({"name": "count"})));
    assert_eq!(text(&result.await.unwrap()), "0");
    let direct = client.call_tool(call("count", &serde_json::json!({"a": 1}))).await.unwrap();
    assert_eq!(text(&direct), "1", "a tool that is not listed can be called by its own name");
    for (args, expected) in [
        (serde_json::json!({"name": "tree"}), "there is no tool `tree`"),
        (serde_json::json!({"name": "ecko"}), "there is no tool `ecko`, did you mean `echo`?"),
        (serde_json::json!({"name": "call_tool"}), "there is no tool `call_tool`"),
        (serde_json::json!({}), "the arguments of `call_tool` are not valid"),
        (serde_json::json!({"name": "echo", "arguments": []}), "found the array"),
        (serde_json::json!({"name": "echo", "args": {}}), "`/args`"),
    ] {
        let result = client.call_tool(call("call_tool", &args)).await.unwrap();
        assert_eq!(result.is_error, Some(true), "{args}");
        assert!(text(&result).contains(expected), "{args}: {}", text(&result));
    }
    let wrong = serde_json::json!({"query": "count", "limit": 11});
    let result = client.call_tool(call("search_tools", &wrong)).await.unwrap();
    assert!(text(&result).contains("`/limit`"), "{}", text(&result));
}

#[tokio::test]
async fn a_tool_with_the_name_of_one_that_searches_is_refused() {
    let tool: &'static ToolSpec = Box::leak(Box::new(ToolSpec::new("call_tool")));
    let toolset: &'static [&'static ToolSpec] = Box::leak(Box::new([tool]));
    let toolsets: &'static [&'static [&'static ToolSpec]] = Box::leak(Box::new([toolset]));
    let server = ServerSpec { name: "clash", version: "1", toolsets };
    let server = McpServer::new(Box::leak(Box::new(server))).with_search();
    let error = server.serve_streams(tokio::io::empty(), tokio::io::sink()).await.unwrap_err();
    assert!(error.to_string().starts_with("tool `call_tool` has the name"), "{error}");
}
