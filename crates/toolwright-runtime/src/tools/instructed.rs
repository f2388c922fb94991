//! A toolset with additional instructions for planners.

use toolwright::{BoxFuture, Scope};

use super::{ToolEntry, Toolset, forward};

/// A toolset with additional instructions for planners.
pub(crate) struct Instructed<T, F> {
    inner: T,
    instructions: F,
}

impl<T: Toolset, F: Fn(&Scope) -> Option<String> + Send + Sync> Instructed<T, F> {
    /// The additional instructions come after those of the toolset.
    pub(crate) fn new(inner: T, instructions: F) -> Self {
        Self { inner, instructions }
    }
}

impl<T: Toolset, F: Fn(&Scope) -> Option<String> + Send + Sync> Toolset for Instructed<T, F> {
    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        self.inner.known_tools()
    }

    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let texts = [self.inner.instructions(scope).await, (self.instructions)(scope)];
            let texts: Vec<_> =
                texts.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
            (!texts.is_empty()).then(|| texts.join("\n\n"))
        })
    }

    forward!(inner: tools, call, lifecycle, is_available);
}
