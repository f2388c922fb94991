//! Tools that something outside the run answers. Never runs one.

use toolwright::{
    BoxError, BoxFuture, FailureKind, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
};

use super::{ToolEntry, ToolSpecRef, Toolset};

/// Tools whose calls suspend the run until the host brings their results.
#[derive(Clone, Debug)]
pub struct External(Vec<ToolEntry>);

impl External {
    /// These tools, answered outside.
    pub fn new<S: Into<ToolSpecRef>>(specs: impl IntoIterator<Item = S>) -> Self {
        Self(specs.into_iter().map(|spec| ToolEntry::new(spec).answered_outside()).collect())
    }
}

impl Toolset for External {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }

    /// Only reached outside an agent's run, where nothing can wait for an answer.
    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        let message = format!("`{}` is answered outside, and nobody can answer here", call.tool());
        let failure = ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan);
        Box::pin(std::future::ready(ToolResult::new(call, Err(failure))))
    }
}
