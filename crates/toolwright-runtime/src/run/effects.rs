//! Effects: what a run gets from outside and a journal keeps. These are the steps of planners, the outcomes of calls and
//! of hooks, questions, the answers of live approvers, the ids of child runs with the pauses before them, and how child
//! runs ended. Not kept are the verdicts a run is resumed with, what toolsets list, save and restore, checkpoints and the
//! time budget. Never decides anything.

use std::future::pending;

use tokio::sync::Notify;
use toolwright::{BoxError, BoxFuture, Outcome, Payload, ToolFailure};

use crate::agent::Step;
use crate::approval::{ApprovalRequest, Verdict};
use crate::wire::{WireOutcome, WireStep};

/// Keeps what runs get from outside, so that a run can be made again: with the same journal it takes the same way, and
/// asks and calls nobody whose answer was kept.
///
/// A run is known by its id, so give requests one: an id that is made is another each time. The same goes for single
/// calls, [`Runtime::call`](crate::Runtime::call): one is made again only if its scope has a run id, and it has the same
/// call id.
///
/// A key is unique in its run, and the same each time the run is made. Those of a call end with the call's id:
///
/// | key | entry |
/// |---|---|
/// | `step/0` | the first step of the planner, or its failure |
/// | `tool/<id>` | in runs of agents, the name of the tool that the call is of, or why there is none |
/// | `question/<id>` | the question to the approver, with its id and when it expires |
/// | `answer/<id>` | the verdict of an approver who was asked while the run waited |
/// | `before/<id>` | the arguments that hooks made, or their failure |
/// | `call/<id>` | the outcome of the call, where no agent runs it |
/// | `agent/<id>` | the agent that runs the call, and the input of its run |
/// | `run/<attempt>/<id>` | the id of the run in which an agent runs the call, attempts counted from 1 |
/// | `end/<attempt>/<id>` | the outcome of that attempt, its time limit included |
/// | `after/<id>` | the outcome that hooks made |
///
/// An effect that was cut off before it was kept happens again. Toolsets are listed, entered and exited each time, and
/// the time budget of an agent begins anew. The answers that a run is resumed with are not kept: made again, the run waits
/// for the same questions, which the runtime that took their answers takes no second time. Go on from its last
/// [`SuspendedRun`](crate::SuspendedRun) or checkpoint instead.
pub trait Journal: Send + Sync {
    /// What was kept under a key of a run, or else what the effect gives, once it is kept. Entries are JSON. No effect
    /// is recorded within another, unless the effect itself uses the runtime.
    ///
    /// The future that this returns may be dropped before the effect has ended, and is at once where a run only asks what
    /// was kept. Nothing is kept then. An effect must not begin where its entry is there.
    ///
    /// # Errors
    ///
    /// Whatever keeps the journal from being read or written. The call it is about fails, or the run where it is about
    /// no call.
    fn record<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
        effect: BoxFuture<'a, String>,
    ) -> BoxFuture<'a, Result<String, BoxError>>;
}

/// Something that a journal keeps.
pub(crate) trait Entry: Sized {
    fn to_json(&self) -> serde_json::Result<String>;
    fn of_json(json: &str) -> serde_json::Result<Self>;
}

/// What an effect gives, from a journal if it is kept there.
pub(super) async fn record<T: Entry>(
    journal: &dyn Journal,
    run_id: &str,
    key: &str,
    effect: impl Future<Output = T> + Send,
) -> Result<T, ToolFailure> {
    let effect = async { effect.await.to_json().unwrap_or_default() };
    let kept = journal.record(run_id, key, Box::pin(effect)).await;
    let entry = kept.and_then(|kept| Ok(T::of_json(&kept)?));
    entry.map_err(|error| {
        ToolFailure::internal(&*error).with_detail(format!("journal entry `{key}`: {error}"))
    })
}

/// What a journal keeps under a key, if it does. An effect that begins was not kept; this one is given up then.
pub(super) async fn kept<T: Entry>(
    journal: &dyn Journal,
    run_id: &str,
    key: &str,
) -> Result<Option<T>, ToolFailure> {
    let begun = Notify::new();
    let effect = async {
        begun.notify_one();
        pending::<T>().await
    };
    tokio::select! {
        biased;
        entry = record(journal, run_id, key, effect) => entry.map(Some),
        () = begun.notified() => Ok(None),
    }
}

impl Entry for Outcome {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&WireOutcome::from(self))
    }

    fn of_json(json: &str) -> serde_json::Result<Self> {
        Ok(serde_json::from_str::<WireOutcome>(json)?.into())
    }
}

/// A name or an id, or why there is none.
impl Entry for Result<String, ToolFailure> {
    fn to_json(&self) -> serde_json::Result<String> {
        self.clone().map(Payload::new).to_json()
    }

    fn of_json(json: &str) -> serde_json::Result<Self> {
        Ok(Outcome::of_json(json)?.map(|name| name.as_str().to_owned()))
    }
}

impl Entry for Result<Step, ToolFailure> {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&WireStep::from(self))
    }

    fn of_json(json: &str) -> serde_json::Result<Self> {
        Ok(serde_json::from_str::<WireStep>(json)?.into())
    }
}

macro_rules! entries {
    ($($type:ty),+) => { $(
        impl Entry for $type {
            fn to_json(&self) -> serde_json::Result<String> {
                serde_json::to_string(self)
            }

            fn of_json(json: &str) -> serde_json::Result<Self> {
                serde_json::from_str(json)
            }
        }
    )+ };
}

entries!(ApprovalRequest, Verdict, String);
