//! Keeps tokio's timers and sockets working while calls block threads.
//!
//! One worker of a tokio runtime polls timers and sockets for all. If it blocks in a task, no idle worker takes over until
//! something wakes one (tokio issue 4730). Until then time limits do not apply and requests are not read. While calls run, a
//! thread of this module wakes a worker at intervals.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};

/// The interval in which an idle worker is woken. Timers and sockets are late by at most this time.
const WAKE_INTERVAL: Duration = Duration::from_millis(50);

/// The tokio runtimes on which calls run. The thread runs while there are any.
static BUSY: RwLock<Vec<Arc<BusyRuntime>>> = RwLock::new(Vec::new());

struct BusyRuntime {
    tokio: Handle,
    calls: AtomicUsize,
    /// True if a worker was woken and has not run yet, because all workers block.
    waking: AtomicBool,
}

/// Keeps the timers and sockets of a tokio runtime working until it is dropped. Does nothing on a runtime with a single
/// thread, which has no other worker to wake.
pub(crate) struct DriverGuard(Option<Arc<BusyRuntime>>);

impl DriverGuard {
    pub(crate) fn new(tokio: Handle) -> Self {
        if tokio.runtime_flavor() == RuntimeFlavor::CurrentThread {
            return Self(None);
        }
        let join = |all: &[Arc<BusyRuntime>]| {
            let busy = all.iter().find(|busy| busy.tokio.id() == tokio.id())?;
            busy.calls.fetch_add(1, Ordering::Relaxed);
            Some(Arc::clone(busy))
        };
        if let Some(busy) = join(&BUSY.read().unwrap_or_else(PoisonError::into_inner)) {
            return Self(Some(busy));
        }
        let mut all = BUSY.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(busy) = join(&all) {
            return Self(Some(busy));
        }
        if all.is_empty() {
            let waking = thread::Builder::new().name("toolwright-driver".to_owned());
            if let Err(error) = waking.spawn(wake_workers) {
                tracing::warn!(%error, "the thread that keeps timers working while tools block was not started");
                return Self(None);
            }
        }
        let (calls, waking) = (AtomicUsize::new(1), AtomicBool::new(false));
        let busy = Arc::new(BusyRuntime { tokio, calls, waking });
        all.push(Arc::clone(&busy));
        Self(Some(busy))
    }
}

impl Drop for DriverGuard {
    fn drop(&mut self) {
        if let Some(busy) = &self.0 {
            busy.calls.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Wakes a worker of each busy runtime at intervals, until no runtime is busy.
fn wake_workers() {
    loop {
        thread::sleep(WAKE_INTERVAL);
        // Calls are counted under this lock, so that no new call is missed.
        let mut all = BUSY.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|busy| busy.calls.load(Ordering::Relaxed) > 0);
        if all.is_empty() {
            return;
        }
        for busy in all.iter().filter(|busy| !busy.waking.swap(true, Ordering::Relaxed)) {
            let woken = Arc::clone(busy);
            busy.tokio.spawn(async move { woken.waking.store(false, Ordering::Relaxed) });
        }
    }
}
