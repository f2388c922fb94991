//! A toolset that requires an approval for some of its tools.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolResult};

use super::clearance::not_approved;
use super::{ToolEntry, Toolset, forward};

/// A toolset that requires an approval for the tools that a function selects. It only marks the tools it lists, so that a tool
/// wrapped twice is asked about once.
pub(crate) struct ApprovalRequired<T, F> {
    inner: T,
    applies: F,
    approval: Approval,
    /// The tools that were listed with an approval, by name.
    marked: Mutex<BTreeMap<String, ToolEntry>>,
}

impl<T: Toolset, F: Fn(&str) -> bool + Send + Sync> ApprovalRequired<T, F> {
    /// `applies` selects tools by name. The approval is for tools that do not already require one.
    pub(super) fn new(inner: T, approval: Approval, applies: F) -> Self {
        Self { inner, applies, approval, marked: Mutex::default() }
    }

    fn mark(&self, tools: Vec<ToolEntry>) -> Vec<ToolEntry> {
        let mark = |tool: ToolEntry| {
            if (self.applies)(tool.name()) {
                tool.requiring_approval(self.approval.clone())
            } else {
                tool
            }
        };
        tools.into_iter().map(mark).collect()
    }
}

impl<T: Toolset, F: Fn(&str) -> bool + Send + Sync> Toolset for ApprovalRequired<T, F> {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let tools = self.mark(self.inner.tools(scope).await?);
            let marked = tools.iter().filter(|tool| (self.applies)(tool.name()));
            let marked = marked.map(|tool| (tool.name().to_owned(), tool.clone()));
            self.marked.lock().unwrap_or_else(PoisonError::into_inner).extend(marked);
            Ok(tools)
        })
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        self.inner.known_tools().map(|tools| self.mark(tools))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if !(self.applies)(call.tool()) {
            return self.inner.call(call);
        }
        let marked = self.marked.lock().unwrap_or_else(PoisonError::into_inner);
        let cleared = match marked.get(call.tool()) {
            Some(tool) => tool.check_approval(call),
            // A call before the first listing cannot have been approved.
            None => Err(not_approved(call.tool())),
        };
        drop(marked);
        match cleared {
            Ok(()) => self.inner.call(call),
            Err(failure) => Box::pin(std::future::ready(ToolResult::new(call, Err(failure)))),
        }
    }

    forward!(inner: lifecycle, instructions, is_available);
}
