//! Specs and what runs them, as a toolset: what generated registration makes. Never has a lifecycle of its own.

use crate::debug::debug;
use std::sync::Arc;

use toolwright::{
    BoxError, BoxFuture, Executor, FailureKind, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
    spec,
};

use super::{ToolEntry, ToolSpecRef, Toolset};

/// Tools that one executor runs, or deferred ones.
#[derive(Clone)]
pub(crate) struct Executed {
    entries: Vec<ToolEntry>,
    executor: Option<Arc<dyn Executor>>,
}

debug!(Executed, executed => { entries: executed.entries });

impl Executed {
    /// These tools, run by an executor.
    pub(crate) fn new<S: Into<ToolSpecRef>>(
        specs: impl IntoIterator<Item = S>,
        executor: Arc<dyn Executor>,
    ) -> Self {
        let entries = specs.into_iter().map(ToolEntry::new).collect();
        Self { entries, executor: Some(executor) }
    }

    /// These tools, deferred: a call suspends the run until the host brings its result.
    pub(super) fn deferred<S: Into<ToolSpecRef>>(specs: impl IntoIterator<Item = S>) -> Self {
        Self::listing(specs.into_iter().map(|spec| ToolEntry::new(spec).deferred()).collect())
    }

    /// Tools that are run without asking their toolset.
    pub(crate) fn listing(entries: Vec<ToolEntry>) -> Self {
        Self { entries, executor: None }
    }
}

impl Toolset for Executed {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(self.entries.clone())))
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        Some(self.entries.clone())
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if let Some(executor) = &self.executor {
            let Some(tool) = self.entries.iter().find(|tool| tool.is_called(call.tool())) else {
                return call.not_found(&[]);
            };
            return match tool.check_approval(call) {
                Ok(()) => executor.execute(call),
                Err(failure) => Box::pin(std::future::ready(ToolResult::new(call, Err(failure)))),
            };
        }
        // Only reached outside an agent's run, where nothing can wait.
        let message =
            format!("`{}` is deferred, and nobody can bring its result here", call.tool());
        let failure = ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan);
        Box::pin(std::future::ready(ToolResult::new(call, Err(failure))))
    }

    fn instructions<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Option<String>> {
        let said = spec::instructions(self.entries.iter().map(ToolEntry::spec));
        Box::pin(std::future::ready(said))
    }
}
