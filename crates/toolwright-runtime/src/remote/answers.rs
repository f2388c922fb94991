//! Answers the requests of clients for a toolset, whatever transports them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use toolwright::call::fresh_id;
use toolwright::{BoxError, FailureKind, Outcome, Payload, Recovery, Scope, ToolCall, ToolFailure};
use tracing::Instrument;

use super::ApprovalKey;
use super::options::{Peer, RemoteOptions};
use super::protocol::{MAX_RESULT_BYTES, Reply, Request, VERSION, WireTool};
use super::signed::SignedCall;
use crate::caught::{Caught, panicked};
use crate::execute::{CallThreads, DriverGuard, timed_out};
use crate::tools::{EnteredToolset, Source, ToolEntry, Toolset, cleared, unavailable};
use crate::watch::serving_span;
use crate::wire::{WireCall, WireScope};

/// A toolset that was entered for a peer, and the rules for its calls.
pub(super) struct Answers {
    pub(super) options: RemoteOptions,
    peer: Peer,
    pub(super) toolset: Arc<dyn Toolset>,
    /// The scope that the toolset was entered with.
    pub(super) scope: Arc<Scope>,
    /// The tools of the last listing.
    listed: Mutex<Arc<Vec<ListedTool>>>,
    /// A permit for each thread that blocking work of the calls may occupy, also after a call was cancelled.
    threads: Arc<Semaphore>,
}

/// A tool of a listing.
pub(super) struct ListedTool {
    pub(super) entry: ToolEntry,
    /// The digest for approval codes.
    pub(super) digest: [u8; 32],
}

impl AsRef<ToolEntry> for ListedTool {
    fn as_ref(&self) -> &ToolEntry {
        &self.entry
    }
}

/// A connection that a client opened, to which its approval codes are bound.
pub(super) struct Opening {
    pub(super) nonce: String,
    /// The scope that the client sent.
    sent_scope: WireScope,
    /// The scope of its calls, unless the options have a rule.
    scope: Arc<Scope>,
    /// The ids of requests with a valid approval code, each of which is valid once.
    approved: BTreeSet<u64>,
}

/// A call of a client.
pub(super) struct Admitted {
    call: ToolCall,
    /// The digest of the listed tool for which its approval code is valid.
    approved: Option<[u8; 32]>,
}

impl Opening {
    /// The nonce must be unique among the connections to all servers with the same key. It need not be secret.
    pub(super) fn new(nonce: String, sent_scope: WireScope, scope: Arc<Scope>) -> Self {
        Self { nonce, sent_scope, scope, approved: BTreeSet::new() }
    }
}

/// The scope of a new run.
pub(super) fn scope_of_a_run() -> Scope {
    Scope { run_id: Some(fresh_id("run")), ..Scope::default() }
}

/// Checks the version that a client uses.
pub(super) fn check_version(version: u32) -> Result<(), String> {
    if version == VERSION {
        return Ok(());
    }
    Err(format!("the client uses version {version}, expected {VERSION}"))
}

impl Answers {
    /// Enters the toolset of a source for a peer.
    pub(super) async fn enter(
        options: RemoteOptions,
        peer: Peer,
        source: &Source,
        sent_scope: &WireScope,
    ) -> Result<(Self, EnteredToolset), String> {
        let entering = async {
            let scope = Arc::new(match &options.scope_rule {
                Some(rule) => rule(&peer, sent_scope.clone().into()),
                None => scope_of_a_run(),
            });
            let made = source.resolve("remote", &scope).await.map_err(|error| error.to_string())?;
            let toolset = made.ok_or("there is no toolset for this run")?;
            let entering = EnteredToolset::enter(Arc::clone(&toolset), Arc::clone(&scope));
            let entered = entering.await.map_err(|error| error.to_string())?;
            Ok((toolset, scope, entered))
        };
        let (toolset, scope, entered) = unless_it_panics(entering).await?;
        let threads = options.max_calls.min(Semaphore::MAX_PERMITS);
        let (listed, threads) = (Mutex::default(), Arc::new(Semaphore::new(threads)));
        Ok((Self { options, peer, toolset, scope, listed, threads }, entered))
    }

    /// Lists the tools. Approval codes are for the last listing.
    pub(super) async fn list(&self) -> Result<Vec<WireTool>, String> {
        let tools = self.toolset.tools(&self.scope).await.map_err(|error| error.to_string())?;
        let is_available = |tool: &ToolEntry| self.toolset.is_available(tool.name());
        let wire: Vec<_> =
            tools.iter().map(|tool| WireTool::new(tool, is_available(tool))).collect();
        let digests = wire.iter().map(WireTool::digest);
        let listed = tools.into_iter().zip(digests);
        let listed = Arc::new(listed.map(|(entry, digest)| ListedTool { entry, digest }).collect());
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = listed;
        Ok(wire)
    }

