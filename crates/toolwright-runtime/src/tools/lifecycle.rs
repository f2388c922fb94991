//! Guarantees that each toolset that was entered is exited exactly once.

use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use toolwright::{BoxError, BoxFuture, Scope};

use super::Toolset;

/// The time that a toolset has to exit.
const EXIT: Duration = Duration::from_mins(1);

/// A toolset that was entered. It is exited when this is closed or dropped.
pub(crate) struct EnteredToolset {
    toolset: Option<Arc<dyn Toolset>>,
    scope: Arc<Scope>,
}

/// Exits a toolset. If that takes too long, the future of the exit is dropped. One that combines toolsets limits the exit of each.
pub(crate) async fn exit(toolset: &dyn Toolset, scope: &Scope) -> Result<(), BoxError> {
    if toolset.limits_exits() {
        return toolset.exit(scope).await;
    }
    limited(toolset.exit(scope)).await
}

/// Awaits a part of an exit, for at most the time that a toolset has to exit.
pub(super) async fn limited<T>(
    exiting: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, BoxError> {
    tokio::select! {
        biased;
        exited = exiting => exited,
        // Asks for the time only if it does not exit at once: a runtime may have no timer.
        () = async { tokio::time::sleep(EXIT).await } => {
            Err(format!("it took longer than {EXIT:?} and was given up").into())
        }
    }
}

impl EnteredToolset {
    /// Enters a toolset. If the future is dropped, the toolset is still entered and then exited, so that it is never left
    /// partly entered.
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

    /// Exits the toolset. If the future is dropped, the exit still completes.
    pub(crate) async fn close(mut self) {
        if let Some(exiting) = self.take_exit() {
            shielded(exiting).await;
        }
    }

    fn take_exit(&mut self) -> Option<BoxFuture<'static, ()>> {
        let toolset = self.toolset.take()?;
        let scope = Arc::clone(&self.scope);
        Some(Box::pin(async move {
            if let Err(error) = exit(&*toolset, &scope).await {
                let run_id = scope.run_id.as_deref();
                tracing::warn!(run_id, %error, "a toolset did not exit cleanly");
            }
        }))
    }
}

impl Drop for EnteredToolset {
    fn drop(&mut self) {
        let Some(exiting) = self.take_exit() else { return };
        match Handle::try_current() {
            Ok(handle) => drop(handle.spawn(exiting)),
            // Without a tokio runtime no async code can run.
            Err(error) => tracing::error!(%error, "a toolset could not be exited"),
        }
    }
}

/// Runs a future to its end, even if the returned future is dropped after its first poll. A future that is ready at the first
/// poll needs no task.
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
                        // The task is never aborted, so it has panicked.
                        Err(error) => resume_unwind(error.into_panic()),
                    });
                }
            }
        }
    })
    .await
}

/// A shielded future: polled in place first, then on a task.
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
