//! Event sinks. A run never waits for a sink.

use crate::caught::caught;
use crate::debug::debug;
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
    //! Seals [`EventSink`](super::EventSink), since other sinks could block runs.

    /// Implemented by sinks that never block.
    pub trait NonBlocking {}
}

/// Receives events without blocking. Sealed: the sinks are [`Collector`], [`EventSender`] and [`Background`], which passes
/// events to any function on a thread of its own.
pub trait EventSink: sealed::NonBlocking + Send + Sync {
    /// Receives an event.
    fn publish(&self, event: &Event);
}

/// Collects all events in memory.
#[derive(Debug, Default)]
pub struct Collector(Mutex<Vec<Event>>);

impl Collector {
    /// Creates an empty collector.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Returns the events so far, in order of arrival.
    pub fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the events since the last call of this, and forgets them.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl sealed::NonBlocking for Collector {}

impl EventSink for Collector {
    fn publish(&self, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
    }
}

/// Sends events to a channel. Events that do not fit into the channel are lost and counted.
#[derive(Clone, Debug)]
pub struct EventSender {
    sender: mpsc::Sender<Event>,
    lost: Arc<AtomicU64>,
}

impl EventSender {
    /// Creates a sink and the receiver of its events. The capacity is at least one.
    pub fn channel(capacity: usize) -> (Self, mpsc::Receiver<Event>) {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        (Self { sender, lost: Arc::default() }, receiver)
    }

    /// Returns the number of events that were lost, because the channel was full or the receiver was dropped.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl sealed::NonBlocking for EventSender {}

impl EventSink for EventSender {
    fn publish(&self, event: &Event) {
        if self.sender.try_send(event.clone()).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Passes events to a function on a thread of its own. The function may block and panic. Events that do not fit into the queue
/// are lost and counted.
pub struct Background {
    sender: SyncSender<Event>,
    lost: Arc<AtomicU64>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

debug!(Background, background => { lost: background.lost() });

impl Background {
    /// Starts the thread. The capacity of the queue is at least one.
    pub fn new(capacity: usize, function: impl FnMut(&Event) + Send + 'static) -> Arc<Self> {
        let (sender, receiver) = sync_channel(capacity.max(1));
        let thread = std::thread::spawn(move || deliver(&receiver, function));
        Arc::new(Self { sender, lost: Arc::default(), thread: Mutex::new(Some(thread)) })
    }

    /// Returns the number of events that were lost because the queue was full.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits until the function was called for every event. Does nothing if there are other references, such as that of a
    /// runtime, which may publish more events.
    pub fn finish(self: Arc<Self>) {
        let Some(last) = Arc::into_inner(self) else { return };
        let Self { sender, thread, .. } = last;
        drop(sender);
        let thread = thread.into_inner().unwrap_or_else(PoisonError::into_inner);
        // The thread catches panics of the function.
        let _ = thread.map(JoinHandle::join);
    }
}

fn deliver(receiver: &Receiver<Event>, mut function: impl FnMut(&Event)) {
    while let Ok(event) = receiver.recv() {
        // The panic hook has reported the panic. Later events are still delivered.
        let _ = caught(|| function(&event));
    }
}

impl sealed::NonBlocking for Background {}

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

/// Publishes the events of a run to the sink of the runtime and the sink of the run.
#[derive(Clone)]
pub(crate) struct Publisher {
    pub(crate) agent: Option<Arc<str>>,
    pub(crate) scope: Arc<Scope>,
    pub(crate) sequence: Arc<AtomicU64>,
    pub(crate) sinks: [Option<Arc<dyn EventSink>>; 2],
}

impl Publisher {
    /// Publishes that an attempt at a call failed and another attempt follows, with the number of failed attempts and the wait.
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

    /// Publishes an event. `kind` is not called if there is no sink.
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
