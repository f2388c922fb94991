//! A toolset that can be used until a session is stopped.

use tokio_util::sync::CancellationToken;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
};

use super::{ToolEntry, Toolset, forward};

/// The tools of a session or of a run in it. Once the session is stopped, it lists no tools and calls fail.
pub(crate) struct UntilStopped<T> {
    inner: T,
    stopped: CancellationToken,
}

impl<T> UntilStopped<T> {
    /// `stopped` is cancelled once the session is stopped.
    pub(crate) fn new(inner: T, stopped: CancellationToken) -> Self {
        Self { inner, stopped }
    }
}

impl<T: Toolset> Toolset for UntilStopped<T> {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        if self.stopped.is_cancelled() {
            return Box::pin(std::future::ready(Ok(Vec::new())));
        }
        self.inner.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if self.stopped.is_cancelled() {
            let message = format!("`{}` cannot be used: its session was stopped", call.tool());
            let failure = ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan);
            return Box::pin(std::future::ready(ToolResult::new(call, Err(failure))));
        }
        self.inner.call(call)
    }

    forward!(inner: lifecycle, instructions, is_available);
}
