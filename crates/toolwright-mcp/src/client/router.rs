//! Calls the tools of an rmcp `ToolRouter` in this process, without a client and a transport. Their definitions and results
//! are converted like those of a server.

use std::sync::{Arc, OnceLock};

use rmcp::handler::server::tool::{ToolCallContext, ToolRouter};
use rmcp::model::{CallToolRequestParams, NumberOrString, ServerResult, Tool};
use rmcp::service::{Peer, RequestContext, serve_directly};
use rmcp::{RoleServer, ServerHandler};
use serde_json::value::to_raw_value;
use toolwright::schema::Schema;
use toolwright::spec::{Implementation, ToolAnnotations};
use toolwright::{
    FailureKind, Outcome, Recovery, RegistrationError, ToolCall, ToolFailure, ToolSpec,
};
use toolwright_runtime::FunctionTool;

use super::error::ClientError;
use super::{answer, failure, listed_tools, toolset};
use crate::json::value;

/// Converts the tools of an rmcp router into tools for
/// [`Registry::register_tools`](toolwright_runtime::Registry::register_tools). Their methods run on `service`. Disabled
/// tools are left out.
///
/// Names, descriptions, annotations and schemas are those that the router lists. Arguments and results are validated
/// against the listed schemas. A result with `isError` becomes a failure with the tool's message; the message of a protocol
/// error is a detail for operators. There is no client, so a tool's request to its client fails, and its notifications are
/// discarded. Dropping the future of a call cancels the token of its request.
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
/// Returns an error for each tool with an unusable schema or name.
pub fn router_tools<S: Send + Sync + 'static>(
    toolset: &str,
    router: ToolRouter<S>,
    service: impl Into<Arc<S>>,
) -> Result<Vec<FunctionTool>, RegistrationError> {
    let listed = router.list_all();
    let shared = Arc::new(Shared { router, service: service.into(), peer: OnceLock::new() });
    let (mut tools, mut errors) = (Vec::new(), Vec::new());
    for tool in listed {
        match spec(toolset, &tool) {
            Ok((spec, output)) => {
                let (shared, output) = (Arc::clone(&shared), Arc::new(output));
                let annotations = spec.annotations();
                tools.push(FunctionTool::untyped(spec, move |call| {
                    let (shared, output) = (Arc::clone(&shared), Arc::clone(&output));
                    async move { shared.call(&call, annotations, &output).await }
                }));
            }
            Err(reason) => {
                let tool = tool.name.into_owned();
                errors.push(RegistrationError::UnusableTool { tool, reason });
            }
        }
    }
    RegistrationError::all(errors)?;
    Ok(tools)
}

/// The state that the calls of all tools share.
struct Shared<S> {
    router: ToolRouter<S>,
    service: Arc<S>,
    /// The peer of each request, which is disconnected. It is created by the first call, because that needs tokio.
    peer: OnceLock<Peer<RoleServer>>,
}

/// The server side of the disconnected peer.
struct DisconnectedServer;

impl ServerHandler for DisconnectedServer {}

/// Returns the spec of a tool and the schema of its results.
fn spec(toolset: &str, tool: &Tool) -> Result<(ToolSpec, Schema), String> {
    let raw = to_raw_value(tool).map_err(|error| error.to_string())?;
    let mut pattern_steps = toolset::MAX_PATTERN_STEPS;
    let tool = listed_tools::parse_tool(&raw)?;
    let spec = toolset::spec(toolset, &tool, false, &mut pattern_steps)?;
    let output = Schema::new(spec.result_schema()).map_err(|error| error.to_string())?;
    Ok((spec.with_implementation(Implementation::External), output))
}

impl<S: Send + Sync + 'static> Shared<S> {
    async fn call(
        &self,
        call: &ToolCall,
        annotations: ToolAnnotations,
        output: &Schema,
    ) -> Outcome {
        let arguments = match value(call.args().as_str()) {
            Ok(serde_json::Value::Object(arguments)) => arguments,
            Ok(_) => {
                let message = format!("the arguments of `{}` are not an object", call.tool());
                let recovery = Recovery::correct(call);
                return Err(ToolFailure::new(FailureKind::InvalidCall, message, recovery));
            }
            Err(error) => return Err(ToolFailure::internal(&error)),
        };
        let peer = self.peer.get_or_init(|| {
            let (_, stream) = tokio::io::duplex(1);
            serve_directly(DisconnectedServer, tokio::io::split(stream), None).peer().clone()
        });
        let request = RequestContext::new(NumberOrString::String(call.id().into()), peer.clone());
        let _cancelled_on_drop = request.ct.clone().drop_guard();
        let params = CallToolRequestParams::new(call.tool().to_owned()).with_arguments(arguments);
        let context = ToolCallContext::new(&*self.service, params, request);
        match self.router.call(context).await {
            Ok(response) => {
                let raw = to_raw_value(&ServerResult::from(response))
                    .map_err(|error| ToolFailure::internal(&error))?;
                answer::payload(&raw, call, annotations, |json| output.check(json).is_ok())
            }
            Err(error) => {
                let message = error.message.into_owned();
                let error = ClientError::JsonRpc { code: error.code.0, message };
                Err(failure::failure(&error, &ToolSpec::new(call.tool().to_owned()), call))
            }
        }
    }
}
