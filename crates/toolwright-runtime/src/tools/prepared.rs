//! A toolset whose listed tools a function changes before each step.

use std::collections::BTreeSet;

use toolwright::{BoxError, BoxFuture, Scope};

use super::{ToolEntry, Toolset, ToolsetError, forward};

/// A toolset whose listed tools are passed to a function before each step.
pub(crate) struct Prepared<T, F> {
    inner: T,
    prepare: F,
}

impl<T, F> Prepared<T, F>
where
    T: Toolset,
    F: Fn(&Scope, Vec<ToolEntry>) -> Vec<ToolEntry> + Send + Sync,
{
    /// The function may remove tools, change their order, or require approvals.
    pub(super) fn new(inner: T, prepare: F) -> Self {
        Self { inner, prepare }
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
                None => Ok(prepared),
                Some(tool) => {
                    Err(ToolsetError::UnlistedTool { tool: tool.name().to_owned() }.into())
                }
            }
        })
    }

    forward!(inner: call, lifecycle, instructions, is_available);
}
