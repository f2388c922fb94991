//! Handles the MCP requests of one connection, one HTTP session, or one stateless HTTP request. The runtime runs the
//! tools; `state` holds what all handlers of a server share.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, Extensions, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolwright::call::fresh_id;
use toolwright::{Outcome, Payload, Scope, ToolCall};
use toolwright_runtime::watch::serving_span;
use tracing::Instrument;

use super::answer::answer;
use super::exposed::ExposedTool;
use super::lines::ResponseRoom;
use super::listing::Era;
use super::message::{Arguments, no_method, unparseable};
use super::progress::forward_progress;
use super::search;
#[cfg(feature = "http-server")]
use super::sessions::{OpenSession, RequestGuards};
use super::state::ServerState;
use super::tool_list::Changes;

/// The host's function that fills the scope of a call from its request.
pub(crate) type FillScope = Arc<dyn Fn(&Extensions, &mut Scope) + Send + Sync>;

/// Handles the requests of one client.
pub(crate) struct Handler {
    state: Arc<ServerState>,
    /// The scope of the client's session. All calls of a session belong to one run, so a tool that keeps state by run
    /// keeps it from call to call. A stateless request has no session and no run.
    session: OnceLock<Scope>,
    fill_scope: Option<FillScope>,
    /// Stops the notifications about changes of the list when the handler is dropped.
    list_notifications: OnceLock<DropGuard>,
    /// Changes of the list since the client first asked for them with `subscriptions/listen`.
    changes: OnceLock<Changes>,
    /// Keeps the HTTP session open until the handler is dropped.
    #[cfg(feature = "http-server")]
    open_session: OnceLock<Arc<OpenSession>>,
}

impl Handler {
    /// Creates the handler of a connection on byte streams, which is one session in both eras.
    pub(crate) fn of_connection(state: Arc<ServerState>) -> Self {
        Self::new(state, OnceLock::from(session()), None)
    }

    /// Creates the handler of HTTP requests, which get a session with `initialize`.
    #[cfg(feature = "http-server")]
    pub(crate) fn of_requests(state: Arc<ServerState>, fill_scope: Option<FillScope>) -> Self {
        Self::new(state, OnceLock::new(), fill_scope)
    }

    fn new(
        state: Arc<ServerState>,
        session: OnceLock<Scope>,
        fill_scope: Option<FillScope>,
    ) -> Self {
        Self {
            state,
            session,
            fill_scope,
            list_notifications: OnceLock::new(),
            changes: OnceLock::new(),
            #[cfg(feature = "http-server")]
            open_session: OnceLock::new(),
        }
    }

    fn call(
        &self,
        tool: &ExposedTool,
        args: Payload,
        extensions: &Extensions,
    ) -> Result<ToolCall, ErrorData> {
        let mut scope = self.session.get().cloned().unwrap_or_default();
        if let Some(fill_scope) = &self.fill_scope {
            // The panic hook has reported the panic.
            catch_unwind(AssertUnwindSafe(|| fill_scope(extensions, &mut scope)))
                .map_err(|_| ErrorData::internal_error("the call could not be started", None))?;
        }
        Ok(ToolCall::new(tool.spec.name(), args).with_scope(scope))
    }

    async fn answer(
        &self,
        name: &str,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = Arguments::take(&context.extensions);
        // The tool, and the arguments with which it runs; or its outcome, if there is one already.
        let (tool, args) = match self.state.search() {
            Some(search) if search::is_search(name) => {
                let found = search.found(|name| Some(self.state.find(name)?.spec), &args);
                (&search.search, Err(found))
            }
            Some(search) if search::is_call(name) => {
                let target = search.target(&args);
                match target.and_then(|(name, args)| Ok((self.state.known(&name)?, args))) {
                    Ok((tool, args)) => (tool, Ok(args)),
                    Err(failure) => (&search.call, Err(Err(failure))),
                }
            }
            _ => (self.state.tool(name)?, Ok(args)),
        };
        let call = match args {
            Ok(args) => {
                let call = self.call(tool, args, &context.extensions)?;
                self.state.begin_call().map(|open| (call, open)).map_err(Err)
            }
            Err(outcome) => Err(outcome),
        };
        let limited = async {
            let (outcome, open) = match call {
                Ok((call, open)) => {
                    let outcome = self.run(call, &context).await;
                    self.state.log_failure(tool, &outcome);
                    (outcome, Some(open))
                }
                Err(outcome) => (outcome, None),
            };
            let (outcome, bytes) = self.state.limit_size(tool, outcome);
            // Waits until the client has read earlier responses.
            if let Some(room) = context.extensions.get::<ResponseRoom>() {
                room.take(bytes).await;
            }
            (outcome, open)
        };
        tokio::select! {
            (outcome, _open) = limited => Ok(answer(tool, era_of(&context), &outcome).into()),
            // The client no longer waits; dropping the future of the call cancels it.
            () = cancelled(&context) => {
                Err(ErrorData::internal_error("the call was cancelled", None))
            }
        }
    }

