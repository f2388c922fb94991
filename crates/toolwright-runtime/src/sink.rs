//! Where events go. Never makes one: see `event`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use crate::event::{Event, EventKind, Origin};

/// Takes events.
///
/// An event is published on the run's own task, before the run goes on; so a sink hands slow work
/// over, for instance with [`channel`], and returns at once. A sink that panics loses that event and
/// harms nothing else.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn publish(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync> EventSink for F {
    fn publish(&self, event: &Event) {
        self(event);
    }
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

impl EventSink for Collector {
    fn publish(&self, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
    }
}

/// Sends every event to a receiver, which may be as slow as it likes: nothing waits for it.
#[derive(Clone, Debug)]
pub struct EventSender(mpsc::UnboundedSender<Event>);

/// A sink and where its events come out. A dropped receiver makes the sink drop events.
pub fn channel() -> (EventSender, mpsc::UnboundedReceiver<Event>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (EventSender(sender), receiver)
}

impl EventSink for EventSender {
    fn publish(&self, event: &Event) {
        // Nobody listens any more: the event has nowhere to go.
        let _ = self.0.send(event.clone());
    }
}

/// Publishes the events of one run: to the runtime's sink, and to the run's own.
#[derive(Clone)]
pub(crate) struct Publisher {
    pub(crate) origin: Arc<Origin>,
    pub(crate) sequence: Arc<AtomicU64>,
    pub(crate) sinks: [Option<Arc<dyn EventSink>>; 2],
}

impl Publisher {
    /// Publishes what `kind` makes, which is not asked when nobody watches.
    pub(crate) fn publish(&self, kind: impl FnOnce() -> EventKind) {
        if self.sinks.iter().all(Option::is_none) {
            return;
        }
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let event = Event { sequence, origin: Origin::clone(&self.origin), kind: kind() };
        for sink in self.sinks.iter().flatten() {
            // The panic hook has told the operator; the run must not end for it.
            let _ = catch_unwind(AssertUnwindSafe(|| sink.publish(&event)));
        }
    }
}
