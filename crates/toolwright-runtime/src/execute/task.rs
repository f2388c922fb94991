//! Runs a call on a tokio task of its own, so that a tool that blocks does not block the future that waits for the call.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::task::{Context, Poll, ready};

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use toolwright::progress;
use tracing::{Instrument, Span};

use super::OutcomeFuture;
use super::driver::DriverGuard;
use super::occupied::OccupiedThread;

/// A call that runs on a task of its own. Dropping this drops the call at once. Only a call that is blocking its thread is
/// dropped later, when it yields.
pub(super) struct CallTask {
    shared: Arc<Shared>,
    handle: JoinHandle<<OutcomeFuture as Future>::Output>,
    _driver: DriverGuard,
}

struct Shared {
    /// Locked while the call is polled. `None` once it has ended or was cancelled.
    call: Mutex<Option<OutcomeFuture>>,
    thread: OccupiedThread,
}

impl CallTask {
    /// Starts a call, in the current span and with the current watcher of progress.
    pub(super) fn spawn(tokio: Handle, call: OutcomeFuture) -> Self {
        let call: OutcomeFuture = match progress::watcher() {
            Some(watcher) => Box::pin(progress::watch(watcher, call)),
            None => call,
        };
        let shared =
            Arc::new(Shared { call: Mutex::new(Some(call)), thread: OccupiedThread::default() });
        let polled = Arc::clone(&shared);
        let running = std::future::poll_fn(move |context| {
            let mut call = polled.call.lock().unwrap_or_else(PoisonError::into_inner);
            // The call was cancelled, and its task is about to be aborted.
            let Some(running) = call.as_mut() else { return Poll::Pending };
            let outcome = ready!(running.poll_unpin(context));
            *call = None;
            Poll::Ready(outcome)
        });
        let handle = tokio.spawn(running.instrument(Span::current()));
        Self { shared, handle, _driver: DriverGuard::new(tokio) }
    }
}

impl Future for CallTask {
    type Output = <OutcomeFuture as Future>::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match ready!(self.handle.poll_unpin(context)) {
            Ok(outcome) => Poll::Ready(outcome),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The tokio runtime shuts down and will drop this future, too.
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
                self.shared.thread.mark();
                None
            }
        };
        self.handle.abort();
        drop(call);
    }
}
