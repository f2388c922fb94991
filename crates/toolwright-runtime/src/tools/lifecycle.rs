//! Exits whatever a run enters, exactly once, however the run ends. Never decides what is entered.

use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use toolwright::{BoxError, BoxFuture, Scope};

use super::Toolset;

/// A toolset that a run has entered. It is exited when this is closed or dropped, whichever comes first.
pub(crate) struct Entered {
    toolset: Option<Arc<dyn Toolset>>,
    scope: Arc<Scope>,
}

impl Entered {
    /// Enters a toolset. Given up meanwhile, the entering goes on to its end and is followed by the exit: a toolset is
    /// never left half entered.
    pub(crate) async fn enter(
        toolset: Arc<dyn Toolset>,
        scope: Arc<Scope>,
    ) -> Result<Self, BoxError> {
        let entering = async move {
            toolset.enter(&scope).await?;
            Ok(Self { toolset: Some(toolset), scope })
        };
        shielded(Box::pin(entering)).await
    }

    /// Exits. Given up meanwhile, the exit goes on to its end.
    pub(crate) async fn close(mut self) {
        if let Some(exiting) = self.take_exit() {
            shielded(exiting).await;
        }
    }

    fn take_exit(&mut self) -> Option<BoxFuture<'static, ()>> {
        let toolset = self.toolset.take()?;
        let scope = Arc::clone(&self.scope);
        Some(Box::pin(async move {
            if let Err(error) = toolset.exit(&scope).await {
                let run_id = scope.run_id.as_deref();
                tracing::warn!(run_id, %error, "a toolset did not exit cleanly");
            }
        }))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let Some(exiting) = self.take_exit() else { return };
        match Handle::try_current() {
            Ok(handle) => drop(handle.spawn(exiting)),
            // Without a runtime nothing async can be done any more.
            Err(error) => tracing::error!(%error, "a toolset could not be exited"),
        }
    }
}

/// Runs a future to its end even if this one is dropped once it was polled. What is ready at once costs no task.
pub(crate) async fn shielded<T: Send + 'static>(future: BoxFuture<'static, T>) -> T {
    let mut state = Shield::Inline(future);
    poll_fn(move |context| {
        loop {
            match &mut state {
                Shield::Inline(future) => match future.as_mut().poll(context) {
                    Poll::Ready(value) => return Poll::Ready(value),
                    Poll::Pending => state.detach(),
                },
                Shield::Detached(task) => {
                    return Pin::new(task).poll(context).map(|ended| match ended {
                        Ok(value) => value,
                        // Nobody aborts the task, so it has panicked.
                        Err(error) => resume_unwind(error.into_panic()),
                    });
                }
            }
        }
    })
    .await
}

/// A shielded future, before and after it needed a task of its own.
enum Shield<T> {
    Inline(BoxFuture<'static, T>),
    Detached(JoinHandle<T>),
}

impl<T: Send + 'static> Shield<T> {
    fn detach(&mut self) {
        let placeholder = Self::Inline(Box::pin(std::future::pending()));
        if let Self::Inline(future) = std::mem::replace(self, placeholder) {
            *self = Self::Detached(tokio::spawn(future));
        }
    }
}
