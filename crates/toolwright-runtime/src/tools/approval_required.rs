//! The tools of a toolset, some of which need an approval. Never asks for one: that is the run's.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolResult};

use super::clearance::not_approved;
use super::{ToolEntry, Toolset, forward};

/// A toolset whose tools need an approval where a rule says so. It marks what it lists, so that wrapping twice asks no
/// more than once.
pub(crate) struct ApprovalRequired<T, F> {
    inner: T,
    applies: F,
    words: Approval,
    /// The tools that were listed as needing an approval, by name.
    marked: Mutex<BTreeMap<String, ToolEntry>>,
}

impl<T: Toolset, F: Fn(&str) -> bool + Send + Sync> ApprovalRequired<T, F> {
    /// Requires an approval of the tools whose names the rule picks; the words are for tools that have none of their own.
    pub(super) fn new(inner: T, words: Approval, applies: F) -> Self {
        Self { inner, applies, words, marked: Mutex::default() }
    }

    fn mark(&self, tools: Vec<ToolEntry>) -> Vec<ToolEntry> {
        let mark = |tool: ToolEntry| {
            if (self.applies)(tool.name()) {
                tool.requiring_approval(self.words.clone())
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
            // A call that comes before any listing has not been approved.
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
