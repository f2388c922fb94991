//! Runs blocking work of tools on tokio's threads for blocking work, up to a limit.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use toolwright::progress;
use tracing::Span;

use super::occupied::OccupiedThread;

/// The threads of all [`ExecutionService`](super::ExecutionService)s without [a limit of their own](super::ExecutionService::with_blocking_threads):
/// half of tokio's default.
pub(super) static DEFAULT_THREADS: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(256)));

tokio::task_local! {
    /// The threads for the call that the task runs.
    static CALL_THREADS: Arc<CallThreads>;
}

/// Runs work that blocks its thread, such as a long computation or a library without `async`, on one of tokio's threads for
/// blocking work. Meanwhile other calls run and time limits apply, on every kind of tokio runtime.
///
/// At most 256 of these threads are used at once. Tokio has 512 by default, which file access and name resolution use, too.
/// [`ExecutionService::with_blocking_threads`](super::ExecutionService::with_blocking_threads) sets another limit. Further work waits for a
/// thread. If the time limit of a call ends while its first work waits, the call fails as `unavailable` if its tool may run again: one
/// that is read-only or idempotent, or whose executor has resumable calls. Any other call fails as one whose limit ends, since it may
/// have changed something before its work.
///
/// If a call is cancelled before its work begins, the work is not run. Work that has begun runs to its end, and until then its
/// thread is one of the [`occupied_threads`](super::occupied_threads).
///
/// # Panics
///
/// Panics if the work panics.
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
    let threads = CALL_THREADS.try_with(Arc::clone);
    let threads = threads.unwrap_or_else(|_| Arc::new(CallThreads::new(&DEFAULT_THREADS)));
    let thread = threads.acquire().await;
    let (span, watcher) = (Span::current(), progress::watcher());
    let started = Arc::new(Started::default());
    let starting = Arc::clone(&started);
    let task = tokio::task::spawn_blocking(move || {
        let _thread = thread;
        starting.has_begun.store(true, Ordering::Relaxed);
        let _entered = span.enter();
        let Some(watcher) = watcher else { return work() };
        let result = progress::watch(watcher, async { work() }).now_or_never();
        result.expect("the future awaits nothing")
    });
    let waiting = Waiting { task: task.abort_handle(), started };
    let ended = task.await;
    drop(waiting);
    match ended.map_err(tokio::task::JoinError::try_into_panic) {
        Ok(result) => result,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The tokio runtime shuts down and will drop this future, too.
        Err(Err(_)) => std::future::pending().await,
    }
}

/// The threads for blocking work of one call, which it shares with other calls.
pub(crate) struct CallThreads {
    threads: Arc<Semaphore>,
    /// The threads of the peer that makes the call, if one does.
    of_peer: Option<Arc<Semaphore>>,
    /// The number of tasks of the call that wait for a thread.
    waiting: AtomicUsize,
    /// True once the call did something other than to wait for its first thread.
    has_begun: AtomicBool,
}

impl CallThreads {
    pub(super) fn new(threads: &Arc<Semaphore>) -> Self {
        Self {
            threads: Arc::clone(threads),
            // A runtime may execute the call of a peer.
            of_peer: CALL_THREADS.try_with(|outer| outer.of_peer.clone()).ok().flatten(),
            waiting: AtomicUsize::new(0),
            has_begun: AtomicBool::new(false),
        }
    }

    /// The default threads, of which the calls of a peer use only so many at once.
    #[cfg(all(feature = "remote", unix))]
    pub(crate) fn of_peer(threads: &Arc<Semaphore>) -> Self {
        Self { of_peer: Some(Arc::clone(threads)), ..Self::new(&DEFAULT_THREADS) }
    }

    /// Returns whether the call waits for a thread, and had no thread before.
    pub(super) fn is_waiting_to_begin(&self) -> bool {
        self.is_waiting() && !self.has_begun.load(Ordering::Relaxed)
    }

    fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Runs a call that takes its threads for blocking work from here.
    pub(crate) async fn scope<T>(self: Arc<Self>, call: impl Future<Output = T>) -> T {
        let mut call = pin!(CALL_THREADS.scope(Arc::clone(&self), call));
        poll_fn(|context| {
            let polled = call.as_mut().poll(context);
            if !self.is_waiting() {
                self.has_begun.store(true, Ordering::Relaxed);
            }
            polled
        })
        .await
    }

    async fn acquire(&self) -> (Option<OwnedSemaphorePermit>, OwnedSemaphorePermit) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // Decremented even if this future is dropped.
        let _waiting = WaitingForThread(&self.waiting);
        let of_peer = match &self.of_peer {
            Some(threads) => Some(acquire_from(threads).await),
            None => None,
        };
        let thread = acquire_from(&self.threads).await;
        self.has_begun.store(true, Ordering::Relaxed);
        (of_peer, thread)
    }
}

async fn acquire_from(threads: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let thread = Arc::clone(threads).acquire_owned().await;
    thread.expect("nothing closes the semaphore")
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
    thread: OccupiedThread,
}

/// Cancels the work when the call that waits for it is dropped.
struct Waiting {
    task: AbortHandle,
    started: Arc<Started>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Only work that has not begun can be aborted.
        self.task.abort();
        if self.started.has_begun.load(Ordering::Relaxed) && !self.task.is_finished() {
            self.started.thread.mark();
        }
    }
}
