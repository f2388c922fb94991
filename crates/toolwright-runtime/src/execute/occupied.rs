//! Counts threads whose calls were given up and have not returned. A thread is free again when its call returns.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static OCCUPIED: AtomicUsize = AtomicUsize::new(0);

/// How many threads of this process are occupied by calls that were given up and have not returned. A number that stays
/// above zero tells of a tool that blocks for good; see [`blocking`](super::blocking).
pub fn occupied_threads() -> usize {
    OCCUPIED.load(Ordering::Relaxed)
}

/// A call that may be given up while it occupies a thread. Counted from then on, until it is dropped.
#[derive(Default)]
pub(crate) struct Occupied(AtomicBool);

impl Occupied {
    /// Counts the thread, which the call occupies now, and tells operators.
    pub(crate) fn give_up(&self) {
        if !self.0.swap(true, Ordering::Relaxed) {
            let threads = OCCUPIED.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::warn!(
                threads,
                "a call was given up while it ran, and occupies its thread until it yields or returns"
            );
        }
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        if *self.0.get_mut() {
            OCCUPIED.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
