//! Answers the protocol's requests for one client. Never runs a tool itself: the runtime does.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use toolwright::call::fresh_id;
use toolwright::{Outcome, Payload, Scope, ToolCall, ToolFailure, ToolSpec};
use toolwright_runtime::Runtime;

use super::answer::answer;
use super::listing;
use super::serve::ServeError;
use super::{McpServer, ServerSpec};

/// A server at work for one client.
pub(crate) struct Handler {
    spec: &'static ServerSpec,
    tools: Vec<Exposed>,
    runtime: Runtime,
    /// One client is one session, and its calls are of one run: a tool that keeps state by run keeps
    /// it from call to call.
    scope: Scope,
}

/// An exposed tool, ready to be listed.
struct Exposed {
    spec: &'static ToolSpec,
    listed: Tool,
}

impl Handler {
    pub(crate) fn new(server: McpServer) -> Result<Self, ServeError> {
        let tools = server
            .exposed()
            .map(|spec| Ok(Exposed { spec, listed: listing::tool(spec)? }))
            .collect::<Result<_, ServeError>>()?;
        let scope = Scope {
            run_id: Some(fresh_id("run")),
            session_id: Some(fresh_id("session")),
            ..Scope::default()
        };
        let mut runtime = Runtime::builder(server.registry);
        if let Some(approver) = server.approver {
            runtime = runtime.with_approver(approver);
        }
        Ok(Self { spec: server.spec, tools, runtime: runtime.build(), scope })
    }

    /// An exposed tool by its name or an earlier one.
    fn tool(&self, name: &str) -> Result<&Exposed, ErrorData> {
        self.tools.iter().find(|tool| tool.spec.answers_to(name)).ok_or_else(|| {
            let known: Vec<_> = self.listed().map(|tool| tool.name.as_ref()).collect();
            let message = format!("there is no tool `{name}`, there is `{}`", known.join("`, `"));
            ErrorData::invalid_params(message, None)
        })
    }

    fn listed(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(|tool| tool.spec.is_advertised()).map(|tool| &tool.listed)
    }

    /// What a model is not told goes to standard error, where MCP leaves room for it (2025-06-18,
    /// transports, stdio).
    fn tell_operators(&self, tool: &Exposed, outcome: &Outcome) {
        if let Outcome::Failure(ToolFailure { kind, detail: Some(detail), .. }) = outcome {
            eprintln!("{}: {} failed, {kind}: {detail}", self.spec.name, tool.spec.name());
        }
    }

    fn call(&self, tool: &Exposed, arguments: Option<JsonObject>) -> ToolCall {
        let args = serde_json::Value::Object(arguments.unwrap_or_default()).to_string();
        ToolCall::new(tool.spec.name(), Payload::new(args)).with_scope(self.scope.clone())
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(self.spec.name, self.spec.version))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.listed().cloned().collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tool(&request.name)?;
        let call = self.call(tool, request.arguments);
        tokio::select! {
            result = self.runtime.call(call) => {
                self.tell_operators(tool, &result.outcome);
                Ok(answer(&result.outcome, tool.listed.output_schema.is_some()).into())
            }
            // Nobody waits for the answer any more; dropping the call gives it up.
            () = context.ct.cancelled() => {
                Err(ErrorData::internal_error("the call was cancelled", None))
            }
        }
    }
}