    /// Returns the tools of the last listing.
    pub(super) fn listed(&self) -> Arc<Vec<ListedTool>> {
        Arc::clone(&self.listed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers a request other than a call; `None` for requests that are about the connection. If the toolset panics, the answer is
    /// an error, or no instructions.
    pub(super) async fn answer(&self, request: Request) -> Option<Reply> {
        let (toolset, scope) = (&self.toolset, &self.scope);
        Some(match request {
            Request::List { id } => Reply::Tools { id, tools: unless_it_panics(self.list()).await },
            Request::Instructions { id } => {
                let text = unless_it_panics(async { Ok(toolset.instructions(scope).await) }).await;
                Reply::Instructions { id, text: text.unwrap_or_default() }
            }
            Request::Save { id } => {
                let saving = async {
                    let saved = toolset.save(scope).await.map_err(|error| error.to_string())?;
                    Ok(saved.map(|saved| saved.to_string()))
                };
                Reply::Saved { id, saved: unless_it_panics(saving).await }
            }
            Request::Restore { id, saved } => {
                let saved = Payload::new(saved);
                let restoring = async {
                    toolset.restore(scope, &saved).await.map_err(|error| error.to_string())
                };
                Reply::Restored { id, restored: unless_it_panics(restoring).await }
            }
            Request::Open { .. } | Request::Call { .. } | Request::Cancel { .. } => return None,
        })
    }

    /// Sets the scope of a call that a client sent, and checks its approval code.
    pub(super) fn admit(
        &self,
        opening: &mut Opening,
        request: u64,
        call: WireCall,
        approval: Option<[u8; 32]>,
    ) -> Admitted {
        let listed = self.listed();
        let key = self.options.approval_key.as_ref();
        let tool = ToolEntry::find(&listed, &call.tool);
        let is_valid = |code: &[u8; 32], key: &ApprovalKey, tool| {
            let (nonce, connection_scope, call) = (&opening.nonce, &opening.sent_scope, &call);
            key.verify(SignedCall { nonce, connection_scope, request, call, tool }.parts(), code)
        };
        let code = approval.zip(key).zip(tool);
        let valid = code.filter(|((code, key), tool)| is_valid(code, key, &tool.digest));
        let approved = valid.map(|(_, tool)| tool.digest);
        let approved = approved.filter(|_| opening.approved.insert(request));
        let call = ToolCall::from(call);
        let scope = match &self.options.scope_rule {
            Some(rule) => rule(&self.peer, call.scope().clone()),
            None => Scope::clone(&opening.scope),
        };
        Admitted { call: call.with_scope(scope), approved }
    }

    /// Runs a call of a tool, in a span that is a child of the caller's and has the name of the tool. The tools are listed again, since
    /// the client decides when it asks for them: the tool may be gone by now, or need an approval.
    pub(super) async fn run(&self, admitted: Admitted, traceparent: Option<&str>) -> Outcome {
        let Admitted { call, approved } = admitted;
        let listing =
            async { self.toolset.tools(&self.scope).await.map_err(|error| error.to_string()) };
        let listed = unless_it_panics(listing).await;
        let listed = listed.map_err(|error| ToolFailure::internal(&*BoxError::from(error)))?;
        let tool = ToolEntry::find(&listed, call.tool());
        let name = tool.map_or_else(|| "call".to_owned(), |tool| format!("call {}", tool.name()));
        let span = serving_span(&name, "remote", traceparent);
        let outcome = if let Some(tool) = tool {
            let call = call.with_tool(tool.name());
            let running = self.run_tool(tool, call, approved).instrument(span.clone());
            Caught::new(running).await.unwrap_or_else(|panic| Err(panicked("the executor", &panic)))
        } else {
            let known = listed.iter().map(ToolEntry::name);
            Err(ToolFailure::not_found(call.tool(), known))
        };
        if let Err(failure) = &outcome {
            span.record("error.type", failure.kind.as_str());
        }
        outcome
    }

    /// The arguments and the result are checked here, as the client does not have the codecs.
    async fn run_tool(
        &self,
        tool: &ToolEntry,
        mut call: ToolCall,
        approved: Option<[u8; 32]>,
    ) -> Outcome {
        let _driver = DriverGuard::new(Handle::current());
        if tool.delegates() {
            let message =
                format!("`{}` is answered by an agent, and there is none here", call.tool());
            return Err(ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan));
        }
        if let Err(issues) = tool.spec().check_args(call.args().as_bytes()) {
            return Err(ToolFailure::invalid_call(tool.spec(), &call, issues));
        }
        if tool.approval().is_some() {
            if approved != Some(WireTool::new(tool, true).digest()) {
                return Err(not_approved(tool, self.options.approval_key.is_some()));
            }
            call = cleared(call, tool.spec());
        }
        let running = async {
            if !self.toolset.is_available(tool.name()) {
                return Err(unavailable(tool));
            }
            self.toolset.call(&call).await.outcome
        };
        let running = Arc::new(CallThreads::of_peer(&self.threads)).scope(running);
        let outcome = match tool.spec().limits().timeout {
            Some(limit) => match timeout(limit, running).await {
                Ok(outcome) => outcome,
                Err(_) => return Err(timed_out(tool, limit)),
            },
            None => running.await,
        };
        match outcome {
            Ok(result) if result.as_bytes().len() > MAX_RESULT_BYTES => {
                let bytes = result.as_bytes().len();
                Err(ToolFailure::result_too_large(tool.name(), bytes, MAX_RESULT_BYTES))
            }
            outcome => tool.spec_ref().checked(outcome),
        }
    }
}

/// Awaits a future of the toolset, and turns a panic into an error.
async fn unless_it_panics<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    Caught::new(work).await.unwrap_or_else(|_| Err("the toolset panicked".to_owned()))
}

/// The failure of a call without a valid approval code.
fn not_approved(tool: &ToolEntry, has_key: bool) -> ToolFailure {
    let message = format!("`{}` needs an approval, and this call has none", tool.name());
    let detail = if has_key {
        "the call has no approval code that is valid for this request; give the client the same key with \
         `RemoteOptions::with_approval_key`, and make the call through a runtime with an approver"
    } else {
        "the server of the remote toolset has no approval key; give the same one to it and to \
         its client with `RemoteOptions::with_approval_key`"
    };
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan).with_detail(detail)
}
