//! The nearest peer: the same tool written by hand on rmcp, without its macros, whose router would cost more. Never lets
//! through less or more than our side in form; it checks no limits.

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

/// Does sums.
#[derive(Clone)]
struct Calculator;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    a: f64,
    b: f64,
}

#[derive(Serialize)]
struct Sum {
    sum: f64,
}

impl ServerHandler for Calculator {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("calc", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let number = serde_json::json!({ "type": "number" });
        let schema = serde_json::json!({
            "type": "object", "required": ["a", "b"], "properties": { "a": number, "b": number },
        });
        let schema: JsonObject = serde_json::from_value(schema).map_err(internal)?;
        let tool = Tool::new_with_raw("add", Some("Add two numbers.".into()), Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "add" {
            return Err(ErrorData::invalid_params("there is no such tool", None));
        }
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let Arguments { a, b } = serde_json::from_value(arguments).map_err(internal)?;
        let sum = serde_json::to_value(Sum { sum: a + b }).map_err(internal)?;
        Ok(CallToolResult::structured(sum).into())
    }
}

fn internal(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Serves stdio, or the listener that is given.
pub(crate) async fn serve(listener: Option<TcpListener>) -> Result<(), Box<dyn Error>> {
    let Some(listener) = listener else {
        Calculator.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    };
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Calculator), sessions, config);
    // Otherwise a call costs 44 ms, which nobody would leave so.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
