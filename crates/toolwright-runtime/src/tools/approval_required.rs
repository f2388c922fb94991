//! The tools of a toolset, some of which need an approval. Never asks for one: that is the run's.

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, Scope};

use super::{ToolEntry, Toolset, forward};

/// A toolset whose tools need an approval where a rule says so. It marks what it lists, so that wrapping twice asks no
/// more than once.
pub(crate) struct ApprovalRequired<T, F> {
    inner: T,
    applies: F,
    words: Approval,
}

impl<T: Toolset, F: Fn(&str) -> bool + Send + Sync> ApprovalRequired<T, F> {
    /// Requires an approval of the tools whose names the rule picks; the words are for tools that have none of their own.
    pub(super) fn new(inner: T, words: Approval, applies: F) -> Self {
        Self { inner, applies, words }
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
        Box::pin(async move { Ok(self.mark(self.inner.tools(scope).await?)) })
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        self.inner.known_tools().map(|tools| self.mark(tools))
    }

    forward!(inner: call, lifecycle, instructions, is_available);
}
