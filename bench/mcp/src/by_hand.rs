//! The same tools written by hand with rmcp, without its macros, whose router would be slower. They accept the same arguments
//! as the generated ones, but check no limits.

use std::error::Error;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

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

/// The tools of `schema/load.yaml`.
#[derive(Clone)]
struct Load;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    milliseconds: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fill {
    bytes: usize,
}

#[derive(Serialize)]
struct Sum {
    sum: f64,
}

impl ServerHandler for Load {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("load", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let number = serde_json::json!({ "type": "number" });
        let integer = serde_json::json!({ "type": "integer" });
        let tools = [
            ("add", "Add two numbers.", serde_json::json!({ "a": number, "b": number })),
            ("panic", "Panic.", serde_json::json!({})),
            ("block", "Block a thread.", serde_json::json!({ "milliseconds": integer })),
            ("fill", "Return a long text.", serde_json::json!({ "bytes": integer })),
        ];
        let tools = tools.map(|(name, description, properties)| {
            let schema = serde_json::json!({ "type": "object", "properties": properties });
            let schema: JsonObject = serde_json::from_value(schema).map_err(internal)?;
            Ok(Tool::new_with_raw(name, Some(description.into()), Arc::new(schema)))
        });
        Ok(ListToolsResult::with_all_items(tools.into_iter().collect::<Result<_, _>>()?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let result = match &*request.name {
            "add" => {
                let Add { a, b } = serde_json::from_value(arguments).map_err(internal)?;
                serde_json::to_value(Sum { sum: a + b }).map_err(internal)?
            }
            "panic" => panic!("as intended"),
            "block" => {
                let Block { milliseconds } = serde_json::from_value(arguments).map_err(internal)?;
                thread::sleep(Duration::from_millis(milliseconds.into()));
                serde_json::json!({})
            }
            "fill" => {
                let Fill { bytes } = serde_json::from_value(arguments).map_err(internal)?;
                serde_json::json!({ "text": "x".repeat(bytes) })
            }
            _ => return Err(ErrorData::invalid_params("there is no such tool", None)),
        };
        Ok(CallToolResult::structured(result).into())
    }
}

fn internal(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Serves stdio, or the given listener.
pub(crate) async fn serve(listener: Option<TcpListener>) -> Result<(), Box<dyn Error>> {
    let Some(listener) = listener else {
        Load.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    };
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Load), sessions, config);
    // Without this a call takes 44 ms, which no user would accept.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
