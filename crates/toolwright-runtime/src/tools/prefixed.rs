//! A toolset whose tools are called `<prefix>.<tool>`.

use std::collections::BTreeSet;

use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolFailure, ToolResult};

use super::{SEPARATOR, ToolEntry, Toolset, forward};

/// A toolset whose tools are published under a prefix.
pub(crate) struct Prefixed<T> {
    inner: T,
    prefix: String,
    /// The tools that keep their names; `None` means all tools.
    except: Option<BTreeSet<String>>,
}

impl<T: Toolset> Prefixed<T> {
    /// Publishes every tool as `<prefix>.<tool>`.
    pub(crate) fn new(prefix: impl Into<String>, inner: T) -> Self {
        Self { inner, prefix: prefix.into(), except: Some(BTreeSet::new()) }
    }

    /// Keeps the names of these tools, or of all if `None`. Approval lists may still use their names with the prefix.
    pub(crate) fn except(mut self, tools: Option<BTreeSet<String>>) -> Self {
        self.except = tools;
        self
    }

    fn stays_bare(&self, tool: &str) -> bool {
        self.except.as_ref().is_none_or(|tools| tools.contains(tool))
    }

    fn publish(&self, tools: Vec<ToolEntry>) -> Vec<ToolEntry> {
        let publish = |tool: ToolEntry| {
            if self.stays_bare(tool.name()) {
                return tool.known_under(&self.prefix);
            }
            tool.published_under(&self.prefix)
        };
        tools.into_iter().map(publish).collect()
    }

    fn bare<'n>(&self, name: &'n str) -> Option<&'n str> {
        if self.stays_bare(name) {
            return Some(name);
        }
        let bare = name.strip_prefix(&self.prefix)?.strip_prefix(SEPARATOR)?;
        (!self.stays_bare(bare)).then_some(bare)
    }
}

impl<T: Toolset> Toolset for Prefixed<T> {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move { Ok(self.publish(self.inner.tools(scope).await?)) })
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        self.inner.known_tools().map(|tools| self.publish(tools))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            if let Some(bare) = self.bare(call.tool()) {
                return self.inner.call(&call.clone().with_tool(bare)).await;
            }
            let failure = ToolFailure::not_found(call.tool(), std::iter::empty());
            ToolResult::new(call, Err(failure))
        })
    }

    fn is_available(&self, tool: &str) -> bool {
        self.bare(tool).is_some_and(|bare| self.inner.is_available(bare))
    }

    forward!(inner: lifecycle, instructions);
}
