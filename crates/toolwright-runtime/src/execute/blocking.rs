//! Work that blocks, on threads that are there for it. Never runs on the threads that everything else shares.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use toolwright::progress;
use tracing::Span;

use super::occupied::Occupied;

/// The threads for blocking work of all executions that do not set
/// [their own number](super::Execute::with_blocking_threads): half of tokio's default.
pub(super) static SHARED: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(256)));

tokio::task_local! {
    /// The share of the call that runs in the task.
    static SHARE: Arc<CallShare>;
}

/// Runs work that blocks its thread, such as a long sum or a library without `async`, on a thread of tokio's for such
/// work. A time limit strikes meanwhile and other calls go on, whatever tokio runtime there is.
///
/// At most 256 of tokio's threads (512 unless the host says otherwise) are used at once, so that files and names of hosts,
/// which need them too, do not wait for tools. [`Execute::with_blocking_threads`](super::Execute::with_blocking_threads) sets
/// another share. Beyond it work waits; a call whose time is over while it waits is `unavailable`.
///
/// A call that is given up before its work has begun never begins. Work that has begun goes on to its end, and its
/// thread counts among the [`occupied_threads`](super::occupied_threads) until then.
///
/// # Panics
///
/// If the work does.
///
/// ```
/// use toolwright::ToolSpec;
/// use toolwright_runtime::FunctionTool;
/// use toolwright_runtime::execute::blocking;
///
/// let sum = FunctionTool::new(ToolSpec::new("sum"), async || {
///     blocking(|| (0..1_000_000_i64).sum::<i64>()).await
/// });
/// # let _ = sum;
/// ```
pub async fn blocking<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let share = SHARE.try_with(Arc::clone);
    let thread = share.unwrap_or_else(|_| Arc::new(CallShare::new(&SHARED))).thread().await;
    let (span, watcher) = (Span::current(), progress::watcher());
    let started = Arc::new(Started::default());
    let starting = Arc::clone(&started);
    let task = tokio::task::spawn_blocking(move || {
        let _thread = thread;
        starting.has_begun.store(true, Ordering::Relaxed);
        let _entered = span.enter();
        let Some(watcher) = watcher else { return work() };
        let result = progress::watch(watcher, async { work() }).now_or_never();
        result.expect("nothing is awaited there")
    });
    let waiting = Waiting { task: task.abort_handle(), started };
    let ended = task.await;
    drop(waiting);
    match ended.map_err(tokio::task::JoinError::try_into_panic) {
        Ok(result) => result,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The tokio runtime shuts down, and drops who waits, too.
        Err(Err(_)) => std::future::pending().await,
    }
}

/// The threads that a call may use, together with others.
pub(super) struct CallShare {
    threads: Arc<Semaphore>,
    /// The number of tasks of the call that wait for a thread.
    waiting: AtomicUsize,
}

impl CallShare {
    pub(super) fn new(threads: &Arc<Semaphore>) -> Self {
        Self { threads: Arc::clone(threads), waiting: AtomicUsize::new(0) }
    }

    /// Returns whether the call waits for a thread.
    pub(super) fn waits(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Runs a call, whose blocking work gets its threads from here.
    pub(super) async fn serve<T>(self: Arc<Self>, call: impl Future<Output = T>) -> T {
        SHARE.scope(self, call).await
    }

    async fn thread(&self) -> OwnedSemaphorePermit {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // Decremented even if this future is dropped.
        let _waiting = WaitingForThread(&self.waiting);
        let thread = Arc::clone(&self.threads).acquire_owned().await;
        thread.expect("nothing closes the semaphore")
    }
}

struct WaitingForThread<'a>(&'a AtomicUsize);

impl Drop for WaitingForThread<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Started {
    has_begun: AtomicBool,
    occupied: Occupied,
}

/// Somebody who waits for the work.
struct Waiting {
    task: AbortHandle,
    started: Arc<Started>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Only what has not begun can be aborted.
        self.task.abort();
        if self.started.has_begun.load(Ordering::Relaxed) && !self.task.is_finished() {
            self.started.occupied.give_up();
        }
    }
}
