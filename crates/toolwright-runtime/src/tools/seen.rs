//! The tools that a toolset has listed.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::ToolEntry;

/// The tools that a toolset has listed, in any scope. A toolset that selects tools by name finds in it which of them a call means,
/// which may be made by an alias.
#[derive(Default)]
pub(super) struct SeenTools(Mutex<BTreeMap<String, ToolEntry>>);

impl SeenTools {
    pub(super) fn add(&self, tools: &[ToolEntry]) {
        let tools = tools.iter().map(|tool| (tool.name().to_owned(), tool.clone()));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(tools);
    }

    /// Returns the tool that calls with a name mean, from these or from those that are known without a listing.
    pub(super) fn find(
        &self,
        name: &str,
        known: impl FnOnce() -> Option<Vec<ToolEntry>>,
    ) -> Option<ToolEntry> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let named = || seen.values().find(|tool| tool.is_called(name));
        let found = seen.get(name).or_else(named).cloned();
        drop(seen);
        found.or_else(|| ToolEntry::find(&known()?, name).cloned())
    }
}
