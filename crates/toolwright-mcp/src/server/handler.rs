//! Answers the protocol's requests of one connection, session or stateless request. Never runs a tool
//! itself: the runtime does; what all of them share is in `exposure`.

use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorCode, Extensions, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use toolwright::call::fresh_id;
use toolwright::{Scope, ToolCall};

use super::answer::answer;
use super::exposure::{Exposed, Exposure};
use super::message::Arguments;

/// Adds what a host knows about a request to the scope of its calls.
pub(crate) type Derive = Arc<dyn Fn(&Extensions, &mut Scope) + Send + Sync>;

/// A server at work for one client.
pub(crate) struct Handler {
    exposure: Arc<Exposure>,
    /// One client is one session, and its calls are of one run: a tool that keeps state by run keeps
    /// it from call to call. A request that stands alone has neither.
    session: OnceLock<Scope>,
    derive: Option<Derive>,
}

impl Handler {
    /// For a connection of its own, which is one session in every era.
    pub(crate) fn of_connection(exposure: Arc<Exposure>) -> Self {
        Self { exposure, session: OnceLock::from(session()), derive: None }
    }

    /// For requests over HTTP, which are a session if they begin with `initialize`.
    #[cfg(feature = "http-server")]
    pub(crate) fn of_requests(exposure: Arc<Exposure>, derive: Option<Derive>) -> Self {
        Self { exposure, session: OnceLock::new(), derive }
    }

    fn call(&self, tool: &Exposed, extensions: &Extensions) -> ToolCall {
        let mut scope = self.session.get().cloned().unwrap_or_default();
        if let Some(derive) = &self.derive {
            derive(extensions, &mut scope);
        }
        ToolCall::new(tool.spec.name(), Arguments::take(extensions)).with_scope(scope)
    }
}

fn session() -> Scope {
    Scope {
        run_id: Some(fresh_id("run")),
        session_id: Some(fresh_id("session")),
        ..Scope::default()
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.exposure.info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.session.get_or_init(session);
        let answer = self.negotiate_initialize(&request);
        context.peer.set_peer_info(request);
        answer
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.exposure.listed().cloned().collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.exposure.tool(&request.name)?;
        let call = self.call(tool, &context.extensions);
        let _working = self.exposure.work();
        tokio::select! {
            result = self.exposure.runtime().call(call) => {
                self.exposure.tell_operators(tool, &result.outcome);
                Ok(answer(&result.outcome, tool.listed.output_schema.is_some()).into())
            }
            // Nobody waits for the answer any more; dropping the call gives it up.
            () = context.ct.cancelled() => {
                Err(ErrorData::internal_error("the call was cancelled", None))
            }
        }
    }

    /// Only of tools whose arguments rmcp is to compare with headers.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.exposure.tool(name).ok()?;
        self.exposure.reads_headers_of(name).then(|| tool.listed.clone())
    }

    /// What rmcp could not make one of its requests of: a method that is not the protocol's, or one of its methods with
    /// other parameters than it has.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A request that names its revision is of the era that has no handshake any more.
        let is_gone = request.method == "initialize" && context.meta.protocol_version().is_some();
        if SERVED.contains(&request.method.as_str()) && !is_gone {
            let message = format!("`params` are not those of `{}`", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(no_method(&request.method))
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(no_method("completion/complete"))
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(no_method("prompts/list"))
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(no_method("resources/list"))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(no_method("resources/templates/list"))
    }
}

/// The requests that are answered with something else than that there is no such method.
const SERVED: [&str; 5] =
    ["initialize", "server/discover", "ping", "tools/list", "subscriptions/listen"];

fn no_method(method: &str) -> ErrorData {
    let message = format!("there is no method `{method}`; this server has tools alone");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}
