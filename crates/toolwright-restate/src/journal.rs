//! Runs a future of the runtime in a handler so that Restate records its effects, and replays them after a crash.
//!
//! The runtime asks its [`Journal`] for each effect under a key. Restate's journal has no keys: it is a sequence, and a repeated
//! handler must make the same steps. So the steps here are all alike: each records a *batch* of the effects that have ended
//! since the last one. A repeated handler gets the batches first, without running an effect, and then goes on. Effects that run at
//! the same time may end in any order, and none waits for another to be recorded.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::future::{pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use restate_sdk::context::RunFuture;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerError, TerminalError};
use restate_sdk::serde::Json;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};
use tokio::task::coop::unconstrained;
use toolwright::{BoxError, BoxFuture};
use toolwright_runtime::{Collector, Event, EventKind, Journal, SuspendedRunStore};

/// The time between two empty batches of a waiting run, which show the server that it is alive.
const HEARTBEAT: Duration = Duration::from_mins(4);

/// The most bytes of the entries of a batch, and of the end of a run. A Restate server carries messages of 32 MiB unless it is
/// set otherwise, and a batch may have both.
const MAX_BATCH: usize = 12 << 20;

tokio::task_local! {
    /// The record of the handler that this task runs.
    static RECORD: Arc<Record>;
}

/// The journal, store and clock of a worker's runtime. Effects outside of handlers of runs are not recorded.
pub(crate) struct Replayed;

/// The effects of a run: those that have entries, and those that have ended since the last batch.
pub(crate) struct Record {
    state: Mutex<State>,
    /// Grows when entries arrive, and when effects may run.
    version: watch::Sender<u64>,
    /// Notified when an effect has ended or a run does.
    ended: Notify,
    /// The events since the last batch, in a replay those since its beginning.
    events: Arc<Collector>,
    /// The time by which answers are checked, in milliseconds since 1970; 0 for the system clock.
    now: AtomicU64,
    /// True once the handler was dropped before its run ended, so that another attempt goes on.
    is_abandoned: AtomicBool,
}

#[derive(Default)]
struct State {
    entries: BTreeMap<(String, String), Entry>,
    batch: Batch,
    /// The effects that run or wait to run, by run and key.
    waiting: Vec<(String, String)>,
    /// The number of the next lines that are in batches of earlier attempts.
    repeated: usize,
    /// True once all batches of earlier attempts were replayed, so that effects run.
    is_live: bool,
}

/// The value of an effect as JSON, or an error if it is too large.
type Entry = Result<String, TooLarge>;

/// The value of an effect does not fit into a batch.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct TooLarge;

/// The record of a step of the handler.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// The entries of effects that have ended, by run and key.
    entries: Vec<(String, String, Entry)>,
    /// The events since the last batch, as lines of the log.
    pub(crate) events: Vec<Line>,
    /// The end of the driven future, as JSON.
    ended: Option<String>,
    /// True if the run was cancelled.
    is_cancelled: bool,
    /// When it was recorded, in milliseconds since 1970.
    pub(crate) at: u64,
}

/// A line of a run's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The name of the event's kind: [`EventKind::as_str`](toolwright_runtime::EventKind::as_str).
    pub event: String,
    /// The run, which may be a child run.
    pub run_id: String,
    /// The agent of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The call, if the event is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The kind of the failure, if the event tells of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Line {
    /// Returns the line of an event; `None` for those of effects, which a replay does not have.
    fn of(event: &Event) -> Option<Self> {
        use EventKind::{
            ApprovalAnswered, ApprovalRequested, Model, RunFinished, ToolCallRetried,
            ToolCallScheduled, ToolResultReceived,
        };
        let (call_id, tool, failure) = match &event.kind {
            Model(_) | ToolCallRetried { .. } => return None,
            ApprovalRequested { request } | ApprovalAnswered { request, .. } => {
                (Some(request.call_id.as_str()), Some(request.tool.as_str()), None)
            }
            ToolCallScheduled { call, tool } => (Some(call.id()), Some(tool.name()), None),
            ToolResultReceived { call_id, tool, outcome, .. } => {
                (Some(call_id.as_str()), Some(tool.name()), outcome.as_ref().err())
            }
            RunFinished { result, .. } => (None, None, result.as_ref().err()),
            _ => (None, None, None),
        };
        Some(Self {
            event: event.kind.as_str().to_owned(),
            run_id: event.run_id().to_owned(),
            agent: event.agent.as_deref().map(str::to_owned),
            call_id: call_id.map(str::to_owned),
            tool: tool.map(str::to_owned),
            failure: failure.map(|failure| failure.kind.as_str().to_owned()),
        })
    }
}

/// The end of a driven future.
pub(crate) struct Driven<T> {
    /// Its value in this attempt; `None` if its end was recorded by an earlier one.
    pub(crate) value: Option<T>,
    /// Its end as it was recorded.
    pub(crate) ended: String,
    /// When its end was recorded, in milliseconds since 1970.
    pub(crate) at: u64,
}

