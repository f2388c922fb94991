//! Work that blocks, on threads that are there for it. Never runs on the threads that everything else shares.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use tokio::task::AbortHandle;
use toolwright::progress;
use tracing::Span;

use super::occupied::Occupied;

/// Runs work that blocks its thread, such as a long sum or a library without `async`, on a thread of tokio's for such
/// work (512 at once unless the host says otherwise). A time limit strikes meanwhile and other calls go on, whatever
/// tokio runtime there is.
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
    let (span, watcher) = (Span::current(), progress::watcher());
    let started = Arc::new(Started::default());
    let starting = Arc::clone(&started);
    let task = tokio::task::spawn_blocking(move || {
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
