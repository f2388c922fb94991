//! The one place where a run gets something from outside itself: what the planner decides, what a call gives, what is
//! asked and answered, fresh ids. Never decides anything.

use toolwright::{BoxError, BoxFuture, Outcome, ToolFailure};

use super::dispatch::Dispatcher;
use crate::agent::Step;
use crate::approval::{ApprovalRequest, Verdict};
use crate::wire::{WireOutcome, WireStep};

/// Keeps what runs get from outside, so that a run can be made again: with the same journal it takes the same way, and
/// asks and calls nobody whose answer was kept.
///
/// A key is unique in its run, and the same each time the run is made: `step/0` is what the planner decided first,
/// `call/<id>` the outcome of a call, `call/<id>/before` and `call/<id>/after` what hooks made of its arguments and
/// outcome, `call/<id>/question` what an approver is asked, with its id and time, `call/<id>/answer` what was answered,
/// and `call/<id>/run/1` the id of the run that answers the call in its first attempt. A run is known by its id: give
/// requests one, since an id that was made for a run is another each time.
///
/// Toolsets are listed, entered and exited each time, and a time budget begins anew.
pub trait Journal: Send + Sync {
    /// What was kept under a key of a run, or else what the effect gives, once it is kept. Entries are JSON.
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

impl Dispatcher {
    /// What an effect gives, from the journal if it is kept there.
    pub(super) async fn effect<T: Entry>(
        &self,
        key: impl FnOnce() -> String,
        effect: impl Future<Output = T> + Send,
    ) -> Result<T, ToolFailure> {
        let Some(journal) = &self.environment.journal else { return Ok(effect.await) };
        let (key, effect) = (key(), async { effect.await.to_json().unwrap_or_default() });
        let kept = journal.record(&self.publisher.run.id, &key, Box::pin(effect)).await;
        let entry = kept.and_then(|kept| Ok(T::of_json(&kept)?));
        entry.map_err(|error| {
            ToolFailure::internal(&*error).with_detail(format!("journal entry `{key}`: {error}"))
        })
    }

    /// As [`effect`](Self::effect), of what may fail itself.
    pub(super) async fn fallible<T>(
        &self,
        key: impl FnOnce() -> String,
        effect: impl Future<Output = Result<T, ToolFailure>> + Send,
    ) -> Result<T, ToolFailure>
    where
        Result<T, ToolFailure>: Entry,
    {
        self.effect(key, effect).await?
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
