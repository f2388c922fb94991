//! One open session: the tools an agent may use under their published names, and calls of them. Never changes what it
//! may use.

use crate::debug::debug;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::{CancellationToken, DropGuard};
use toolwright::call::fresh_id;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
};

use crate::agent::Exchange;
use crate::approval::{Answer, Approver, ResumeError, Verdicts};
use crate::run::{
    Dispatcher, Environment, Options, PendingCall, SavedCall, SessionCall, SessionTools,
    SuspendedCall, readmit, rejoin, repeated,
};
use crate::suspended::StateError;
use crate::tools::{
    Borrowed, Combined, Entered, SEPARATOR, ToolEntry, Toolset, ToolsetError, forward,
};
use crate::watch::EventSink;

/// An open session. Dropped, it is stopped.
pub struct Session {
    agent: Arc<str>,
    dispatcher: Dispatcher,
    scope: Arc<Scope>,
    /// What was entered, and what says that it still is.
    entered: Mutex<Option<(DropGuard, Entered)>>,
    /// The ids of its calls, where a journal tells calls apart by them.
    call_ids: Mutex<BTreeSet<String>>,
}

/// A session that a host asks for; the name of an agent is one.
#[derive(Clone)]
pub struct SessionRequest {
    agent: String,
    scope: Scope,
    events: Option<Arc<dyn EventSink>>,
    approver: Option<Arc<dyn Approver>>,
    approval_list: Vec<String>,
}

/// What came of a call of a session that may wait.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEnd {
    /// It has a result.
    Done(ToolResult),
    /// Not yet: it waits for answers.
    Suspended(SuspendedCall),
}

debug!(Session, session => { scope: session.scope });
debug!(SessionRequest, request => { agent: request.agent, scope: request.scope });

impl SessionRequest {
    /// A session for an agent.
    pub fn new(agent: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            scope: Scope::default(),
            events: None,
            approver: None,
            approval_list: Vec::new(),
        }
    }

    /// Sets what its calls know about where they come from. Ids that are missing are made.
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets where the events of its calls go.
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.events = Some(sink);
        self
    }

    /// Sets who approves its calls; otherwise the runtime's approver does.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Requires an approval of these tools' calls, by their published names or their own, whatever the tools say themselves. A
    /// name that is no tool keeps the session from being opened.
    #[must_use]
    pub fn with_approval_of<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.approval_list.extend(tools.into_iter().map(Into::into));
        self
    }
}

impl From<&str> for SessionRequest {
    fn from(agent: &str) -> Self {
        Self::new(agent)
    }
}

