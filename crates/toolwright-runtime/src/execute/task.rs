//! A call as a tokio task of its own, so that who waits for it is not stopped by a tool that blocks. Never outlives who
//! waits, unless it is blocking a thread at that moment.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::task::{Context, Poll, ready};

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use toolwright::progress;
use tracing::{Instrument, Span};

use super::OutcomeFuture;
use super::driver::Attended;
use super::occupied::Occupied;

/// A call that runs on a task of its own. Dropped, it drops the call in place, as if the call were awaited here; a call
/// that is blocking its thread is dropped when it lets go.
pub(super) struct CallTask {
    shared: Arc<Shared>,
    handle: JoinHandle<<OutcomeFuture as Future>::Output>,
    _attended: Attended,
}

struct Shared {
    /// Locked while it is polled. None once it has ended or was given up.
    call: Mutex<Option<OutcomeFuture>>,
    occupied: Occupied,
}

impl CallTask {
    /// Starts a call. It stays in the current span, and its reports of progress reach the current watcher.
    pub(super) fn spawn(tokio: Handle, call: OutcomeFuture) -> Self {
        let call: OutcomeFuture = match progress::watcher() {
            Some(watcher) => Box::pin(progress::watch(watcher, call)),
            None => call,
        };
        let shared =
            Arc::new(Shared { call: Mutex::new(Some(call)), occupied: Occupied::default() });
        let polled = Arc::clone(&shared);
        let running = std::future::poll_fn(move |context| {
            let mut call = polled.call.lock().unwrap_or_else(PoisonError::into_inner);
            // A call that was given up has a task for a moment yet, which is aborted.
            let Some(running) = call.as_mut() else { return Poll::Pending };
            let outcome = ready!(running.poll_unpin(context));
            *call = None;
            Poll::Ready(outcome)
        });
        let handle = tokio.spawn(running.instrument(Span::current()));
        Self { shared, handle, _attended: Attended::on(tokio) }
    }
}

impl Future for CallTask {
    type Output = <OutcomeFuture as Future>::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match ready!(self.handle.poll_unpin(context)) {
            Ok(outcome) => Poll::Ready(outcome),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The tokio runtime shuts down, and drops who waits, too.
                Err(_) => Poll::Pending,
            },
        }
    }
}

impl Drop for CallTask {
    fn drop(&mut self) {
        let call = match self.shared.call.try_lock() {
            Ok(mut call) => call.take(),
            Err(TryLockError::Poisoned(call)) => call.into_inner().take(),
            Err(TryLockError::WouldBlock) => {
                self.shared.occupied.give_up();
                None
            }
        };
        self.handle.abort();
        drop(call);
    }
}
