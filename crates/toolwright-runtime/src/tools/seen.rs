//! The tools that a toolset has listed.

use std::collections::VecDeque;
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

/// The tools that a toolset has listed. A toolset that selects tools by name finds in them which tool a call means, which may be
/// made by an alias.
#[derive(Default)]
pub(super) struct SeenTools(Listings<Vec<ToolEntry>>);

impl SeenTools {
    pub(super) fn set(&self, scope: &Scope, tools: Vec<ToolEntry>) {
        self.0.set(scope, tools);
    }

    /// Returns the tool that calls with a name mean in a scope, as of its last listing or as it is known without a listing. If there
    /// is none, as of a new `listing`, which must set what it lists.
    ///
    /// # Errors
    ///
    /// The listing failed.
    pub(super) async fn find_or_list(
        &self,
        (name, scope): (&str, &Scope),
        known: impl FnOnce() -> Option<Vec<ToolEntry>>,
        listing: impl Future<Output = Result<Vec<ToolEntry>, BoxError>>,
    ) -> Result<Option<ToolEntry>, ToolFailure> {
        let listed = || ToolEntry::find(&self.0.find(scope)?, name).cloned();
        let known = || ToolEntry::find(&known()?, name).cloned();
        if let Some(tool) = listed().or_else(known) {
            return Ok(Some(tool));
        }
        listing.await.map_err(|error| ToolFailure::internal(&*error))?;
        Ok(listed())
    }
}
