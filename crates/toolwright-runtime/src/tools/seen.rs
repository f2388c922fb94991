//! The tools that a toolset has listed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright::{BoxError, Scope, ToolFailure};

use super::{ToolEntry, Toolset};

/// The most scopes of [`Listings`].
const MAX_SCOPES: usize = 64;

/// The most bytes of the listings of all scopes, unless the last one has more.
const MAX_BYTES: usize = 64 << 20;

/// Results of the last listings, one for each scope. Listings before the last 64 scopes or 64 MiB are forgotten.
pub(super) struct Listings<T>(Mutex<VecDeque<Listing<T>>>);

struct Listing<T> {
    scope: Scope,
    listed: Arc<T>,
    bytes: usize,
}

impl<T> Default for Listings<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Listings<T> {
    pub(super) fn set(&self, scope: &Scope, listed: T, bytes: usize) {
        let mut all = self.lock();
        all.retain(|other| !is_same(scope, &other.scope));
        all.push_front(Listing { scope: scope.clone(), listed: Arc::new(listed), bytes });
        let mut total = 0_usize;
        let fits = |listing: &&Listing<T>| {
            total = total.saturating_add(listing.bytes);
            total <= MAX_BYTES
        };
        let kept = all.iter().take(MAX_SCOPES).take_while(fits).count();
        all.truncate(kept.max(1));
    }

    /// Returns the last listing for a scope.
    pub(super) fn find(&self, scope: &Scope) -> Option<Arc<T>> {
        let all = self.lock();
        let found = all.iter().find(|listing| is_same(scope, &listing.scope));
        found.map(|listing| Arc::clone(&listing.listed))
    }

    /// Returns the listings, the last first.
    pub(super) fn all(&self) -> Vec<Arc<T>> {
        self.lock().iter().map(|listing| Arc::clone(&listing.listed)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Listing<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let bytes = tools.iter().map(ToolEntry::bytes).sum();
        self.0.set(scope, tools, bytes);
    }

    /// Lists the tools of a toolset, and sets them.
    pub(super) async fn list(
        &self,
        toolset: &impl Toolset,
        scope: &Scope,
    ) -> Result<Vec<ToolEntry>, BoxError> {
        let tools = toolset.tools(scope).await?;
        self.set(scope, tools.clone());
        Ok(tools)
    }

    /// Returns the tool that calls with a name mean in a scope, as of its last listing or as it is known without a listing. If there
    /// is none, as of a new `listing`, which must set the tools that it returns.
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
        let tools = listing.await.map_err(|error| ToolFailure::internal(&*error))?;
        Ok(ToolEntry::find(&tools, name).cloned())
    }
}
