//! The tools of an rmcp `ToolRouter`, called in this process: no transport is on the way, and no client. Their specs and
//! results are read as those of a server are.

use std::sync::{Arc, OnceLock};

use rmcp::handler::server::tool::{ToolCallContext, ToolRouter};
use rmcp::model::{CallToolRequestParams, NumberOrString, ServerResult, Tool};
use rmcp::service::{Peer, RequestContext, serve_directly};
use rmcp::{RoleServer, ServerHandler};
use serde_json::value::to_raw_value;
use toolwright::schema::Schema;
use toolwright::spec::Implementation;
use toolwright::{Outcome, RegistrationError, ToolCall, ToolFailure, ToolSpec};
use toolwright_runtime::FunctionTool;

use super::error::ClientError;
use super::{answer, failure, live, toolset};

/// The tools of an rmcp router and of the service whose methods they are, for
/// [`Registry::register_tools`](toolwright_runtime::Registry::register_tools). The router is taken as it is now: what it
/// has disabled is left out.
///
/// Names, descriptions, annotations and schemas are those that the router lists, and the listed schemas are what arguments
/// and results are held against. A result with `isError` is a failure in the tool's words; an error of the protocol is one
/// whose words are for operators. Since there is no client, a tool that asks its client for something gets an error, and
/// notifications go nowhere. Giving a call up cancels the token of its request.
///
/// ```
/// use rmcp::handler::server::wrapper::{Json, Parameters};
/// use rmcp::{tool, tool_router};
/// use toolwright::{Payload, ToolCall};
/// use toolwright_mcp::client::router_tools;
/// use toolwright_runtime::{Registry, Runtime};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Numbers {
///     a: i64,
///     b: i64,
/// }
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Sum {
///     sum: i64,
/// }
///
/// struct Calculator;
///
/// #[tool_router]
/// impl Calculator {
///     /// Add two numbers.
///     #[tool]
///     fn add(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> Json<Sum> {
///         Json(Sum { sum: a + b })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new();
/// registry.register_tools(router_tools("calculator", Calculator::tool_router(), Calculator)?)?;
///
/// let call = ToolCall::new("add", Payload::new(r#"{"a":2,"b":40}"#));
/// let result = Runtime::new(registry).call(call).await;
/// assert_eq!(result.outcome?.as_str(), r#"{"sum":42}"#);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Every tool whose schemas cannot be used.
pub fn router_tools<S: Send + Sync + 'static>(
    toolset: &str,
    router: ToolRouter<S>,
    service: impl Into<Arc<S>>,
) -> Result<Vec<FunctionTool>, RegistrationError> {
    let listed = router.list_all();
    let shared = Arc::new(Shared { router, service: service.into(), peer: OnceLock::new() });
    let (mut tools, mut wrong) = (Vec::new(), Vec::new());
    for tool in listed {
        match spec(toolset, &tool) {
            Ok((spec, output)) => {
                let (shared, output) = (Arc::clone(&shared), Arc::new(output));
                tools.push(FunctionTool::untyped(spec, move |call| {
                    let (shared, output) = (Arc::clone(&shared), Arc::clone(&output));
                    async move { shared.call(&call, &output).await }
                }));
            }
            Err(reason) => {
                wrong
                    .push(RegistrationError::UnusableTool { tool: tool.name.into_owned(), reason });
            }
        }
    }
    RegistrationError::all(wrong)?;
    Ok(tools)
}

/// The state that the calls of all tools share.
struct Shared<S> {
    router: ToolRouter<S>,
    service: Arc<S>,
    /// The other side of each request, which is nobody. It is made in the first call, because that needs tokio.
    peer: OnceLock<Peer<RoleServer>>,
}

/// A server whose client is gone.
struct Nobody;

impl ServerHandler for Nobody {}

/// The spec of a tool, and the schema of its results.
fn spec(toolset: &str, tool: &Tool) -> Result<(ToolSpec, Schema), String> {
    let written = to_raw_value(tool).map_err(|error| error.to_string())?;
    let spec = toolset::spec(toolset, &live::read(&written)?, false)?;
    let output = Schema::new(spec.result_schema()).map_err(|error| error.to_string())?;
    Ok((spec.with_implementation(Implementation::External), output))
}

impl<S: Send + Sync + 'static> Shared<S> {
    async fn call(&self, call: &ToolCall, output: &Schema) -> Outcome {
        let arguments = serde_json::from_str(call.args().as_str())
            .map_err(|error| ToolFailure::internal(&error))?;
        let peer = self.peer.get_or_init(|| {
            let (_, stream) = tokio::io::duplex(1);
            serve_directly(Nobody, tokio::io::split(stream), None).peer().clone()
        });
        let request = RequestContext::new(NumberOrString::String(call.id().into()), peer.clone());
        let _canceled_when_dropped = request.ct.clone().drop_guard();
        let params = CallToolRequestParams::new(call.tool().to_owned()).with_arguments(arguments);
        let context = ToolCallContext::new(&*self.service, params, request);
        match self.router.call(context).await {
            Ok(response) => {
                let written = to_raw_value(&ServerResult::from(response))
                    .map_err(|error| ToolFailure::internal(&error))?;
                answer::payload(&written, call, |json| output.check(json).is_ok())
            }
            Err(error) => {
                let message = error.message.into_owned();
                let refused = ClientError::Refused { code: error.code.0, message };
                Err(failure::failure(&refused, &ToolSpec::new(call.tool().to_owned()), call))
            }
        }
    }
}
