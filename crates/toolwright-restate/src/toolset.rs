//! The toolset whose tools run in workers.

use std::fmt;
use std::time::Duration;

use restate_sdk::ingress::RequestTarget;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep};
use toolwright::{
    BoxError, BoxFuture, Executor, FailureKind, Outcome, Payload, Recovery, Scope, ToolCall,
    ToolFailure, ToolResult,
};
use toolwright_runtime::approval::ApprovalKey;
use toolwright_runtime::{ToolEntry, ToolSpecRef, Toolset};

use crate::call::{HEADER, Sent};
use crate::ingress::{Ingress, Reply};
use crate::journal::is_abandoned;
use crate::names::{encode, tools_service};
use crate::tools::idempotency_key;

/// The wait before a lost request is repeated, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// How long a service may be unknown: the ingress learns of a worker a moment after it was announced.
pub(crate) const ANNOUNCED: Duration = Duration::from_secs(2);
/// How long a call may take in all, unless its runtime has a shorter limit.
const DEADLINE: Duration = Duration::from_mins(10);

/// A toolset whose tools run in [`Worker`](crate::Worker)s.
///
/// The idempotency key of a call has its id, that of its run, and those of the calls in which it is
/// [nested](toolwright_runtime::CallRequest::outer_calls): a call that is repeated after a lost connection, or by a run that is
/// repeated, waits for the same invocation and has the same result. Restate knows a call for a day, unless it is set otherwise; a
/// run with a [`Journal`](toolwright_runtime::Journal) of the host that is repeated after this time makes the call again. Dropping
/// the future of a call cancels it.
///
/// The specs are those of a generated crate, for example, so that arguments and results are checked on both sides. A worker whose
/// tool has another definition refuses the call.
#[derive(Clone)]
pub struct RestateToolset {
    ingress: Ingress,
    tools: Vec<Remote>,
    is_shared: bool,
    key: Option<ApprovalKey>,
    deadline: Duration,
}

#[derive(Clone)]
struct Remote {
    entry: ToolEntry,
    service: String,
    digest: String,
}

impl AsRef<ToolEntry> for Remote {
    fn as_ref(&self) -> &ToolEntry {
        &self.entry
    }
}

impl fmt::Debug for RestateToolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.tools.iter().map(|tool| tool.entry.name()).collect();
        let mut shown = f.debug_struct("RestateToolset");
        shown.field("ingress", &self.ingress).field("tools", &tools).finish_non_exhaustive()
    }
}

impl RestateToolset {
    /// Creates a toolset of tools that all runs share. Each tool is a handler of the service of its toolset.
    pub fn new<S: Into<ToolSpecRef>>(
        ingress: &Ingress,
        specs: impl IntoIterator<Item = S>,
    ) -> Self {
        let tools = specs.into_iter().map(|spec| {
            let entry = ToolEntry::new(spec).with_resumable_calls();
            let service = tools_service(entry.spec().toolset());
            let digest = entry.definition_digest();
            Remote { entry, service, digest }
        });
        Self {
            ingress: ingress.clone(),
            tools: tools.collect(),
            is_shared: true,
            key: None,
            deadline: DEADLINE,
        }
    }

    /// Creates a toolset whose workers have an instance for each run.
    pub fn per_run<S: Into<ToolSpecRef>>(
        ingress: &Ingress,
        specs: impl IntoIterator<Item = S>,
    ) -> Self {
        Self { is_shared: false, ..Self::new(ingress, specs) }
    }

    /// Sets the key for approval codes, which the workers have, too. Without it, workers deny calls of tools that need an approval.
    #[must_use]
    pub fn with_approval_key(mut self, key: &ApprovalKey) -> Self {
        self.key = Some(key.clone());
        self
    }

