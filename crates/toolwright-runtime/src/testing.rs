//! Help for tests, behind the feature `testing`: calls of registered tools and of toolsets on a runtime, a clock that tests
//! advance, and transcripts of runs. A [`Script`] is the planner of an agent in tests, and a [`Collector`](crate::Collector) keeps
//! the events of its runs.
//!
//! ```
//! use toolwright_runtime::{Registry, testing};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! toolwright::described! {
//!     struct Disk {
//!         name: String,
//!     }
//! }
//!
//! let registry = Registry::new();
//! registry.tool("wipe", "Wipe a disk.", async |disk: Disk| disk)?;
//!
//! let tools = testing::tools(registry);
//! let wiped = tools.call("wipe", r#"{"name":"sda"}"#).await?;
//! assert_eq!(wiped.as_str(), r#"{"name":"sda"}"#);
//! # Ok(())
//! # }
//! ```

use std::fmt::Write;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::time::Instant;
use toolwright::testing::{Tools, unanswered};
use toolwright::{BoxError, Outcome, Payload, ToolCall, ToolFailure};

use crate::agent::{Agent, Script};
use crate::approval::{ApprovalRequest, Verdict};
use crate::host::{RunRequest, Runtime};
use crate::registry::Registry;
use crate::tools::{IntoSource, Source};
use crate::watch::{Event, EventKind};

/// The tools of a registry, called outside of runs: with the approvals, time limits and retries of other calls, but without hooks.
/// The toolset of a tool is entered and exited for each call.
pub fn tools(registry: Registry) -> Tools {
    Tools::new(move |call, approved| {
        let runtime = runtime(registry.clone(), approved);
        Box::pin(async move { runtime.call(call).await.outcome })
    })
}

/// The tools of a toolset, an instance or a factory. Each call is made in a run of its own, in which the toolset is listed,
/// entered and exited.
pub fn toolset<K>(toolset: impl IntoSource<K>) -> Tools {
    let source = toolset.into_source();
    Tools::new(move |call, approved| {
        let source = source.clone();
        Box::pin(async move {
            let made = call_in_run(source, call, approved).await;
            made.unwrap_or_else(|error| Err(ToolFailure::internal(&*error)))
        })
    })
}

/// A clock for [`RuntimeBuilder::with_clock`](crate::RuntimeBuilder::with_clock) that follows tokio's clock, from the beginning of
/// 1970. In a test with `start_paused`, `tokio::time::advance` advances it together with all time limits.
pub fn clock() -> impl Fn() -> SystemTime + Send + Sync + 'static {
    let start = Instant::now();
    move || SystemTime::UNIX_EPOCH + start.elapsed()
}

/// Returns the events as text, one line for each, with every payload and without times and ids, to be compared with a stored text.
/// Calls are numbered in the order of their first events. Events of models are left out, so that a run on a model has the
/// transcript of a scripted one.
pub fn transcript(events: &[Event]) -> String {
    let mut events: Vec<_> = events.iter().collect();
    events.sort_by_key(|event| event.sequence);
    let mut calls: Vec<(&str, &str)> = Vec::new();
    let mut text = String::new();
    for event in events {
        let Some((call, happened)) = told(&event.kind) else { continue };
        let subject = match (call, &event.agent) {
            (Some((id, tool)), _) => {
                let call = (event.run_id(), id);
                let known = calls.iter().position(|known| *known == call);
                let number = known.unwrap_or_else(|| {
                    calls.push(call);
                    calls.len() - 1
                });
                format!("{} {tool}", number + 1)
            }
            (None, agent) => agent.as_deref().unwrap_or_default().to_owned(),
        };
        let depth = usize::try_from(event.scope.depth).unwrap_or_default();
        let is_in_run = call.is_some() && event.agent.is_some();
        let indent = "  ".repeat(depth + usize::from(is_in_run));
        // A `String` takes all that is written.
        let _ = writeln!(text, "{indent}{subject} {happened}");
    }
    text
}

/// Returns the id and the tool of the call that an event is about, if there is one, and the text of the event; `None` for events of
/// models.
fn told(kind: &EventKind) -> Option<(Option<(&str, &str)>, String)> {
    let asked = |request: &ApprovalRequest| {
        format!("asked: {}", request.prompt.as_deref().unwrap_or(request.args.as_str()))
    };
    Some(match kind {
        EventKind::Model(_) => return None,
        EventKind::RunStarted { input, .. } => (None, format!("started: {input}")),
        EventKind::RunSuspended { .. } => (None, "waits for answers".to_owned()),
        EventKind::RunResumed => (None, "went on".to_owned()),
        EventKind::RunFinished { result, .. } => (None, ended("finished", result)),
        EventKind::ApprovalRequested { request } => {
            (Some((&request.call_id, &request.tool)), asked(request))
        }
        EventKind::ApprovalAnswered { request, verdict } => {
            (Some((&request.call_id, &request.tool)), answered(verdict))
        }
        EventKind::ToolCallScheduled { call, tool } => {
            (Some((call.id(), tool.name())), format!("call: {}", call.args()))
        }
        EventKind::ToolCallRetried { call_id, tool, failure, .. } => {
            (Some((call_id, tool.name())), format!("is tried again, {failure}"))
        }
        EventKind::ToolResultReceived { call_id, tool, outcome, .. } => {
            (Some((call_id, tool.name())), ended("returned", outcome))
        }
    })
}

fn ended(word: &str, outcome: &Outcome) -> String {
    match outcome {
        Ok(payload) => format!("{word}: {payload}"),
        Err(failure) => format!("failed, {failure}"),
    }
}

fn answered(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Approve => "was approved".to_owned(),
        Verdict::ApproveWith(args) => format!("was approved with {args}"),
        Verdict::Deny(None) => "was denied".to_owned(),
        Verdict::Deny(Some(reason)) => format!("was denied: {reason}"),
        Verdict::Result(payload) => format!("was answered: {payload}"),
    }
}

fn runtime(registry: Registry, answer: Option<bool>) -> Runtime {
    let approver = move |request: &ApprovalRequest| match answer {
        Some(true) => Verdict::Approve,
        Some(false) => Verdict::Deny(None),
        None => Verdict::Deny(Some(unanswered(&request.tool).message)),
    };
    Runtime::builder(registry).with_approver(Arc::new(approver)).build()
}

/// Makes one call in a run of an agent that makes no other.
async fn call_in_run(
    source: Source,
    call: ToolCall,
    approved: Option<bool>,
) -> Result<Outcome, BoxError> {
    let registry = Registry::new();
    registry.register_toolset("tested", source)?;
    let agent = Agent::new("tester", "testing").with_toolsets(["tested"]);
    let (nothing, scope) = (Payload::new("null"), call.scope().clone());
    let script = Script::new().call([call]).finish(nothing.clone());
    registry.register_agent(agent, script.into())?;
    let mut request = RunRequest::new("tester", nothing);
    (request.run_id, request.scope) = (scope.run_id.clone(), scope);
    let outcome = runtime(registry, approved).run(request).await?;
    match outcome.calls().next() {
        Some(record) => Ok(record.result.outcome.clone()),
        None => Ok(outcome.result()),
    }
}
