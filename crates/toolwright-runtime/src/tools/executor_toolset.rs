//! A toolset of specs and one executor, which generated registration functions create.

use crate::debug::debug;
use std::sync::Arc;

use toolwright::{
    BoxError, BoxFuture, Executor, FailureKind, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
    spec,
};

use super::{ToolEntry, ToolSpecRef, Toolset};

/// Tools that one executor runs, or tools without an executor.
#[derive(Clone)]
pub(crate) struct ExecutorToolset {
    entries: Vec<ToolEntry>,
    executor: Option<Arc<dyn Executor>>,
}

debug!(ExecutorToolset, toolset => { entries: toolset.entries });

impl ExecutorToolset {
    /// Creates a toolset whose tools an executor runs.
    pub(crate) fn new<S: Into<ToolSpecRef>>(
        specs: impl IntoIterator<Item = S>,
        executor: Arc<dyn Executor>,
    ) -> Self {
        let is_resumable = executor.has_resumable_calls();
        let entries = specs.into_iter().map(ToolEntry::new);
        let entries = entries
            .map(|entry| if is_resumable { entry.with_resumable_calls() } else { entry })
            .collect();
        Self { entries, executor: Some(executor) }
    }

    /// Creates a toolset whose tools the host runs: a call suspends its run until the host provides the result.
    pub(super) fn run_by_host<S: Into<ToolSpecRef>>(specs: impl IntoIterator<Item = S>) -> Self {
        let entries = specs.into_iter().map(|spec| ToolEntry::new(spec).run_by_host());
        Self::without_executor(entries.collect())
    }

    /// Creates a toolset of tools that agents or hosts run.
    pub(crate) fn without_executor(entries: Vec<ToolEntry>) -> Self {
        Self { entries, executor: None }
    }
}

impl Toolset for ExecutorToolset {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(self.entries.clone())))
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        Some(self.entries.clone())
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if let Some(executor) = &self.executor {
            let Some(tool) = ToolEntry::find(&self.entries, call.tool()) else {
                return call.not_found(&[]);
            };
            return match tool.check_approval(call) {
                Ok(()) => executor.execute(call),
                Err(failure) => Box::pin(std::future::ready(ToolResult::new(call, Err(failure)))),
            };
        }
        // Only reached outside of runs, where a call cannot wait.
        let message = format!(
            "`{}` is run by the host, and there is no host to provide its result",
            call.tool()
        );
        let failure = ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan);
        Box::pin(std::future::ready(ToolResult::new(call, Err(failure))))
    }

    fn instructions<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Option<String>> {
        let text = spec::instructions(self.entries.iter().map(ToolEntry::spec));
        Box::pin(std::future::ready(text))
    }
}