    async fn run(&self, call: ToolCall, context: &RequestContext<RoleServer>) -> Outcome {
        let parent = context.meta.get_traceparent();
        let span = serving_span(&format!("tools/call {}", call.tool()), "mcp", parent);
        span.record("mcp.method.name", "tools/call").record("gen_ai.tool.name", call.tool());
        let running = self.state.runtime().call(call).instrument(span.clone());
        let result = match context.meta.get_progress_token() {
            Some(token) => forward_progress(&context.peer, token, running).await,
            None => running.await,
        };
        if let Err(failure) = &result.outcome {
            span.record("error.type", failure.kind.as_str());
        }
        result.outcome
    }
}

/// Waits until a request is cancelled by rmcp, or by its session over HTTP.
async fn cancelled(context: &RequestContext<RoleServer>) {
    #[cfg(feature = "http-server")]
    if let Some(request) = RequestGuards::of(&context.extensions).and_then(RequestGuards::request) {
        tokio::select! {
            () = request.cancelled().cancelled() => return,
            () = context.ct.cancelled() => return,
        }
    }
    context.ct.cancelled().await;
}

fn era_of(context: &RequestContext<RoleServer>) -> Era {
    Era::of(context.protocol_version().as_ref())
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
        self.state.info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.session.get_or_init(session);
        #[cfg(feature = "http-server")]
        if let Some(open) = RequestGuards::of(&context.extensions).and_then(RequestGuards::session)
        {
            let _ = self.open_session.set(open);
        }
        let answer = self.negotiate_initialize(&request)?;
        context.peer.set_peer_info(request.with_protocol_version(answer.protocol_version.clone()));
        Ok(answer)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = page.and_then(|page| page.cursor);
        self.state.list(cursor.as_deref(), era_of(&context))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Boxed, because rmcp moves futures of all requests around in the size of the largest.
        Box::pin(self.answer(&request.name, context)).await
    }

    /// Notifies a client of a revision with `initialize` of changes of the list until it disconnects.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Some(list) = self.state.tool_list() else { return };
        let (mut changes, gone) = (list.changes(), CancellationToken::new());
        // A client may send the notification twice.
        if self.list_notifications.set(gone.clone().drop_guard()).is_err() {
            return;
        }
        tokio::spawn(gone.run_until_cancelled_owned(async move {
            while changes.changed().await.is_ok() {
                if context.peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        }));
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let list = self.state.tool_list()?;
        // rmcp sends the acknowledgement before it calls `listen`, and no change after it may be lost.
        self.changes.get_or_init(|| list.changes());
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = Some(true);
        Some(accepted)
    }

    /// Notifies a client of 2026-07-28 of changes of the list while it listens.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Some(mut changes) = self.changes.get().cloned() else { return Ok(()) };
        loop {
            tokio::select! {
                result = changes.changed() => {
                    if result.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
                () = context.cancelled() => return Ok(()),
            }
        }
    }

    /// Returns a tool only if rmcp should compare its arguments with HTTP headers.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.state.find(name)?;
        self.state.has_header_args(name).then(|| tool.listed.of(Era::Newer).clone())
    }

    /// Answers a request that rmcp could not parse: its method is unknown or its parameters are invalid.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A request that names its revision is of the newer era, which has no `initialize`.
        if request.method == "initialize" && context.meta.protocol_version().is_some() {
            return Err(no_method(&request.method));
        }
        Err(unparseable(&request.method))
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
