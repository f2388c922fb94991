//! Specs and what runs them, as a toolset: what generated registration makes. Never has a lifecycle of its own.

use std::sync::Arc;

use toolwright::{BoxError, BoxFuture, Executor, Scope, ToolCall, ToolResult};

use super::{ToolEntry, ToolSpecRef, Toolset};

/// Tools that one executor runs.
#[derive(Clone)]
pub struct Executed {
    entries: Vec<ToolEntry>,
    executor: Arc<dyn Executor>,
}

impl Executed {
    /// These tools, run by an executor.
    pub fn new<S: Into<ToolSpecRef>>(
        specs: impl IntoIterator<Item = S>,
        executor: Arc<dyn Executor>,
    ) -> Self {
        Self { entries: specs.into_iter().map(ToolEntry::new).collect(), executor }
    }
}

impl Toolset for Executed {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(self.entries.clone())))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.executor.execute(call)
    }
}
