//! The service of a toolset: a handler for each tool.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::future::ready;
use std::mem;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use restate_sdk::context::{RequestTarget, RunFuture};
use restate_sdk::endpoint::{ContextInternal, InputMetadata};
use restate_sdk::errors::{HandlerError, TerminalError};
use restate_sdk::serde::Json;
use restate_sdk::service::ServiceDefinition;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright::call::fresh_id;
use toolwright::{BoxFuture, FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_runtime::approval::ApprovalKey;
use toolwright_runtime::watch::serving_span;
use toolwright_runtime::wire::Portable;
use toolwright_runtime::{
    ApprovalRequest, Approver, CallRequest, Runtime, Source, ToolEntry, Verdict,
};
use tracing::Instrument;

use crate::call::{HEADER, MAX_RESULT, Sent, bounded, failure_in, seconds, terminal};
use crate::control::take;
use crate::ingress::TRACEPARENT;
use crate::journal::is_recordable;
use crate::names::{agent_workflow, encode};
use crate::runs::{START, Start};
use crate::service::{Handle, Handled, define};

/// The time limit of a tool whose spec has none: the default of a runtime.
const DEFAULT_TIMEOUT: Duration = toolwright_runtime::execute::Timeout::DEFAULT;
/// How long a worker may be unreachable before its calls fail.
const OUTAGE: Duration = Duration::from_mins(5);
/// The first and the longest wait before a call goes to a worker again.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How long a call runs before it can be cancelled.
const SHORT: Duration = Duration::from_millis(20);
/// The state of a toolset with an instance for each run.
const STATE: &str = "state";

/// The tools of a service, by handler.
pub(crate) struct Tools {
    name: String,
    is_shared: bool,
    runtime: Runtime,
    key: Option<ApprovalKey>,
    tools: BTreeMap<String, Tool>,
}

pub(crate) struct Tool {
    entry: ToolEntry,
    toolset: String,
    source: Source,
    digest: String,
}

impl Tool {
    pub(crate) fn new(entry: ToolEntry, toolset: String, source: Source) -> Self {
        Self { digest: entry.definition_digest(), entry, toolset, source }
    }

    /// Returns the longest time that a call may take in a worker.
    fn longest_call(&self) -> Duration {
        let limits = self.entry.spec().limits();
        let attempts = limits.attempts.unwrap_or(1).max(1);
        let calls = limits.timeout.unwrap_or(DEFAULT_TIMEOUT).saturating_mul(attempts);
        calls.saturating_add(OUTAGE)
    }

    /// Returns the entry of the handler in the manifest.
    fn manifest(&self, handler: &str) -> Value {
        let spec = self.entry.spec();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Bool(true));
        let attempts = OUTAGE.as_secs() / LONGEST_WAIT.as_secs();
        json!({
            "name": handler,
            "documentation": spec.description(),
            "input": {
                "required": true,
                "contentType": "application/json",
                "jsonSchema": schema(spec.args_schema()),
            },
            "output": {
                "contentType": "application/json",
                "setContentTypeIfEmpty": false,
                "jsonSchema": schema(spec.result_schema()),
            },
            "metadata": { "toolwright.digest": self.digest, "toolwright.tool": self.entry.name() },
            // A worker that dies is noticed at once; these strike only if one hangs.
            "inactivityTimeout": millis(self.longest_call()),
            "abortTimeout": millis(LONGEST_WAIT),
            "retryPolicyInitialInterval": millis(FIRST_WAIT),
            "retryPolicyMaxInterval": millis(LONGEST_WAIT),
            "retryPolicyExponentiationFactor": 2.0,
            "retryPolicyMaxAttempts": attempts,
            "retryPolicyOnMaxAttempts": "KILL",
        })
    }
}

