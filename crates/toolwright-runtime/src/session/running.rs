//! One open session: its tools under their published names, and calls of them. Never changes what it may use.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::call::fresh_id;
use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolFailure, ToolResult};

use super::catalog::{Catalog, SEPARATOR};
use super::router::{Router, toolset_not_found};
use crate::dispatch::Path;
use crate::lifecycle::Entered;
use crate::runtime::Runtime;
use crate::sink::EventSink;
use crate::toolset::{ToolEntry, Toolset};

/// An open session. Dropped, it is stopped.
pub struct Session {
    path: Path,
    scope: Arc<Scope>,
    entered: Mutex<Option<Entered>>,
}

/// A session that could not be opened.
#[derive(Debug)]
pub struct SessionError {
    agent: String,
    cause: BoxError,
}

impl Runtime {
    /// Opens a session for an agent: binds what the agent's allowlist names now, with a fresh instance of every
    /// factory. Its calls take the path of every call: hooks, approvals (by the runtime's approver), limits, events.
    ///
    /// # Errors
    ///
    /// A factory that failed, or a toolset that did not enter; what was entered is exited.
    pub async fn open_session(
        &self,
        catalog: &Catalog,
        agent: &str,
        scope: Scope,
        events: Option<Arc<dyn EventSink>>,
    ) -> Result<Session, SessionError> {
        let failed = |cause| SessionError { agent: agent.to_owned(), cause };
        let mut scope = scope;
        scope.session_id.get_or_insert_with(|| fresh_id("session"));
        let run_id = scope.run_id.get_or_insert_with(|| fresh_id("run")).clone();
        let scope = Arc::new(scope);
        let mut router = Router::default();
        for definition in catalog.snapshot(agent) {
            let made = definition.source().resolve(definition.id(), &scope).await;
            if let Some(toolset) = made.map_err(|error| failed(error.into()))? {
                router.add(definition, toolset);
            }
        }
        let router: Arc<dyn Toolset> = Arc::new(router);
        let entering = Entered::enter(Arc::clone(&router), Arc::clone(&scope));
        let entered = Mutex::new(Some(entering.await.map_err(failed)?));
        let publisher = self.inner().publisher(&run_id, Some(agent.into()), &scope, events);
        Ok(Session { path: self.inner().path(router, publisher), scope, entered })
    }
}

impl Session {
    /// The session's id.
    pub fn id(&self) -> &str {
        self.scope.session_id.as_deref().unwrap_or_default()
    }

    /// The tools it may use, under their published names; none once it is stopped.
    ///
    /// # Errors
    ///
    /// Whatever keeps a toolset from listing its tools.
    pub async fn tools(&self) -> Result<Vec<ToolEntry>, BoxError> {
        if self.is_stopped() {
            return Ok(Vec::new());
        }
        self.path.toolset.tools(&self.scope).await
    }

    /// Makes a call of a published name. Whatever fails is a result, and the session goes on.
    pub async fn call(&self, call: ToolCall) -> ToolResult {
        let scope = Scope {
            parent_call_id: call.parent_call_id().map(str::to_owned),
            depth: self.scope.depth.max(call.scope().depth),
            ..Scope::clone(&self.scope)
        };
        let call = call.with_scope(scope);
        let tools = match self.tools().await {
            Ok(tools) => tools,
            Err(error) => {
                return self.path.refuse_now(call, ToolFailure::internal(&*error));
            }
        };
        if let Some(tool) = tools.iter().find(|tool| tool.name() == call.tool()) {
            return self.path.take_now(call, tool).await;
        }
        let failure = not_found(&tools, &call);
        self.path.refuse_now(call, failure)
    }

    /// Stops the session: exits what it made. Shared instances go on.
    pub async fn stop(&self) {
        let entered = self.entered.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(entered) = entered {
            entered.close().await;
        }
    }

    /// The session's tools as a toolset, for runs: [`RunRequest::with_toolset`](crate::RunRequest::with_toolset). A run
    /// neither enters nor exits it.
    pub fn toolset(&self) -> impl Toolset + use<> {
        Borrowed(Arc::clone(&self.path.toolset))
    }

    fn is_stopped(&self) -> bool {
        self.entered.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

/// A toolset that is there lists its tools; any other name is about none.
fn not_found(tools: &[ToolEntry], call: &ToolCall) -> ToolFailure {
    let prefix = |name: &str| name.split_once(SEPARATOR).map(|(prefix, _)| prefix.to_owned());
    let of_prefix = prefix(call.tool());
    let names = tools.iter().map(ToolEntry::name);
    let siblings: Vec<_> = names.filter(|name| prefix(name) == of_prefix).collect();
    if siblings.is_empty() || call.tool().ends_with(SEPARATOR) {
        return toolset_not_found(call.tool());
    }
    ToolFailure::not_found(call.tool(), siblings.into_iter())
}

/// A toolset whose lifecycle is somebody else's.
struct Borrowed(Arc<dyn Toolset>);

impl Toolset for Borrowed {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.0.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.call(call)
    }

    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        self.0.instructions(scope)
    }

    fn is_available(&self, tool: &str) -> bool {
        self.0.is_available(tool)
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no session could be opened for agent `{}`: {}", self.agent, self.cause)
    }
}

impl Error for SessionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.cause)
    }
}