impl Session {
    /// See [`Runtime::open_session`](super::Runtime::open_session).
    pub(super) async fn open(
        environment: &Arc<Environment>,
        request: SessionRequest,
    ) -> Result<Self, ToolsetError> {
        let SessionRequest { agent, mut scope, events, approver, mut approval_list } = request;
        if let Some(registered) = environment.registry.agent(&agent) {
            approval_list.extend(registered.agent.approval_list.iter().cloned());
        }
        let failed = |cause| ToolsetError::Session { agent: agent.clone(), cause };
        scope.session_id.get_or_insert_with(|| fresh_id("session"));
        scope.run_id.get_or_insert_with(|| fresh_id("run"));
        let scope = Arc::new(scope);
        let mut all = Combined::new();
        if let Some(catalog) = &environment.catalog {
            for published in catalog.allowed(&agent) {
                let bound = catalog.bind(&published, &scope, &mut all, |_| true).await;
                bound.map_err(|error| failed(error.into()))?;
            }
        }
        let stopped = CancellationToken::new();
        let toolset: Arc<dyn Toolset> =
            Arc::new(UntilStopped { toolset: all, stopped: stopped.clone() });
        let entering = Entered::enter(Arc::clone(&toolset), Arc::clone(&scope));
        let entered = entering.await.map_err(failed)?;
        if !approval_list.is_empty() {
            let tools = match toolset.tools(&scope).await {
                Ok(tools) => tools,
                Err(error) => {
                    entered.close().await;
                    return Err(failed(error));
                }
            };
            if let Err(unknown) = environment.check_approval_list(&approval_list, &tools) {
                entered.close().await;
                let available = tools.iter().map(|tool| tool.name().to_owned()).collect();
                return Err(ToolsetError::UnknownApproval { tools: unknown, available });
            }
        }
        let entered = Mutex::new(Some((stopped.clone().drop_guard(), entered)));
        let agent: Arc<str> = agent.into();
        let name = Some(Arc::clone(&agent));
        let publisher = environment.publisher(name, Arc::clone(&scope), events);
        let mut dispatcher = Dispatcher::outside_runs(environment, toolset, publisher);
        dispatcher.options.approver = approver.or(dispatcher.options.approver);
        dispatcher.options.approval_list = approval_list.into();
        dispatcher.options.session_stopped = stopped;
        Ok(Self { agent, dispatcher, scope, entered, call_ids: Mutex::default() })
    }

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
        self.dispatcher.toolset.tools(&self.scope).await
    }

    /// Makes a call of a published name. Whatever fails is a result, and the session goes on. A call that needs an
    /// approval is denied unless there is an approver. With a journal every call needs an id of its own.
    pub async fn call(&self, call: ToolCall) -> ToolResult {
        match self.find(call).await {
            Ok((call, tool)) => self.dispatcher.call(call, &tool).await,
            Err(result) => result,
        }
    }

    /// Makes a call that may wait for answers: where [`call`](Self::call) has nobody to ask, the call is suspended.
    ///
    /// ```
    /// use toolwright::{Payload, ToolCall};
    /// use toolwright_runtime::{CallEnd, Registry, Runtime, SessionRequest};
    /// # use toolwright::ToolSpec;
    /// # use toolwright_runtime::FunctionTool;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let registry = Registry::new();
    /// # registry.register_toolset("disks", FunctionTool::new(ToolSpec::new("wipe"), async || true))?;
    /// let catalog = registry.catalog();
    /// catalog.publish("disks", "disks")?;
    /// catalog.allow("janitor", "disks")?;
    /// let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    ///
    /// let request = SessionRequest::new("janitor").with_approval_of(["disks.wipe"]);
    /// let session = runtime.open_session(request).await?;
    /// let call = ToolCall::new("disks.wipe", Payload::new("{}"));
    /// let CallEnd::Suspended(waiting) = session.start(call).await else { panic!("it waits") };
    ///
    /// let answers: Vec<_> = waiting.pending().iter().map(|question| question.approve()).collect();
    /// let end = session.resume(&waiting, answers).await?;
    /// assert!(matches!(end, CallEnd::Done(result) if result.outcome.is_ok()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start(&self, call: ToolCall) -> CallEnd {
        match self.find(call).await {
            Ok((call, tool)) => self.ended(self.waiting(Verdicts::new()).start(call, &tool).await),
            Err(result) => CallEnd::Done(result),
        }
    }

    /// Goes on with a call that waits, once everything it asks is answered.
    ///
    /// # Errors
    ///
    /// A call of another agent's session, or answers that do not fit, as in
    /// [`Runtime::resume`](super::Runtime::resume). Nothing has run then.
    pub async fn resume(
        &self,
        suspended: &SuspendedCall,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Result<CallEnd, ResumeError> {
        if *suspended.agent() != *self.agent {
            let (agent, session_of) = (suspended.agent().to_owned(), self.agent.to_string());
            return Err(ResumeError::OtherAgent { agent, session_of });
        }
        let waiting = std::slice::from_ref(&suspended.0.call);
        let answers = answers.into_iter().collect();
        let dispatcher =
            self.waiting(self.dispatcher.environment.take_answers(waiting, answers).await?);
        // A toolset that cannot list its tools has none, and the call is answered so.
        let tools = self.tools().await.unwrap_or_default();
        let pending = match suspended.0.call.clone() {
            SavedCall::Asked { call, request } => {
                readmit(call.into(), request, &dispatcher, &tools)
            }
            SavedCall::Suspended { call, run } => rejoin(call, run, &tools),
            SavedCall::Done(exchange) => {
                let exchange: Exchange = exchange.into();
                PendingCall::done(exchange.call, exchange.result.outcome)
            }
            SavedCall::Postponed(call) => return Ok(self.start(call.into()).await),
        };
        Ok(self.ended(dispatcher.advance(pending).await))
    }

    /// A call that waits as a text, which can be kept anywhere: see [`suspended`](crate::suspended).
    ///
    /// # Errors
    ///
    /// The runtime's store or its source of random numbers fails.
    pub async fn export(&self, call: &SuspendedCall) -> Result<String, StateError> {
        self.dispatcher.environment.export(&call.0).await
    }

    /// The call that was exported as a text, by this session or another whose runtime has the same key or store.
    ///
    /// # Errors
    ///
    /// A text that is no such call, is of another version, was changed, or is sealed by a key or kept in a store that this
    /// runtime does not have.
    pub async fn restore(&self, exported: &str) -> Result<SuspendedCall, StateError> {
        self.dispatcher.environment.restore(exported).await.map(SuspendedCall)
    }

    /// Takes calls as far as they get, with verdicts that are there.
    fn waiting(&self, verdicts: Verdicts) -> Dispatcher {
        let mut dispatcher = self.dispatcher.clone();
        dispatcher.options.can_suspend = true;
        dispatcher.verdicts = Arc::new(verdicts);
        dispatcher
    }

    /// The call in the session's scope, and the tool it asks for.
    ///
    /// # Errors
    ///
    /// The result of a call that cannot be made.
    async fn find(&self, call: ToolCall) -> Result<(ToolCall, ToolEntry), ToolResult> {
        let scope = Scope {
            parent_call_id: call.parent_call_id().map(str::to_owned),
            depth: self.scope.depth.max(call.scope().depth),
            ..Scope::clone(&self.scope)
        };
        let call = call.with_scope(scope);
        if self.dispatcher.environment.journal.is_some() {
            let mut call_ids = self.call_ids.lock().unwrap_or_else(PoisonError::into_inner);
            if !call_ids.insert(call.id().to_owned()) {
                drop(call_ids);
                let failure = repeated(&call);
                return Err(self.refuse(call, failure));
            }
        }
        let tools = match self.tools().await {
            Ok(tools) => tools,
            Err(error) => {
                return Err(self.refuse(call, ToolFailure::internal(&*error)));
            }
        };
        if let Some(tool) = tools.iter().find(|tool| tool.name() == call.tool()) {
            return Ok((call, tool.clone()));
        }
        let failure = not_found(&tools, &call);
        Err(self.refuse(call, failure))
    }

    /// Stops the session: exits what it made, and calls of its tools run nothing from then on, in runs that were started in it
    /// either. Runs of agents that are answering a call of it, or of a run in it, are cancelled. Shared instances go on.
    pub async fn stop(&self) {
        let entered = self.entered.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((guard, entered)) = entered {
            drop(guard);
            entered.close().await;
        }
    }

    /// The session's tools, for runs that neither enter nor exit them.
    pub(super) fn shared_tools(&self) -> SessionTools {
        let toolset = Arc::new(Borrowed(Arc::clone(&self.dispatcher.toolset)));
        let Options { approval_list, session_stopped, .. } = self.dispatcher.options.clone();
        SessionTools {
            agent: Arc::clone(&self.agent),
            toolset,
            approval_list,
            stopped: session_stopped,
        }
    }

    fn ended(&self, pending: PendingCall) -> CallEnd {
        if pending.is_done() {
            return CallEnd::Done(pending.into_exchange().result);
        }
        let (agent, call) = (self.agent.to_string(), pending.into_saved());
        CallEnd::Suspended(SuspendedCall(SessionCall { agent, call }))
    }

    fn refuse(&self, call: ToolCall, failure: ToolFailure) -> ToolResult {
        self.dispatcher.settle(call, None, Err(failure)).into_exchange().result
    }

    fn is_stopped(&self) -> bool {
        self.entered.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

/// The tools of a session, for itself and for runs in it: none once it is stopped.
struct UntilStopped {
    toolset: Combined,
    stopped: CancellationToken,
}

impl Toolset for UntilStopped {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        if self.stopped.is_cancelled() {
            return Box::pin(std::future::ready(Ok(Vec::new())));
        }
        self.toolset.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if self.stopped.is_cancelled() {
            let message = format!("`{}` cannot be used: its session was stopped", call.tool());
            let failure = ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan);
            return Box::pin(std::future::ready(ToolResult::new(call, Err(failure))));
        }
        self.toolset.call(call)
    }

    forward!(toolset: lifecycle, instructions, is_available);
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

/// Says of a name that no toolset stands behind it.
fn toolset_not_found(name: &str) -> ToolFailure {
    let message = format!("toolset not found: `{name}`");
    ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan)
}