impl Tools {
    pub(crate) fn new(name: String, is_shared: bool, runtime: Runtime) -> Self {
        Self { name, is_shared, runtime, key: None, tools: BTreeMap::new() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Adds a tool. Returns false if one of its name is there.
    pub(crate) fn push(&mut self, tool: Tool) -> bool {
        self.tools.insert(encode(tool.entry.name()), tool).is_none()
    }

    /// Removes the tools that no agent implements. Returns whether others are left.
    pub(crate) fn keep_those_of_agents(&mut self) -> bool {
        self.tools.retain(|_, tool| tool.entry.agent().is_some());
        !self.tools.is_empty()
    }

    pub(crate) fn set_approval_key(&mut self, key: ApprovalKey) {
        self.key = Some(key);
    }

    pub(crate) fn definition(self) -> ServiceDefinition {
        let handlers = self.tools.iter().map(|(handler, tool)| tool.manifest(handler));
        let handlers: Vec<_> = handlers.collect();
        let description = self.tools.values().next();
        let description = description.map(|tool| tool.entry.spec().toolset_description());
        let manifest = json!({
            "name": self.name,
            "ty": if self.is_shared { "SERVICE" } else { "VIRTUAL_OBJECT" },
            "documentation": description.unwrap_or_default(),
            "handlers": handlers,
        });
        define(self, manifest)
    }

    async fn call(&self, tool: &Tool, context: &ContextInternal) -> Result<Outcome, TerminalError> {
        let (args, metadata) = context.input::<Vec<u8>>().await;
        let parent = metadata.headers.get(TRACEPARENT).cloned();
        let mut sent = match Sent::read(metadata.headers.get(HEADER).map(String::as_str)) {
            Ok(sent) => sent,
            Err(error) => return Ok(Err(malformed(error))),
        };
        let outer_calls = mem::take(&mut sent.outer_calls);
        let received_at = if sent.has_approval() {
            // A repeated handler must come to the same verdict about the code.
            context.run(|| ready(Ok::<_, HandlerError>(seconds()))).name("received").await?
        } else {
            0
        };
        let (call, code) = match self.admit(tool, args, &metadata, sent, received_at) {
            Ok(admitted) => admitted,
            Err(failure) => return Ok(Err(failure)),
        };
        let is_approved = match &code {
            Some((code, time_left)) => take(context, code, *time_left).await?,
            None => false,
        };
        let approved = Mutex::new(is_approved.then(|| call.clone()));
        let codes = Codes { approved, has_key: self.key.is_some() };
        if let Some(agent) = tool.entry.agent() {
            if tool.entry.approval().is_some() && !is_approved {
                let message = codes.denial(tool.entry.name());
                return Ok(Err(ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)));
            }
            let run = (agent, idempotency_key(&call, &outer_calls));
            return self.run_agent(tool, context, run, (call, is_approved), parent).await;
        }
        let call = CallRequest::new(call).nested_in(outer_calls).with_approver(Arc::new(codes));
        let saved = if self.is_shared { None } else { context.get::<String>(STATE).await? };
        let mut is_interrupted = false;
        if !tool.entry.spec().annotations().may_run_again() {
            // Another attempt has another id, also in this worker.
            let attempt = fresh_id("attempt");
            let beginning = context.run(|| ready(Ok::<_, HandlerError>(attempt.clone())));
            is_interrupted = beginning.name("begin").await? != attempt;
        }
        let (outcome, saved) = if is_interrupted {
            (Err(interrupted(tool)), None)
        } else {
            self.run(tool, context, call, parent.as_deref(), saved.map(Payload::new)).await?
        };
        if self.is_shared {
            return Ok(outcome);
        }
        // The state and the outcome are recorded together, so that a repeated call has the state that belongs to it.
        let json = |text: String| {
            RawValue::from_string(text).map_err(|error| TerminalError::new(error.to_string()))
        };
        let ended =
            (json(outcome.to_text())?, saved.map(|saved| json(saved.to_string())).transpose()?);
        let recording = context.run(|| ready(Ok::<_, HandlerError>(Json(ended))));
        let Json((outcome, saved)) = recording.name("call").await?;
        if let Some(saved) = saved {
            context.set(STATE, String::from(Box::<str>::from(saved)));
        }
        let outcome = Outcome::from_text(outcome.get());
        Ok(outcome.unwrap_or_else(|error| Err(ToolFailure::internal(&*error))))
    }

    /// Runs a call, and returns its outcome with the state after it.
    async fn run(
        &self,
        tool: &Tool,
        context: &ContextInternal,
        call: CallRequest,
        parent: Option<&str>,
        saved: Option<Payload>,
    ) -> Result<(Outcome, Option<Payload>), TerminalError> {
        let span = serving_span(&format!("call {}", tool.entry.name()), "restate", parent);
        let toolset = (tool.toolset.as_str(), &tool.source);
        let calling = self.runtime.call_in(toolset, Some(&tool.digest), saved.as_ref(), call);
        let calling = calling.instrument(span.clone());
        // A panic of a toolset must not take the call to the next worker.
        let calling = AssertUnwindSafe(calling).catch_unwind();
        let mut calling = pin!(calling);
        // Waiting for an answer that never comes ends only when the invocation is cancelled. That costs a message to the server,
        // so a short call does without.
        let called = if let Ok(called) = tokio::time::timeout(SHORT, &mut calling).await {
            called
        } else {
            let (_, never) = context.awakeable::<()>();
            tokio::select! {
                biased;
                called = calling => called,
                ended = never => return Err(ended.err().unwrap_or_else(cancelled)),
            }
        };
        let (result, saved) = match called {
            Ok(Ok(called)) => called,
            // The call has run if only saving failed.
            Ok(Err(error)) => {
                return Ok((Err(may_have_run(tool, ToolFailure::internal(&*error))), None));
            }
            Err(_) => return Ok((Err(may_have_run(tool, panicked(tool))), None)),
        };
        let (outcome, saved) = match saved.as_ref().and_then(|saved| not_kept(tool, saved)) {
            Some(failure) => (Err(failure), None),
            None => (result.outcome, saved),
        };
        let outcome = match outcome {
            Ok(payload) if payload.as_bytes().len() > MAX_RESULT => {
                Err(ToolFailure::result_too_large(
                    tool.entry.name(),
                    payload.as_bytes().len(),
                    MAX_RESULT,
                ))
            }
            outcome => outcome.map_err(bounded),
        };
        if let Err(failure) = &outcome {
            span.record("error.type", failure.kind.as_str());
        }
        Ok((outcome, saved))
    }

    /// Runs the hooks around the run of the agent that implements a tool. `run` are the agent and the key of the run.
    async fn run_agent(
        &self,
        tool: &Tool,
        context: &ContextInternal,
        run: (&str, String),
        (call, is_approved): (ToolCall, bool),
        parent: Option<String>,
    ) -> Result<Outcome, TerminalError> {
        let (hooks, entry) = (self.runtime.hooks(), &tool.entry);
        if !hooks.has_for(call.tool(), Some(entry)) {
            return run_agent(context, run, &call, parent).await;
        }
        let args = recorded(context, "before", tool, hooks.before(&call, entry)).await?;
        let (call, outcome) = match args {
            Ok(args) if is_approved && args != *call.args() => {
                let message =
                    format!("this call of `{}` is not the one that was approved", entry.name());
                let failure = ToolFailure::new(FailureKind::Denied, message, Recovery::Replan);
                let detail = "a hook changed its arguments after the approval";
                (call, Err(failure.with_detail(detail)))
            }
            Ok(args) => {
                let call = call.with_args(args);
                let outcome = run_agent(context, run, &call, parent).await?;
                (call, outcome)
            }
            Err(failure) => (call, Err(failure)),
        };
        recorded(context, "after", tool, hooks.after(&call, Some(entry), outcome)).await
    }

    /// Returns a call with its approval code, if this worker may run it. `received_at` is in seconds since 1970.
    fn admit(
        &self,
        tool: &Tool,
        args: Vec<u8>,
        metadata: &InputMetadata,
        sent: Sent,
        received_at: u64,
    ) -> Result<(ToolCall, Option<(String, Duration)>), ToolFailure> {
        let args = String::from_utf8(args).map_err(|error| malformed(error.to_string()))?;
        if sent.is_cancelled {
            let message = "the call was cancelled before it began";
            return Err(ToolFailure::new(FailureKind::Cancelled, message, Recovery::Replan));
        }
        if let Some(digest) = sent.digest.as_ref().filter(|digest| **digest != tool.digest) {
            return Err(other_definition(tool, digest));
        }
        let id = metadata.idempotency_key.as_ref().unwrap_or(&metadata.invocation_id);
        let call = sent.call(tool.entry.name(), Payload::new(args), id).map_err(malformed)?;
        let mut scope = call.scope().clone();
        if self.is_shared {
            scope.run_id.get_or_insert_with(|| metadata.invocation_id.clone());
        } else {
            let of_object = scope.run_id.replace(metadata.key.clone());
            if of_object.is_some_and(|run| run != metadata.key) {
                return Err(malformed("it is of another run than the state".to_owned()));
            }
        }
        let code =
            self.key.as_ref().and_then(|key| sent.code(&call, &tool.digest, key, received_at));
        let call = call.with_tool(tool.entry.name()).with_scope(scope);
        Ok((call, code.map(|(code, time_left)| (code.to_owned(), time_left))))
    }
}

/// Returns the idempotency key of a call: two calls with one id are one call if they are nested in the same calls of one run.
pub(crate) fn idempotency_key(call: &ToolCall, outer_calls: &[String]) -> String {
    // All ids may have any characters, and a header may not. An encoded call id has neither a dot nor a hyphen.
    let mut key = String::new();
    for byte in call.run_id().unwrap_or_default().bytes() {
        match byte {
            b'!'..=b'~' if byte != b'%' => key.push(char::from(byte)),
            _ => {
                let _ = write!(key, "%{byte:02x}");
            }
        }
    }
    let outer = outer_calls.iter().map(String::as_str);
    let calls: Vec<_> = outer.chain([call.id()]).map(encode).collect();
    format!("{key}.{}", calls.join("-"))
}

/// Runs hooks in a step of the handler, and returns their outcome.
async fn recorded(
    context: &ContextInternal,
    step: &'static str,
    tool: &Tool,
    hooking: impl Future<Output = Outcome> + Send,
) -> Result<Outcome, TerminalError> {
    let recording = context.run(|| async {
        let outcome = hooking.await.to_text();
        Ok::<_, HandlerError>(if is_recordable(&outcome) {
            outcome
        } else {
            let message =
                format!("the outcome of the hooks of `{}` is too large", tool.entry.name());
            let kind = FailureKind::MalformedResult;
            Outcome::Err(ToolFailure::new(kind, message, Recovery::Replan)).to_text()
        })
    });
    let outcome = Outcome::from_text(&recording.name(step).await?);
    Ok(outcome.unwrap_or_else(|error| Err(ToolFailure::internal(&*error))))
}

/// Runs the agent that implements a tool in a run of its own, which outlasts this worker and may be in another.
async fn run_agent(
    context: &ContextInternal,
    (agent, key): (&str, String),
    call: &ToolCall,
    parent: Option<String>,
) -> Result<Outcome, TerminalError> {
    let start = match Start::new(call.args()) {
        Ok(start) => start.implementing(call),
        Err(error) => return Ok(Err(ToolFailure::internal(&error))),
    };
    let target = RequestTarget::workflow(agent_workflow(agent), key, START);
    let headers = parent.map(|parent| (TRACEPARENT.to_owned(), parent)).into_iter().collect();
    let running = context.call::<_, Vec<u8>>(target, None, None, None, headers, Json(start));
    Ok(match running.await {
        Ok(payload) => String::from_utf8(payload)
            .map(Payload::new)
            .map_err(|error| ToolFailure::internal(&error)),
        Err(error) => match failure_in(error.message()) {
            Some(failure) => Err(failure),
            None => return Err(error),
        },
    })
}

/// Approves a call that has a valid approval code, once. No other call is approved: those of the agent that a tool delegates to have
/// no code, although they may have the id of this one.
struct Codes {
    approved: Mutex<Option<ToolCall>>,
    has_key: bool,
}

impl Codes {
    fn denial(&self, tool: &str) -> String {
        let advice = if self.has_key {
            "the call has no valid approval code"
        } else {
            "the worker has no approval key"
        };
        format!("`{tool}` needs an approval, and {advice}")
    }
}

impl Approver for Codes {
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        let is_asked = |call: &mut ToolCall| {
            call.run_id() == Some(&request.run_id)
                && (call.id(), call.tool()) == (&request.call_id, &request.tool)
        };
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let verdict = match approved.take_if(is_asked) {
            Some(_) => Verdict::Approve,
            None => Verdict::Deny(Some(self.denial(&request.tool))),
        };
        Box::pin(ready(verdict))
    }
}