impl Record {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            version: watch::channel(0).0,
            ended: Notify::new(),
            events: Collector::new(),
            now: AtomicU64::new(0),
            is_abandoned: AtomicBool::new(false),
        })
    }

    /// Returns the sink for the events of the run.
    pub(crate) fn events(&self) -> Arc<Collector> {
        Arc::clone(&self.events)
    }

    /// Sets the time by which answers are checked, until the first effect.
    pub(crate) fn set_now(&self, at: u64) {
        self.now.store(at, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entry(&self, name: &(String, String)) -> Option<Entry> {
        self.state().entries.get(name).cloned()
    }

    fn is_live(&self) -> bool {
        self.state().is_live
    }

    /// Returns whether effects wait only for entries that were not delivered yet. One whose entry was delivered goes on when it is
    /// polled, which may take several turns of the task.
    fn needs_entries(&self) -> bool {
        let state = self.state();
        !state.waiting.is_empty()
            && state.waiting.iter().all(|name| !state.entries.contains_key(name))
    }

    /// Returns what has ended since the last batch, if this is not a replay.
    fn take(&self, mark: impl FnOnce(&mut Batch)) -> Batch {
        let mut state = self.state();
        state.is_live = true;
        let mut batch = std::mem::take(&mut state.batch);
        let mut bytes = 0;
        let does_not_fit = |(.., entry): &(_, _, Entry)| {
            bytes += entry.as_deref().map_or(0, recorded_bytes);
            bytes > MAX_BATCH
        };
        if let Some(fitting) = batch.entries.iter().position(does_not_fit) {
            // The rest goes into the next batch.
            state.batch.entries = batch.entries.split_off(fitting);
            self.ended.notify_one();
        }
        let mut lines: Vec<_> = self.events.take().iter().filter_map(Line::of).collect();
        let repeated = state.repeated.min(lines.len());
        state.repeated -= repeated;
        batch.events = lines.split_off(repeated);
        batch.at = now();
        mark(&mut batch);
        batch
    }

    /// Gives the entries of a batch to the effects that wait for them.
    fn deliver(&self, batch: &Batch) {
        let mut state = self.state();
        for (run, key, entry) in &batch.entries {
            state.entries.insert((run.clone(), key.clone()), entry.clone());
        }
        if !state.is_live {
            state.repeated += batch.events.len();
        }
        drop(state);
        self.version.send_modify(|version| *version += 1);
    }

    /// Runs a future to its end. `end` returns its end as JSON, which is recorded with the last batch. `log` gets the lines of
    /// each batch. Once a future of `cancelled` has ended, that is recorded, too, and `cancel` is called, which must end the future.
    pub(crate) async fn drive<T, C: Future + Send>(
        self: &Arc<Self>,
        context: &ContextInternal,
        running: impl Future<Output = T> + Send,
        end: impl Fn(&T) -> String + Send + Sync,
        log: &mut (impl FnMut(&[Line]) + Send),
        cancelling: (impl Fn() -> C + Send + Sync, impl Fn() + Send + Sync),
    ) -> Result<Driven<T>, TerminalError>
    where
        T: Send + Sync,
    {
        let running = pin!(RECORD.scope(Arc::clone(self), running));
        // If this future is dropped, then before the calls of `running`.
        let mut abandoning = Abandoning(Some(self));
        let driven = self.drive_pinned(context, running, end, log, cancelling).await;
        abandoning.0 = None;
        driven
    }

    async fn drive_pinned<T, C: Future + Send>(
        &self,
        context: &ContextInternal,
        mut running: Pin<&mut (impl Future<Output = T> + Send)>,
        end: impl Fn(&T) -> String + Send + Sync,
        log: &mut (impl FnMut(&[Line]) + Send),
        (cancelled, cancel): (impl Fn() -> C + Send + Sync, impl Fn() + Send + Sync),
    ) -> Result<Driven<T>, TerminalError>
    where
        T: Send + Sync,
    {
        let mut value = None;
        let mut is_cancelled = false;
        loop {
            if value.is_some() {
            } else if !self.is_live() {
                // Then the next batch is replayed, or effects may run.
                value = self.until_entries_are_needed(running.as_mut()).await;
            } else {
                let ended = self.ended.notified();
                tokio::select! {
                    biased;
                    ended = &mut running => value = Some(ended),
                    () = ended => {}
                    _ = cancelled(), if !is_cancelled => is_cancelled = true,
                    () = tokio::time::sleep(HEARTBEAT) => {}
                }
            }
            let ended = value.as_ref().map(&end);
            let recording = context.run(|| {
                let batch = self.take(|batch| {
                    (batch.ended, batch.is_cancelled) = (ended, is_cancelled);
                });
                ready(Ok::<_, HandlerError>(Json(batch)))
            });
            let Json(batch) = recording.name("effects").await?;
            log(&batch.events);
            self.deliver(&batch);
            if batch.is_cancelled {
                is_cancelled = true;
                cancel();
            }
            if let Some(ended) = batch.ended {
                if value.is_none() {
                    value = self.until_entries_are_needed(running).await;
                }
                return Ok(Driven { value, ended, at: batch.at });
            }
        }
    }

    /// Polls a future until it ends or needs an entry that was not delivered. Returns its value if it has ended.
    async fn until_entries_are_needed<T>(
        &self,
        mut running: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> Option<T> {
        // A `select!` of a task that has had its turn polls nothing, so entries that were delivered would be missed.
        unconstrained(poll_fn(|cx| match running.as_mut().poll(cx) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending if self.needs_entries() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }))
        .await
    }
}

/// Marks a record as abandoned when it is dropped, unless its run has ended.
struct Abandoning<'a>(Option<&'a Record>);

