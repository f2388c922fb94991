//! Keeps tokio's timers and sockets attended while calls block threads. Never runs a call.
//!
//! One worker of a tokio runtime waits for timers and sockets on behalf of all. When it blocks in a task, no idle worker
//! takes its place before something wakes one (tokio issue 4730), so that no time limit would strike and no client be
//! heard. While calls run, a thread of ours wakes a worker every now and then.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};

/// How often an idle worker is woken, and so the longest that timers and sockets are left alone.
const BEAT: Duration = Duration::from_millis(50);

/// The tokio runtimes on which calls run. While there are any, the thread is there.
static BUSY: RwLock<Vec<Arc<Busy>>> = RwLock::new(Vec::new());

struct Busy {
    tokio: Handle,
    calls: AtomicUsize,
    /// Whether a worker was woken and is not yet awake, as where all of them block.
    waking: AtomicBool,
}

/// A call during which the timers and sockets of its tokio runtime are attended. A runtime of one thread has no other
/// that could do it.
pub(crate) struct Attended(Option<Arc<Busy>>);

impl Attended {
    pub(crate) fn on(tokio: Handle) -> Self {
        if tokio.runtime_flavor() == RuntimeFlavor::CurrentThread {
            return Self(None);
        }
        let join = |all: &[Arc<Busy>]| {
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
            let beating = thread::Builder::new().name("toolwright-driver".to_owned()).spawn(beat);
            if let Err(error) = beating {
                tracing::warn!(%error, "there is no thread to keep time limits while a tool blocks");
                return Self(None);
            }
        }
        let (calls, waking) = (AtomicUsize::new(1), AtomicBool::new(false));
        let busy = Arc::new(Busy { tokio, calls, waking });
        all.push(Arc::clone(&busy));
        Self(Some(busy))
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        if let Some(busy) = &self.0 {
            busy.calls.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Wakes a worker of each busy runtime, until none is busy.
fn beat() {
    loop {
        thread::sleep(BEAT);
        // Calls are counted under this lock, so that none is missed here.
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
