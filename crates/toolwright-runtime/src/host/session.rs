//! A session: the open toolsets that an agent may use, and calls of their tools.

use crate::debug::debug;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::{CancellationToken, DropGuard};
use toolwright::call::fresh_id;
use toolwright::{BoxError, FailureKind, Recovery, Scope, ToolCall, ToolFailure, ToolResult};

use crate::agent::CallRecord;
use crate::approval::{Answer, Approver, ResumeError, Verdicts};
use crate::run::{
    Dispatcher, Environment, PendingCall, SavedCall, SessionCall, SessionTools, SuspendedCall,
    duplicate_id, resume_asked, resume_suspended,
};
use crate::suspended::StateError;
use crate::tools::{
    Borrowed, Combined, EnteredToolset, SEPARATOR, ToolEntry, Toolset, ToolsetError, UntilStopped,
};
use crate::watch::EventSink;

/// An open session of an agent. Dropping it stops it.
pub struct Session {
    agent: Arc<str>,
    dispatcher: Dispatcher,
    scope: Arc<Scope>,
    /// The entered toolsets, and the guard that stops the session when it is dropped; `None` once it is stopped.
    entered: Mutex<Option<(DropGuard, EnteredToolset)>>,
    /// The ids of its calls, if there is a journal, which needs unique ids; each with the run id of the session that made the
    /// call first.
    call_ids: Mutex<BTreeMap<String, Option<String>>>,
}

/// A request for a session. The name of an agent converts into one.
#[derive(Clone)]
pub struct SessionRequest {
    agent: String,
    scope: Scope,
    events: Option<Arc<dyn EventSink>>,
    approver: Option<Arc<dyn Approver>>,
    approval_list: Vec<String>,
}

/// The end of a call of a session: done or suspended.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEnd {
    /// The call has a result.
    Done(ToolResult),
    /// The call waits for answers.
    Suspended(SuspendedCall),
}

debug!(Session, session => { scope: session.scope });
debug!(SessionRequest, request => { agent: request.agent, scope: request.scope });

