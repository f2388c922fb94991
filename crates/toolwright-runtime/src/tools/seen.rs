//! The tools that a toolset has listed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::{BoxError, Scope, ToolFailure};

use super::ToolEntry;

/// The most scopes of [`Listings`].
const MAX_SCOPES: usize = 64;

/// Results of the last listings, one for each scope. Listings before the last 64 scopes are forgotten.
pub(super) struct Listings<T>(Mutex<VecDeque<(Scope, Arc<T>)>>);

impl<T> Default for Listings<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Listings<T> {
    pub(super) fn set(&self, scope: &Scope, listed: T) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(other, _)| !is_same(scope, other));
        all.truncate(MAX_SCOPES - 1);
        all.push_front((scope.clone(), Arc::new(listed)));
    }

    /// Returns the last listing for a scope.
    pub(super) fn find(&self, scope: &Scope) -> Option<Arc<T>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(other, _)| is_same(scope, other)).map(|(_, listed)| Arc::clone(listed))
    }

    /// Returns the listings, the last first.
    pub(super) fn all(&self) -> Vec<Arc<T>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|(_, listed)| Arc::clone(listed)).collect()
    }
}

/// Returns whether tools are listed once for calls in both scopes. The parent and the depth of a call may differ from those of its
/// run.
fn is_same(scope: &Scope, other: &Scope) -> bool {
    let Scope { run_id, session_id, turn_id, parent_call_id: _, labels, depth: _ } = scope;
    (run_id, session_id, turn_id, labels)
        == (&other.run_id, &other.session_id, &other.turn_id, &other.labels)
}

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

    /// As [`find`](Self::find), and if there is no such tool, after `listing`, which adds the tools that it lists.
    ///
    /// # Errors
    ///
    /// The listing failed.
    pub(super) async fn find_or_list(
        &self,
        name: &str,
        known: impl FnOnce() -> Option<Vec<ToolEntry>>,
        listing: impl Future<Output = Result<Vec<ToolEntry>, BoxError>>,
    ) -> Result<Option<ToolEntry>, ToolFailure> {
        let found = self.find(name, known);
        if found.is_some() {
            return Ok(found);
        }
        listing.await.map_err(|error| ToolFailure::internal(&*error))?;
        Ok(self.find(name, || None))
    }
}