impl Drop for Abandoning<'_> {
    fn drop(&mut self) {
        if let Some(record) = self.0 {
            record.is_abandoned.store(true, Ordering::Relaxed);
        }
    }
}

/// Returns whether the handler of this task is dropped before its run has ended. Its calls must not be cancelled then: the next attempt
/// waits for them.
pub(crate) fn is_abandoned() -> bool {
    RECORD.try_with(|record| record.is_abandoned.load(Ordering::Relaxed)).unwrap_or(false)
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time of the runtime's clock: while the answers to a run are checked, that at which it was suspended, so that a
/// repeated run accepts them, too. Answers that came too late are not passed on.
pub(crate) fn clock() -> SystemTime {
    let recorded = RECORD.try_with(|record| record.now.load(Ordering::Relaxed)).unwrap_or(0);
    match recorded {
        0 => SystemTime::now(),
        at => UNIX_EPOCH + Duration::from_millis(at),
    }
}

/// Lists an effect that runs or waits to run.
struct Waiting<'a>(&'a Record, &'a (String, String));

impl<'a> Waiting<'a> {
    fn new(record: &'a Record, name: &'a (String, String)) -> Self {
        record.state().waiting.push(name.clone());
        Self(record, name)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let waiting = &mut self.0.state().waiting;
        if let Some(index) = waiting.iter().position(|name| name == self.1) {
            waiting.swap_remove(index);
        }
    }
}

/// Returns the bytes that a text takes in a batch, which is JSON.
fn recorded_bytes(entry: &str) -> usize {
    serde_json::to_string(entry).map_or(0, |json| json.len())
}

/// Returns whether a text fits into a batch.
pub(crate) fn is_recordable(entry: &str) -> bool {
    recorded_bytes(entry) <= MAX_BATCH
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it is larger than {MAX_BATCH} bytes of JSON and cannot be recorded, so ask for less"
        )
    }
}

impl Error for TooLarge {}

/// Returns whether an effect only looks at what is there, so that it need not be recorded before the run goes on.
fn is_derived(key: &str) -> bool {
    key.starts_with("tool/")
}

impl Journal for Replayed {
    fn record<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
        effect: BoxFuture<'a, String>,
    ) -> BoxFuture<'a, Result<String, BoxError>> {
        let Ok(record) = RECORD.try_with(Arc::clone) else {
            return Box::pin(async move { Ok(effect.await) });
        };
        record.set_now(0);
        Box::pin(async move {
            let name = (run_id.to_owned(), key.to_owned());
            let _waiting = Waiting::new(&record, &name);
            let mut version = record.version.subscribe();
            loop {
                if let Some(entry) = record.entry(&name) {
                    return Ok(entry?);
                }
                if record.is_live() {
                    break;
                }
                version.changed().await?;
            }
            let entry = Some(effect.await).filter(|entry| is_recordable(entry)).ok_or(TooLarge);
            let ended = (run_id.to_owned(), key.to_owned(), entry.clone());
            record.state().batch.entries.push(ended);
            if !is_derived(key) {
                record.ended.notify_one();
                while record.entry(&name).is_none() {
                    version.changed().await?;
                }
            }
            Ok(entry?)
        })
    }

    fn find<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
        let name = (run_id.to_owned(), key.to_owned());
        let found = RECORD.try_with(|record| record.entry(&name)).ok().flatten();
        Box::pin(ready(found.transpose().map_err(Into::into)))
    }

    fn replayed<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<String, BoxError>> {
        let Ok(record) = RECORD.try_with(Arc::clone) else { return Box::pin(pending()) };
        let waiting = async move {
            let name = (run_id.to_owned(), key.to_owned());
            let mut version = record.version.subscribe();
            loop {
                if let Some(entry) = record.entry(&name) {
                    return Ok(entry?);
                }
                version.changed().await?;
            }
        };
        // The entry must be seen before effects may run, even if this task has had its turn.
        Box::pin(unconstrained(waiting))
    }
}

/// A run in a handler is exported nowhere, and its answers are promises, each of which is resolved once.
impl SuspendedRunStore for Replayed {
    fn put<'a>(
        &'a self,
        _: &'a str,
        _: &'a [u8],
        _: u64,
        _: u64,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(ready(Err("the runtime of a worker exports no runs; Restate keeps them".into())))
    }

    fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, BoxError>> {
        Box::pin(ready(Ok(None)))
    }

    fn mark_answered<'a>(
        &'a self,
        _: &'a [(&'a str, u64)],
        _: u64,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
        Box::pin(ready(Ok(None)))
    }
}