impl SessionRequest {
    /// Requests a session for an agent.
    pub fn new(agent: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            scope: Scope::default(),
            events: None,
            approver: None,
            approval_list: Vec::new(),
        }
    }

    /// Sets the scope of its calls. Missing ids are generated.
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sends the events of its calls to a sink.
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.events = Some(sink);
        self
    }

    /// Sets the approver of its calls. The default is the approver of the runtime.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Requires an approval for calls of these tools, in addition to tools that require one themselves. A name may be the
    /// published name of a tool or the name in its spec. An unknown name is an error when the session is opened.
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
            Arc::new(UntilStopped::new(all, vec![stopped.clone()], || false));
        let entering = EnteredToolset::enter(Arc::clone(&toolset), Arc::clone(&scope));
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
        dispatcher.options.sessions = vec![stopped];
        Ok(Self { agent, dispatcher, scope, entered, call_ids: Mutex::default() })
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &str {
        self.scope.session_id.as_deref().unwrap_or_default()
    }

    /// Lists its tools under their published names; none once it is stopped.
    ///
    /// # Errors
    ///
    /// A toolset cannot list its tools.
    pub async fn tools(&self) -> Result<Vec<ToolEntry>, BoxError> {
        if self.is_stopped() {
            return Ok(Vec::new());
        }
        self.dispatcher.toolset.tools(&self.scope).await
    }

    /// Makes a call of a tool by its published name. If it fails, the result holds the failure. Without an approver, a call that
    /// needs an approval is denied. With a journal, each call needs a unique id.
    pub async fn call(&self, call: ToolCall) -> ToolResult {
        match self.find(call).await {
            Ok((call, tool)) => self.dispatcher.call(call, &tool).await,
            Err(result) => result,
        }
    }

    /// Makes a call that may be suspended: if [`call`](Self::call) would deny it because there is no approver, it waits for
    /// answers instead.
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
            Ok((call, tool)) => {
                let dispatcher = self.suspending_dispatcher(Verdicts::new());
                let pending = dispatcher.start(call, &tool).await;
                self.end_of(&dispatcher, pending)
            }
            Err(result) => CallEnd::Done(result),
        }
    }

    /// Resumes a suspended call, with answers to all its questions. It keeps the approval list of the session that made it, in
    /// addition to that of this session.
    ///
    /// # Errors
    ///
    /// The call is from a session of another agent, there is a journal and another call of this session has the id, or there is an
    /// error in the answers, as in [`Runtime::resume`](super::Runtime::resume). Then nothing has run.
    pub async fn resume(
        &self,
        suspended: &SuspendedCall,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Result<CallEnd, ResumeError> {
        if *suspended.agent() != *self.agent {
            let (agent, session_of) = (suspended.agent().to_owned(), self.agent.to_string());
            return Err(ResumeError::OtherAgent { agent, session_of });
        }
        if self.is_stopped() {
            return Err(ResumeError::SessionStopped);
        }
        let call = suspended.0.call.call();
        if !self.take_id(&call.id, call.scope.run_id.as_deref(), true) {
            return Err(ResumeError::UsedCallId { id: call.id.clone() });
        }
        let waiting = std::slice::from_ref(&suspended.0.call);
        let answers = answers.into_iter().collect();
        let verdicts = self.dispatcher.environment.accept_answers(waiting, answers).await?;
        let mut dispatcher = self.suspending_dispatcher(verdicts);
        dispatcher.options.require_approval_of(&suspended.0.approval_list);
        // If the tools cannot be listed, the call fails because its tool is not found.
        let tools = self.tools().await.unwrap_or_default();
        let pending = match suspended.0.call.clone() {
            SavedCall::Asked { call, request } => {
                resume_asked(call.into(), request, &dispatcher, &tools).await
            }
            SavedCall::Suspended { call, run } => resume_suspended(call, run, &tools),
            SavedCall::Done(record) => {
                let record: CallRecord = record.into();
                PendingCall::done(record.call, record.result.outcome)
            }
            SavedCall::Postponed(call) => {
                let call = ToolCall::from(call);
                if let Some(tool) = ToolEntry::find(&tools, call.tool()) {
                    dispatcher.admit(call, tool.clone()).await
                } else {
                    let failure = not_found(&tools, &call);
                    dispatcher.refuse(call, None, failure).await
                }
            }
        };
        let pending = dispatcher.advance(pending).await;
        Ok(self.end_of(&dispatcher, pending))
    }

    /// Exports a suspended call as text, which can be stored anywhere: see [`suspended`](crate::suspended).
    ///
    /// # Errors
    ///
    /// The store of the runtime or the source of random numbers fails.
    pub async fn export(&self, call: &SuspendedCall) -> Result<String, StateError> {
        self.dispatcher.environment.export(&call.0).await
    }

    /// Restores a call that was exported by this session, or by another whose runtime has the same key or store.
    ///
    /// # Errors
    ///
    /// The text is not an exported call, has another version or was changed, or this runtime has another key or store.
    pub async fn restore(&self, exported: &str) -> Result<SuspendedCall, StateError> {
        self.dispatcher.environment.restore(exported).await.map(SuspendedCall)
    }

    /// Returns a dispatcher that may suspend calls.
    fn suspending_dispatcher(&self, verdicts: Verdicts) -> Dispatcher {
        let mut dispatcher = self.dispatcher.clone();
        dispatcher.options.can_suspend = true;
        dispatcher.verdicts = Arc::new(verdicts);
        dispatcher
    }

    /// Returns the call with the scope of the session, and its tool.
    ///
    /// # Errors
    ///
    /// The result of a call that cannot be made: its id is used, or there is no such tool.
    async fn find(&self, call: ToolCall) -> Result<(ToolCall, ToolEntry), ToolResult> {
        let scope = Scope {
            parent_call_id: call.parent_call_id().map(str::to_owned),
            depth: self.scope.depth.max(call.scope().depth),
            ..Scope::clone(&self.scope)
        };
        let call = call.with_scope(scope);
        if !self.take_id(call.id(), call.run_id(), false) {
            let failure = duplicate_id(&call);
            return Err(self.dispatcher.settle(call, None, Err(failure)).into_record().result);
        }
        let tools = match self.tools().await {
            Ok(tools) => tools,
            Err(error) => {
                return Err(self.refuse(call, ToolFailure::internal(&*error)).await);
            }
        };
        if let Some(tool) = ToolEntry::find(&tools, call.tool()) {
            return Ok((call, tool.clone()));
        }
        let failure = not_found(&tools, &call);
        Err(self.refuse(call, failure).await)
    }

    /// Stops the session: exits the instances that it created, and cancels the runs in it
    /// ([`RunRequest::in_session`](crate::RunRequest::in_session)) and the child runs for its calls. Later calls fail, and later
    /// runs in it are cancelled before their first step. Shared instances are not affected.
    pub async fn stop(&self) {
        let entered = self.entered.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((guard, entered)) = entered {
            drop(guard);
            entered.close().await;
        }
    }

    /// Returns the session's tools for its runs, which do not enter or exit them.
    pub(super) fn shared_tools(&self) -> SessionTools {
        let toolset = Arc::new(Borrowed(Arc::clone(&self.dispatcher.toolset)));
        let options = self.dispatcher.options.clone();
        let id = self.scope.session_id.clone();
        SessionTools { agent: Arc::clone(&self.agent), id, toolset, options }
    }

    /// Takes the id of a call that the session with this run id made first, and returns whether the call may have it: no other call
    /// has, or there is no journal.
    fn take_id(&self, id: &str, run_id: Option<&str>, is_resumed: bool) -> bool {
        if self.dispatcher.environment.journal.is_none() {
            return true;
        }
        let mut call_ids = self.call_ids.lock().unwrap_or_else(PoisonError::into_inner);
        match call_ids.entry(id.to_owned()) {
            Entry::Occupied(taken) => is_resumed && taken.get().as_deref() == run_id,
            Entry::Vacant(free) => {
                free.insert(run_id.map(str::to_owned));
                true
            }
        }
    }

    fn end_of(&self, dispatcher: &Dispatcher, pending: PendingCall) -> CallEnd {
        if pending.is_done() {
            return CallEnd::Done(pending.into_record().result);
        }
        CallEnd::Suspended(SuspendedCall(SessionCall {
            agent: self.agent.to_string(),
            approval_list: dispatcher.options.approval_list.to_vec(),
            call: pending.into_saved(),
        }))
    }

    async fn refuse(&self, call: ToolCall, failure: ToolFailure) -> ToolResult {
        let refused = self.dispatcher.refuse(call, None, failure).await;
        self.dispatcher.advance(refused).await.into_record().result
    }

    fn is_stopped(&self) -> bool {
        self.entered.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

/// The failure of a call with an unknown name. It lists the tools with the same prefix, or says that there is no such toolset.
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

fn toolset_not_found(name: &str) -> ToolFailure {
    let message = format!("toolset not found: `{name}`");
    ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan)
}
