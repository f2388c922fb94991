//! Where events go, without a run ever waiting for it. Never makes an event: see `event`.

use crate::debug::debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc;
use toolwright::{Scope, ToolCall, ToolFailure};

use super::event::{Event, EventKind, ToolInfo};
use crate::tools::ToolEntry;

mod sealed {
    //! Keeps sinks that could block out of runs.

    /// Taking an event takes no longer than a push.
    pub trait Prompt {}
}

/// Takes events at once. Only the sinks of this crate are: [`Collector`], [`EventSender`] and [`Background`], which
/// hands events to any function on a thread of its own.
pub trait EventSink: sealed::Prompt + Send + Sync {
    /// Takes one event.
    fn publish(&self, event: &Event);
}

/// Keeps every event.
#[derive(Debug, Default)]
pub struct Collector(Mutex<Vec<Event>>);

impl Collector {
    /// A collector of nothing yet.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What it has so far, in the order of arrival.
    pub fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl sealed::Prompt for Collector {}

impl EventSink for Collector {
    fn publish(&self, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
    }
}

/// Sends events to a receiver, which may be as slow as it likes: what finds no room is lost, and counted.
#[derive(Clone, Debug)]
pub struct EventSender {
    sender: mpsc::Sender<Event>,
    lost: Arc<AtomicU64>,
}

impl EventSender {
    /// A sink and where its events come out, with room for so many of them, at least one.
    pub fn channel(capacity: usize) -> (Self, mpsc::Receiver<Event>) {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        (Self { sender, lost: Arc::default() }, receiver)
    }

    /// How many events found no room or no receiver.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl sealed::Prompt for EventSender {}

impl EventSink for EventSender {
    fn publish(&self, event: &Event) {
        if self.sender.try_send(event.clone()).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Hands events to a function on a thread of its own. The function may block and may panic: what finds no room
/// meanwhile is lost, and counted.
pub struct Background {
    sender: SyncSender<Event>,
    lost: Arc<AtomicU64>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

debug!(Background, background => { lost: background.lost() });

impl Background {
    /// A thread that gives events to a function, with room for so many that wait.
    pub fn new(capacity: usize, function: impl FnMut(&Event) + Send + 'static) -> Arc<Self> {
        let (sender, receiver) = sync_channel(capacity.max(1));
        let thread = std::thread::spawn(move || deliver(&receiver, function));
        Arc::new(Self { sender, lost: Arc::default(), thread: Mutex::new(Some(thread)) })
    }

    /// How many events found no room.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits until the function has had every event so far. Only the last holder can: a runtime that may publish
    /// more keeps the thread going.
    pub fn finish(self: Arc<Self>) {
        let Some(last) = Arc::into_inner(self) else { return };
        let Self { sender, thread, .. } = last;
        drop(sender);
        let thread = thread.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Panics of the function were caught on the thread.
        let _ = thread.map(JoinHandle::join);
    }
}

fn deliver(receiver: &Receiver<Event>, mut function: impl FnMut(&Event)) {
    while let Ok(event) = receiver.recv() {
        // The panic hook has told the operator; the events after this one still come.
        let _ = catch_unwind(AssertUnwindSafe(|| function(&event)));
    }
}

impl sealed::Prompt for Background {}

impl EventSink for Background {
    fn publish(&self, event: &Event) {
        match self.sender.try_send(event.clone()) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Publishes the events of one run: to the runtime's sink, and to the run's own.
#[derive(Clone)]
pub(crate) struct Publisher {
    pub(crate) agent: Option<Arc<str>>,
    pub(crate) scope: Arc<Scope>,
    pub(crate) sequence: Arc<AtomicU64>,
    pub(crate) sinks: [Option<Arc<dyn EventSink>>; 2],
}

impl Publisher {
    /// Says that another attempt at a call follows: how many have failed, and how long the next one waits.
    pub(crate) fn retried(
        &self,
        tool: &ToolEntry,
        call: &ToolCall,
        failure: &ToolFailure,
        (attempt, delay): (u32, Duration),
    ) {
        self.publish(|| EventKind::ToolCallRetried {
            call_id: call.id().to_owned(),
            tool: ToolInfo::new(tool.name(), Some(tool)),
            attempt,
            failure: failure.clone(),
            delay,
        });
    }

    /// Publishes what `kind` makes, which is not asked when nobody watches.
    pub(crate) fn publish(&self, kind: impl FnOnce() -> EventKind) {
        if self.sinks.iter().all(Option::is_none) {
            return;
        }
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let (agent, scope) = (self.agent.clone(), Arc::clone(&self.scope));
        let event = Event { sequence, agent, scope, kind: kind() };
        for sink in self.sinks.iter().flatten() {
            sink.publish(&event);
        }
    }
}
