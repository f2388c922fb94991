//! The client that the suite starts. It registers the tools of the server at a URL as any host does, and calls the tools of
//! the scenario.

use std::env;
use std::error::Error;

use serde_json::{Map, Value, json};
use toolwright::{Payload, ToolCall};
use toolwright_mcp::client::{Client, McpToolset, ServerUrl};
use toolwright_runtime::{Registry, Runtime, ToolEntry};

type Failed = Box<dyn Error>;

/// A tool and its arguments.
type Call = (String, Value);

/// Connects to the server of the suite, and makes the calls of the scenario, which the suite names in the environment.
///
/// # Errors
///
/// Returns an error if the server cannot be reached, or the environment does not describe a scenario.
pub async fn run(url: &str) -> Result<(), Failed> {
    let client = Client::new(ServerUrl::new(url));
    let registry = Registry::new();
    let catalog = registry.catalog();
    let tools = catalog.connect("peer", "peer", McpToolset::connect("peer", &client)).await?;
    catalog.allow("suite", "peer")?;
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let session = runtime.open_session("suite").await?;
    for (tool, args) in calls(&client, &tools).await? {
        let call = ToolCall::new(format!("peer.{tool}"), Payload::new(args.to_string()));
        println!("{tool}: {:?}", session.call(call).await.outcome);
    }
    session.stop().await;
    client.close().await;
    Ok(())
}

/// The calls of the scenario. Most scenarios only list the tools.
async fn calls(client: &Client, tools: &[ToolEntry]) -> Result<Vec<Call>, Failed> {
    Ok(match env::var("MCP_CONFORMANCE_SCENARIO")?.as_str() {
        "tools_call" => vec![("add_numbers".to_owned(), json!({ "a": 5, "b": 3 }))],
        "http-custom-headers" => in_context()?,
        "http-standard-headers" | "http-invalid-tool-headers" => every(tools)?,
        "json-schema-2020-12-preservation" => echo(client).await?,
        _ => Vec::new(),
    })
}

/// The calls that the suite lists in the context of the scenario.
fn in_context() -> Result<Vec<Call>, Failed> {
    let context: Value = serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    let calls = context["toolCalls"].as_array().ok_or("the context has no `toolCalls`")?;
    let call = |call: &Value| {
        let name = call["name"].as_str().ok_or("a call has no `name`")?;
        Ok((name.to_owned(), call["arguments"].clone()))
    };
    calls.iter().map(call).collect()
}

/// A call of every registered tool, with valid arguments.
fn every(tools: &[ToolEntry]) -> Result<Vec<Call>, Failed> {
    let call = |tool: &ToolEntry| {
        let schema: Value = serde_json::from_str(tool.spec().args_schema())?;
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let args: Map<String, Value> =
            properties.into_iter().map(|(name, schema)| (name, any(&schema))).collect();
        Ok((tool.name().to_owned(), Value::Object(args)))
    };
    tools.iter().map(call).collect()
}

/// A value of a schema's type.
fn any(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("object") => json!({}),
        Some("array") => json!([]),
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        _ => json!("anything"),
    }
}

/// A call that sends the listed schema of a tool back to the server.
async fn echo(client: &Client) -> Result<Vec<Call>, Failed> {
    let listing: Value = serde_json::from_str(&client.list_tools_raw().await?.json)?;
    let mut tools = listing["tools"].as_array().into_iter().flatten();
    let tool = tools.find(|tool| tool["name"] == "json_schema_2020_12_tool");
    let schema = tool.ok_or("the tool of the scenario is not listed")?["inputSchema"].clone();
    Ok(vec![("json_schema_echo".to_owned(), json!({ "schema": schema }))])
}