/// The failure of a call that is not one of a toolwright caller.
fn malformed(error: String) -> ToolFailure {
    ToolFailure::new(FailureKind::Internal, "the call was not understood", Recovery::Replan)
        .with_detail(error)
}

/// Returns the failure of a call after which the state of its toolset cannot be kept.
fn not_kept(tool: &Tool, saved: &Payload) -> Option<ToolFailure> {
    let (name, bytes) = (tool.entry.name(), saved.as_bytes().len());
    let (message, detail) = if bytes > MAX_RESULT {
        (
            format!("`{name}` ran, but what it changed is too large to be kept"),
            format!("the saved state has {bytes} bytes, and at most {MAX_RESULT} are kept"),
        )
    } else {
        let error = serde_json::from_str::<&RawValue>(saved.as_str()).err()?;
        (
            format!("`{name}` ran, but what it changed cannot be kept"),
            format!("the saved state is not JSON: {error}"),
        )
    };
    Some(ToolFailure::new(FailureKind::Internal, message, Recovery::Replan).with_detail(detail))
}

/// The failure of a call that an earlier attempt began and did not end.
fn interrupted(tool: &Tool) -> ToolFailure {
    let message = format!("`{}` was interrupted", tool.entry.name());
    let failure = ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan)
        .with_detail("an attempt at the call ended before it replied");
    may_have_run(tool, failure)
}

