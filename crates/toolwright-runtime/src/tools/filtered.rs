//! A toolset without some of its tools.

use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolFailure, ToolResult};

use super::seen::SeenTools;
use super::{ToolEntry, Toolset, forward};

/// A toolset with only the tools that a function keeps. The others are not listed and cannot be called.
pub(crate) struct Filtered<T, F> {
    inner: T,
    keep: F,
    seen: SeenTools,
}

impl<T: Toolset, F: Fn(&str) -> bool + Send + Sync> Filtered<T, F> {
    /// `keep` is called with the name of a tool.
    pub(crate) fn new(inner: T, keep: F) -> Self {
        Self { inner, keep, seen: SeenTools::default() }
    }
}

impl<T: Toolset, F: Fn(&str) -> bool + Send + Sync> Toolset for Filtered<T, F> {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let mut tools = self.seen.list(&self.inner, scope).await?;
            tools.retain(|tool| (self.keep)(tool.name()));
            Ok(tools)
        })
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        let mut tools = self.inner.known_tools()?;
        tools.retain(|tool| (self.keep)(tool.name()));
        Some(tools)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let known = || self.inner.known_tools();
            let listing = self.seen.list(&self.inner, call.scope());
            let name = (call.tool(), call.scope());
            let failure = match self.seen.find_or_list(name, known, listing).await {
                Ok(tool) if (self.keep)(tool.as_ref().map_or(call.tool(), ToolEntry::name)) => {
                    return self.inner.call(call).await;
                }
                Ok(_) => ToolFailure::not_found(call.tool(), std::iter::empty()),
                Err(failure) => failure,
            };
            ToolResult::new(call, Err(failure))
        })
    }

    fn is_available(&self, tool: &str) -> bool {
        (self.keep)(tool) && self.inner.is_available(tool)
    }

    forward!(inner: lifecycle, instructions);
}
