//! The journal, which records the values that a run gets from outside (its effects), so that a repeated run gets the same.
//!
//! Recorded are: steps of planners, outcomes of calls and hooks, questions, answers of approvers, ids of child runs after the
//! wait for an attempt, and outcomes of child runs. Not recorded are: verdicts that a run is resumed with, what toolsets list,
//! save and restore, checkpoints, and the time budget.

use std::error::Error;
use std::future::pending;

use toolwright::{BoxError, BoxFuture, Outcome, Payload, ToolFailure};

use crate::agent::Step;
use crate::approval::{ApprovalRequest, Verdict};
use crate::wire::{WireOutcome, WireStep};

/// Records the values that runs get from outside (effects), so that a run can be repeated. With the same journal a repeated
/// run makes the same decisions, and does not repeat effects whose values are recorded.
///
/// The journal identifies a run by its id. Set the id in the request, since a generated id differs each time. A single call
/// of [`Runtime::call`](crate::Runtime::call) is repeated only if its scope has the same run id and it has the same call id.
///
/// The run id of a call that a run or session passes to a tool, and that the tool makes through a runtime (also if a runtime is the
/// [`Executor`](toolwright::Executor) of the tool), is the run id of the call that was passed, `/` and its call id (with `%25` for
/// `%` and `%2F` for `/`), such as `r1/c1/c2`: two runtimes with one journal have keys of their own for one call.
///
/// A key is unique within its run, and the same each time the run is repeated. The keys of a call end with the call's id:
///
/// | key | entry |
/// |---|---|
/// | `step/0` | the first step of the planner, or its failure |
/// | `tool/<id>` | in runs of agents, the name of the tool, or why the tool was not found |
/// | `question/<id>` | the question to the approver, with its id and expiry |
/// | `answer/<id>` | the verdict of the run's or the runtime's approver |
/// | `before/<id>` | the arguments after the hooks before the call, or their failure |
/// | `begin/<id>` | a random id of the execution of the run that began the call, if the tool is neither read-only nor idempotent, and no agent runs it |
/// | `call/<id>` | the outcome of the call, if no agent runs it |
/// | `agent/<id>` | the agent that runs the call, the input of its run, and the digest of the arguments |
/// | `run/<attempt>/<id>` | the id of the agent's run for the call; attempts are counted from 1 |
/// | `end/<attempt>/<id>` | the outcome of that attempt, which may be a timeout |
/// | `after/<id>` | the outcome after the hooks after the call |
///
/// An effect that was interrupted before it was recorded happens again. A call of a tool that is neither read-only nor
/// idempotent fails instead, and the failure says that it may have taken effect, also if the tool is gone, unavailable or changed now
/// ([unless its executor or toolset knows the call](toolwright::Executor::has_resumable_calls)). The time budget starts again.
/// Toolsets are listed, entered and exited each time. If each run has its own instance of a toolset, the new instance lacks the changes of
/// recorded calls: keep such state outside the process, as [`Runtime::call_in`](crate::Runtime::call_in) allows.
///
/// The answers that a run is resumed with are not recorded: a repeated run waits for the same questions, and the runtime refuses to
/// have them answered a second time. Resume such a run from its last [`SuspendedRun`](crate::SuspendedRun) or checkpoint instead.
pub trait Journal: Send + Sync {
    /// Returns the entry under a key of a run. If there is none, runs the effect, stores its value and returns it. Entries
    /// are JSON. Effects are not nested, except if an effect itself uses the runtime.
    ///
    /// The effect must not be polled if there is an entry. The returned future may be dropped before the effect has ended;
    /// then nothing must be stored.
    ///
    /// # Errors
    ///
    /// The journal cannot be read or written. Then the call of the key fails; if the key belongs to no call, the run fails.
    fn record<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
        effect: BoxFuture<'a, String>,
    ) -> BoxFuture<'a, Result<String, BoxError>>;

    /// Returns the entry under a key of a run, if there is one. A journal that replays a run in order may return `None` until the
    /// run has got all earlier entries.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    fn find<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>>;

    /// Returns the entry under a key of a run that [`find`](Self::find) did not return yet, as soon as a repeated run has got all
    /// earlier entries. The future stays pending if there is no such entry. The default is for journals
    /// whose `find` returns every entry at once: it stays pending, too.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    fn replayed<'a>(
        &'a self,
        _run_id: &'a str,
        _key: &'a str,
    ) -> BoxFuture<'a, Result<String, BoxError>> {
        Box::pin(pending())
    }
}

