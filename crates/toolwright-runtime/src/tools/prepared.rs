//! A toolset whose listed tools a function changes before each step.

use std::collections::BTreeSet;

use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolFailure, ToolResult};

use super::seen::SeenTools;
use super::{ToolEntry, Toolset, ToolsetError, forward};

/// A toolset whose listed tools are passed to a function before each step.
pub(crate) struct Prepared<T, F> {
    inner: T,
    prepare: F,
    /// The tools that the function returned.
    seen: SeenTools,
}

impl<T, F> Prepared<T, F>
where
    T: Toolset,
    F: Fn(&Scope, Vec<ToolEntry>) -> Vec<ToolEntry> + Send + Sync,
{
    /// The function may remove tools, change their order, or require approvals.
    pub(super) fn new(inner: T, prepare: F) -> Self {
        Self { inner, prepare, seen: SeenTools::default() }
    }

    /// Checks that the function lists the tool of a call in the scope of the call, and that the call was approved if it requires that.
    async fn check(&self, call: &ToolCall) -> Result<(), ToolFailure> {
        let listing = self.tools(call.scope());
        let found = self.seen.find_or_list((call.tool(), call.scope()), || None, listing);
        match found.await? {
            Some(tool) => tool.check_approval(call),
            None => Err(ToolFailure::not_found(call.tool(), std::iter::empty())),
        }
    }
}

impl<T, F> Toolset for Prepared<T, F>
where
    T: Toolset,
    F: Fn(&Scope, Vec<ToolEntry>) -> Vec<ToolEntry> + Send + Sync,
{
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let tools = self.inner.tools(scope).await?;
            let mut known: BTreeSet<_> = tools.iter().map(|tool| tool.name().to_owned()).collect();
            let prepared = (self.prepare)(scope, tools);
            match prepared.iter().find(|tool| !known.remove(tool.name())) {
                None => {
                    self.seen.set(scope, prepared.clone());
                    Ok(prepared)
                }
                Some(tool) => {
                    Err(ToolsetError::UnlistedTool { tool: tool.name().to_owned() }.into())
                }
            }
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match self.check(call).await {
                Ok(()) => self.inner.call(call).await,
                Err(failure) => ToolResult::new(call, Err(failure)),
            }
        })
    }

    forward!(inner: lifecycle, instructions, is_available);
}
