//! Panics of tools, toolsets, hooks, planners and approvers, as errors with the text of the panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use toolwright::{FailureKind, Recovery, ToolFailure};

/// Calls a function, and returns the text of its panic as an error.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(text)
}

/// Returns the message of a panic. Its payload may panic when it is dropped, and the payload of that panic is leaked.
fn text(panic: Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
        .to_owned();
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(another);
    }
    text
}

/// A future that catches the panics of another one, also those of its drop. The error is the text of the panic.
pub(crate) struct Caught<F> {
    /// `None` once it has ended.
    work: Option<Pin<Box<F>>>,
}

impl<F> Caught<F> {
    pub(crate) fn new(work: F) -> Self {
        Self { work: Some(Box::pin(work)) }
    }

    fn end(&mut self) {
        let work = self.work.take();
        // The panic hook has reported the panic.
        let _ = caught(|| drop(work));
    }
}

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let polled = match caught(|| work.as_mut().poll(context)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panic) => Err(panic),
        };
        self.end();
        Poll::Ready(polled)
    }
}

impl<F> Drop for Caught<F> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Creates the failure of a panic, whose text is for operators only.
pub(crate) fn panicked(who: &str, panic: &str) -> ToolFailure {
    ToolFailure::new(FailureKind::Internal, "the tool failed internally", Recovery::Replan)
        .with_detail(format!("{who} panicked: {panic}"))
}