/// A value that a journal can record.
pub(crate) trait JournalEntry: Sized {
    fn to_json(&self) -> serde_json::Result<String>;
    fn from_json(json: &str) -> serde_json::Result<Self>;
}

/// Returns the value of an effect from the journal. If it has no entry, runs the effect and records its value.
pub(super) async fn record<T: JournalEntry>(
    journal: &dyn Journal,
    run_id: &str,
    key: &str,
    effect: impl Future<Output = T> + Send,
) -> Result<T, ToolFailure> {
    let effect = async { effect.await.to_json().unwrap_or_default() };
    let recorded = journal.record(run_id, key, Box::pin(effect)).await;
    recorded.and_then(|json| Ok(T::from_json(&json)?)).map_err(|error| unreadable(key, &*error))
}

/// Returns the entry of a journal under a key, if there is one.
pub(super) async fn recorded<T: JournalEntry>(
    journal: &dyn Journal,
    run_id: &str,
    key: &str,
) -> Result<Option<T>, ToolFailure> {
    let found = journal.find(run_id, key).await;
    let read = found.and_then(|json| Ok(json.map(|json| T::from_json(&json)).transpose()?));
    read.map_err(|error| unreadable(key, &*error))
}

/// Waits until a run that is repeated in order reaches the entry under a key, and returns its failure. Stays pending if there is no
/// such entry, or if it is a result.
pub(super) async fn replayed_failure(
    journal: &dyn Journal,
    run_id: &str,
    key: &str,
) -> ToolFailure {
    let replayed = journal.replayed(run_id, key).await;
    match replayed.and_then(|json| Ok(Outcome::from_json(&json)?)) {
        Ok(Ok(_)) => pending().await,
        Ok(Err(failure)) => failure,
        Err(error) => unreadable(key, &*error),
    }
}

fn unreadable(key: &str, error: &(dyn Error + 'static)) -> ToolFailure {
    ToolFailure::internal(error).with_detail(format!("journal entry `{key}`: {error}"))
}

impl JournalEntry for Outcome {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&WireOutcome::from(self))
    }

    fn from_json(json: &str) -> serde_json::Result<Self> {
        Ok(serde_json::from_str::<WireOutcome>(json)?.into())
    }
}

/// A name or an id, or the failure to get one.
impl JournalEntry for Result<String, ToolFailure> {
    fn to_json(&self) -> serde_json::Result<String> {
        self.clone().map(Payload::new).to_json()
    }

    fn from_json(json: &str) -> serde_json::Result<Self> {
        Ok(Outcome::from_json(json)?.map(|name| name.as_str().to_owned()))
    }
}

impl JournalEntry for Result<Step, ToolFailure> {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&WireStep::from(self))
    }

    fn from_json(json: &str) -> serde_json::Result<Self> {
        Ok(serde_json::from_str::<WireStep>(json)?.into())
    }
}

macro_rules! journal_entries {
    ($($type:ty),+) => { $(
        impl JournalEntry for $type {
            fn to_json(&self) -> serde_json::Result<String> {
                serde_json::to_string(self)
            }

            fn from_json(json: &str) -> serde_json::Result<Self> {
                serde_json::from_str(json)
            }
        }
    )+ };
}

journal_entries!(ApprovalRequest, Verdict, String);
