//! The tools of a toolset, some of which cannot be used at all times. Never changes what is listed.

use toolwright::{FailureKind, Recovery, ToolFailure};

use super::{ToolEntry, Toolset, forward};

/// A toolset whose tools can be used while a rule says so.
pub(crate) struct Available<T, F> {
    inner: T,
    available: F,
}

impl<T: Toolset, F: Fn(&str) -> bool + Send + Sync> Available<T, F> {
    /// The rule is asked by name, before each step and before each call.
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

/// The failure of a call whose tool cannot be used now.
pub(crate) fn unavailable(tool: &ToolEntry) -> ToolFailure {
    let message = format!("`{}` cannot be used now", tool.name());
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan)
}
