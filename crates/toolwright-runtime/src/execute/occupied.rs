//! Counts the threads that are still occupied by cancelled calls.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static OCCUPIED: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of threads of this process that are occupied by calls that were cancelled and have not returned yet. If
/// it stays above zero, a tool blocks forever; see [`blocking`](super::blocking).
pub fn occupied_threads() -> usize {
    OCCUPIED.load(Ordering::Relaxed)
}

/// A thread of a call that may be cancelled while it runs. Counted from [`mark`](Self::mark) until it is dropped.
#[derive(Default)]
pub(crate) struct OccupiedThread(AtomicBool);

impl OccupiedThread {
    /// Counts the thread as occupied, and logs a warning.
    pub(crate) fn mark(&self) {
        if !self.0.swap(true, Ordering::Relaxed) {
            let threads = OCCUPIED.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::warn!(
                threads,
                "a call was cancelled while it ran, and occupies its thread until it yields or returns"
            );
        }
    }
}

impl Drop for OccupiedThread {
    fn drop(&mut self) {
        if *self.0.get_mut() {
            OCCUPIED.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
