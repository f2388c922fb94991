//! Answers the protocol's requests of one connection, session or stateless request. Never runs a tool
//! itself: the runtime does; what all of them share is in `exposure`.

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
use toolwright::{Outcome, Scope, ToolCall};

use super::answer::answer;
use super::exposure::{Exposed, Exposure};
use super::listing::Era;
use super::message::{Arguments, no_method, not_served};
use super::progress::told;
#[cfg(feature = "http-server")]
use super::sessions::{Admission, OpenSession};

/// Adds what a host knows about a request to the scope of its calls.
pub(crate) type Derive = Arc<dyn Fn(&Extensions, &mut Scope) + Send + Sync>;

/// A server at work for one client.
pub(crate) struct Handler {
    exposure: Arc<Exposure>,
    /// One client is one session, and its calls are of one run: a tool that keeps state by run keeps
    /// it from call to call. A request that stands alone has neither.
    session: OnceLock<Scope>,
    derive: Option<Derive>,
    /// Ends what tells the client of changes, when the client is gone.
    told: OnceLock<DropGuard>,
    /// The session over HTTP that is open for as long as it has this handler.
    #[cfg(feature = "http-server")]
    open: OnceLock<Arc<OpenSession>>,
}

impl Handler {
    /// For a connection of its own, which is one session in every era.
    pub(crate) fn of_connection(exposure: Arc<Exposure>) -> Self {
        Self::new(exposure, OnceLock::from(session()), None)
    }

    /// For requests over HTTP, which are a session if they begin with `initialize`.
    #[cfg(feature = "http-server")]
    pub(crate) fn of_requests(exposure: Arc<Exposure>, derive: Option<Derive>) -> Self {
        Self::new(exposure, OnceLock::new(), derive)
    }

    fn new(exposure: Arc<Exposure>, session: OnceLock<Scope>, derive: Option<Derive>) -> Self {
        Self {
            exposure,
            session,
            derive,
            told: OnceLock::new(),
            #[cfg(feature = "http-server")]
            open: OnceLock::new(),
        }
    }

    fn call(&self, tool: &Exposed, extensions: &Extensions) -> Result<ToolCall, ErrorData> {
        let mut scope = self.session.get().cloned().unwrap_or_default();
        if let Some(derive) = &self.derive {
            // The panic's own message has gone where panics go.
            catch_unwind(AssertUnwindSafe(|| derive(extensions, &mut scope)))
                .map_err(|_| ErrorData::internal_error("the call could not be begun", None))?;
        }
        let args = Arguments::take(extensions);
        Ok(ToolCall::new(tool.spec.name(), args).with_scope(scope))
    }

    async fn answer(
        &self,
        name: &str,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.exposure.tool(name)?;
        let call = self.call(tool, &context.extensions)?;
        let _open = match self.exposure.begin_call() {
            Ok(open) => open,
            Err(busy) => return Ok(answer(tool, era_of(&context), &Err(busy)).into()),
        };
        tokio::select! {
            outcome = self.run(call, &context) => {
                self.exposure.tell_operators(tool, &outcome);
                let outcome = self.exposure.bounded(tool, outcome);
                Ok(answer(tool, era_of(&context), &outcome).into())
            }
            // Nobody waits for the answer any more; dropping the call gives it up.
            () = context.ct.cancelled() => {
                Err(ErrorData::internal_error("the call was cancelled", None))
            }
        }
    }

    async fn run(&self, call: ToolCall, context: &RequestContext<RoleServer>) -> Outcome {
        let running = self.exposure.runtime().call(call);
        let result = match context.meta.get_progress_token() {
            Some(token) => told(&context.peer, token, running).await,
            None => running.await,
        };
        result.outcome
    }
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
        self.exposure.info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.session.get_or_init(session);
        #[cfg(feature = "http-server")]
        if let Some(open) = Admission::of(&context.extensions).and_then(Admission::session) {
            let _ = self.open.set(open);
        }
        let answer = self.negotiate_initialize(&request);
        context.peer.set_peer_info(request);
        answer
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = page.and_then(|page| page.cursor);
        self.exposure.list(cursor.as_deref(), era_of(&context))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Boxed, for rmcp moves the futures of all requests about in the size of the largest.
        Box::pin(self.answer(&request.name, context)).await
    }

    /// Tells clients of the revisions with `initialize` when the list changes, for as long as they are there.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Some(list) = self.exposure.tool_list() else { return };
        let (mut changes, gone) = (list.changes(), CancellationToken::new());
        // A client that says it twice is told once.
        if self.told.set(gone.clone().drop_guard()).is_err() {
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
        self.exposure.tool_list()?;
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = Some(true);
        Some(accepted)
    }

    /// Tells a client of 2026-07-28 when the list changes, for as long as it listens.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Some(list) = self.exposure.tool_list() else { return Ok(()) };
        let mut changes = list.changes();
        loop {
            tokio::select! {
                told = changes.changed() => {
                    if told.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
                () = context.cancelled() => return Ok(()),
            }
        }
    }

    /// Only of tools whose arguments rmcp is to compare with headers.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.exposure.tool(name).ok()?;
        self.exposure.reads_headers_of(name).then(|| tool.listed.of(Era::Newer).clone())
    }

    /// What rmcp could not make one of its requests of: a method that is not the protocol's, or one of its methods with
    /// other parameters than it has.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A request that names its revision is of the era that has no handshake any more.
        if request.method == "initialize" && context.meta.protocol_version().is_some() {
            return Err(no_method(&request.method));
        }
        Err(not_served(&request.method))
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(not_served("completion/complete"))
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(not_served("prompts/list"))
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(not_served("resources/list"))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(not_served("resources/templates/list"))
    }
}