fn may_have_run(tool: &Tool, failure: ToolFailure) -> ToolFailure {
    failure.with_possible_effect(tool.entry.spec().annotations())
}

fn other_definition(tool: &Tool, digest: &str) -> ToolFailure {
    let message = format!("the definition of `{}` has changed", tool.entry.name());
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan).with_detail(format!(
        "the caller has the definition with the digest {digest}, and the worker {}; deploy both from one version",
        tool.digest
    ))
}

fn cancelled() -> TerminalError {
    TerminalError::new_with_code(409, "cancelled")
}

fn panicked(tool: &Tool) -> ToolFailure {
    let detail = format!("the toolset of `{}` panicked", tool.entry.name());
    ToolFailure::new(FailureKind::Internal, "the tool failed", Recovery::Replan).with_detail(detail)
}

impl Handle for Tools {
    fn handle(self: Arc<Self>, context: ContextInternal) -> Option<BoxFuture<'static, Handled>> {
        if !self.tools.contains_key(context.handler_name()) {
            return None;
        }
        Some(Box::pin(async move {
            let tool = self.tools.get(context.handler_name());
            let tool = tool.unwrap_or_else(|| unreachable!("looked up before"));
            match self.call(tool, &context).await? {
                Ok(payload) => Ok(payload.as_bytes().to_vec()),
                Err(failure) => Err(terminal(&failure).into()),
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use toolwright::{Payload, Scope, ToolCall};

    use super::idempotency_key;

    #[test]
    fn calls_have_one_key_only_if_all_ids_are_the_same() {
        let table: [(&str, &[&str], &str, &str); 9] = [
            ("r", &[], "c", "r.c"),
            ("r", &["a"], "c", "r.a-c"),
            ("r", &["a", "b"], "c", "r.a-b-c"),
            ("r", &["a-b"], "c", "r.a__2db-c"),
            ("r", &["a.b"], "c", "r.a__2eb-c"),
            ("r", &[], "a-c", "r.a__2dc"),
            ("r.a", &[], "c", "r.a.c"),
            ("r/a", &[], "c", "r/a.c"),
            ("r%2e", &[], "c", "r%252e.c"),
        ];
        let keys = table.map(|(run, outer, id, expected)| {
            let scope = Scope { run_id: Some(run.to_owned()), ..Scope::default() };
            let call = ToolCall::new("t", Payload::new("{}")).with_id(id).with_scope(scope);
            let outer: Vec<_> = outer.iter().map(|&id| id.to_owned()).collect();
            let key = idempotency_key(&call, &outer);
            assert_eq!(key, expected);
            key
        });
        assert_eq!(BTreeSet::from(keys).len(), table.len());
    }
}
