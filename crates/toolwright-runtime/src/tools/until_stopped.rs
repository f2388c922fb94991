//! A toolset that can be used until its run must stop or a session is stopped.

use tokio_util::sync::CancellationToken;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
};

use super::{ToolEntry, Toolset, forward};

/// The tools of a session or of a run. Once a session is stopped, it lists no tools and calls fail. Once the run must stop, calls
/// wait until the run drops them.
pub(crate) struct UntilStopped<T, F> {
    inner: T,
    sessions: Vec<CancellationToken>,
    must_stop: F,
}

impl<T, F> UntilStopped<T, F> {
    /// Each token is cancelled once its session is stopped. `must_stop` returns whether the run must stop, and is about to drop its
    /// calls.
    pub(crate) fn new(inner: T, sessions: Vec<CancellationToken>, must_stop: F) -> Self {
        Self { inner, sessions, must_stop }
    }

    fn is_session_stopped(&self) -> bool {
        self.sessions.iter().any(CancellationToken::is_cancelled)
    }
}

impl<T: Toolset, F: Fn() -> bool + Send + Sync> Toolset for UntilStopped<T, F> {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        if self.is_session_stopped() {
            return Box::pin(std::future::ready(Ok(Vec::new())));
        }
        self.inner.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if self.is_session_stopped() {
            let message = format!("`{}` cannot be used: its session was stopped", call.tool());
            let failure = ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan);
            return Box::pin(std::future::ready(ToolResult::new(call, Err(failure))));
        }
        if (self.must_stop)() {
            // Without a failure, which a journal would record.
            return Box::pin(std::future::pending());
        }
        self.inner.call(call)
    }

    forward!(inner: lifecycle, instructions, is_available);
}