    /// Sets how long a call may take in all. The default is ten minutes; the limits of the tools and of the runtime may be shorter.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    async fn run(&self, call: &ToolCall) -> Outcome {
        let Some(tool) = ToolEntry::find(&self.tools, call.tool()) else {
            let known = self.tools.iter().map(|tool| tool.entry.name());
            return Err(ToolFailure::not_found(call.tool(), known));
        };
        let handler = encode(tool.entry.name());
        let target = match (self.is_shared, call.run_id()) {
            (true, _) => RequestTarget::service(&*tool.service, handler),
            (false, Some(run)) => RequestTarget::object(&*tool.service, run, handler),
            (false, None) => {
                let message = "the tool can only be called in a run";
                return Err(ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan)
                    .with_detail(
                        "its toolset has an instance for each run, and the call has no run id",
                    ));
            }
        };
        let sent = Sent::new(call, &tool.digest, self.key.as_ref());
        let key = idempotency_key(call, &sent.outer_calls);
        let header = sent.header();
        let mut guard = CancelOnDrop::new(self, &target, &key);
        let running = self.until_reply(target, call, (&key, &header), tool);
        let outcome = tokio::time::timeout(self.deadline, running).await;
        if let Ok(outcome) = outcome {
            guard.done();
            outcome
        } else {
            let (name, deadline) = (tool.entry.name(), self.deadline);
            let message = format!("`{name}` took longer than {deadline:?}");
            Err(ToolFailure::new(FailureKind::Timeout, message, Recovery::Replan)
                .with_possible_effect(tool.entry.spec().annotations()))
        }
    }

    /// Repeats a request until the ingress replies.
    async fn until_reply(
        &self,
        target: RequestTarget,
        call: &ToolCall,
        (key, header): (&str, &str),
        tool: &Remote,
    ) -> Outcome {
        let (mut pause, started) = (FIRST_WAIT, Instant::now());
        loop {
            let args = call.args().to_string();
            let header = Some((HEADER, header));
            let why = match self.ingress.call(target.clone(), Some(args), Some(key), header).await {
                Reply::Body(body) => return tool.result(&body),
                Reply::Failed(failure) => return Err(failure),
                Reply::Error(429 | 502 | 503, message) => message,
                Reply::Error(404, message) if started.elapsed() < ANNOUNCED => message,
                Reply::Error(status, message) => return Err(tool.refused(status, &message)),
                Reply::Lost(why) => why,
            };
            tracing::debug!(call_id = call.id(), why, elapsed = ?started.elapsed(), "a request to Restate is repeated");
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_WAIT);
        }
    }
}

impl Remote {
    /// Returns a result, or a failure if it is not JSON. The runtime checks it against the schema.
    fn result(&self, body: &[u8]) -> Outcome {
        match serde_json::from_slice::<&RawValue>(body) {
            Ok(json) => Ok(Payload::new(json.get())),
            Err(error) => {
                let message = format!("the result of `{}` is not JSON", self.entry.name());
                Err(ToolFailure::new(FailureKind::MalformedResult, message, Recovery::Replan)
                    .with_detail(error.to_string()))
            }
        }
    }

    /// The failure of a call that Restate itself ended.
    fn refused(&self, status: u16, message: &str) -> ToolFailure {
        let name = self.entry.name();
        let failure = match status {
            404 => {
                let text = format!("no worker offers `{name}`");
                ToolFailure::new(FailureKind::Unavailable, text, Recovery::Replan)
            }
            413 => {
                let text = format!("the arguments of `{name}` are too large; make them shorter");
                ToolFailure::new(FailureKind::InvalidCall, text, Recovery::Replan)
            }
            409 => {
                let text = format!("`{name}` was cancelled");
                ToolFailure::new(FailureKind::Cancelled, text, Recovery::Replan)
                    .with_possible_effect(self.entry.spec().annotations())
            }
            _ => {
                let text = format!("`{name}` was ended before it replied");
                ToolFailure::new(FailureKind::Unavailable, text, Recovery::Retry)
                    .with_possible_effect(self.entry.spec().annotations())
            }
        };
        failure.with_detail(format!("Restate replied {status}: {message}"))
    }
}

/// Cancels a call that is dropped before its reply, unless a run that goes on in another attempt made it.
struct CancelOnDrop(Option<(Ingress, RequestTarget, String)>);

impl CancelOnDrop {
    fn new(toolset: &RestateToolset, target: &RequestTarget, key: &str) -> Self {
        Self(Some((toolset.ingress.clone(), target.clone(), key.to_owned())))
    }

    fn done(&mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some((ingress, target, key)) = self.0.take().filter(|_| !is_abandoned()) else {
            return;
        };
        let Ok(handle) = tokio::runtime::Handle::try_current() else { return };
        handle.spawn(async move {
            let header = Sent::cancelled().header();
            if let Err(error) = ingress.cancel(target, &key, (HEADER, &header)).await {
                tracing::warn!(%error, key, "a call could not be cancelled");
            }
        });
    }
}

impl Toolset for RestateToolset {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(self.entries())))
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        Some(self.entries())
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { ToolResult::new(call, self.run(call).await) })
    }
}

/// For tools that are registered with an executor: `registry.register(TOOLS, Arc::new(RestateToolset::new(&ingress, TOOLS)))`.
impl Executor for RestateToolset {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Toolset::call(self, call)
    }

    fn has_resumable_calls(&self) -> bool {
        true
    }
}

impl RestateToolset {
    fn entries(&self) -> Vec<ToolEntry> {
        self.tools.iter().map(|tool| tool.entry.clone()).collect()
    }
}
