//! A toolset that requires an approval for some of its tools.

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolResult};

use super::clearance::not_approved;
use super::seen::SeenTools;
use super::{ToolEntry, Toolset, forward};

/// A toolset that requires an approval for the tools that a function selects. It only marks the tools it lists, so that a tool
/// wrapped twice is asked about once.
pub(crate) struct ApprovalRequired<T, F> {
    inner: T,
    applies: F,
    approval: Approval,
    /// The tools with their approvals.
    seen: SeenTools,
}

impl<T: Toolset, F: Fn(&str) -> bool + Send + Sync> ApprovalRequired<T, F> {
    /// `applies` selects tools by name. The approval is for tools that do not already require one.
    pub(super) fn new(inner: T, approval: Approval, applies: F) -> Self {
        Self { inner, applies, approval, seen: SeenTools::default() }
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
            self.seen.set(scope, tools.clone());
            Ok(tools)
        })
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        self.inner.known_tools().map(|tools| self.mark(tools))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let (known, listing) = (|| self.known_tools(), self.tools(call.scope()));
            let name = (call.tool(), call.scope());
            let found = self.seen.find_or_list(name, known, listing).await;
            let cleared = found.and_then(|tool| match tool {
                Some(tool) if (self.applies)(tool.name()) => tool.check_approval(call),
                // A call of a tool that is not listed cannot have been approved.
                None if (self.applies)(call.tool()) => Err(not_approved(call.tool())),
                _ => Ok(()),
            });
            match cleared {
                Ok(()) => self.inner.call(call).await,
                Err(failure) => ToolResult::new(call, Err(failure)),
            }
        })
    }

    forward!(inner: lifecycle, instructions, is_available);
}
