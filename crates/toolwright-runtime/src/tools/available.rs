//! A toolset some of whose tools are unavailable at times.

use toolwright::{FailureKind, Recovery, ToolFailure};

use super::{ToolEntry, Toolset, forward};

/// A toolset with a function that tells whether a tool is available.
pub(crate) struct Available<T, F> {
    inner: T,
    available: F,
}

impl<T: Toolset, F: Fn(&str) -> bool + Send + Sync> Available<T, F> {
    /// The function is called with the name of a tool, before each step and each call.
    pub(crate) fn new(inner: T, available: F) -> Self {
        Self { inner, available }
    }
}

impl<T: Toolset, F: Fn(&str) -> bool + Send + Sync> Toolset for Available<T, F> {
    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        self.inner.known_tools()
    }

    fn is_available(&self, tool: &str) -> bool {
        (self.available)(tool) && self.inner.is_available(tool)
    }

    forward!(inner: tools, call, lifecycle, instructions);
}

/// The failure of a call of a tool that is unavailable.
pub(crate) fn unavailable(tool: &ToolEntry) -> ToolFailure {
    let message = format!("`{}` cannot be used now", tool.name());
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan)
}
