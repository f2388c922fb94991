//! A toolset that is created again for every step.

use std::sync::Arc;

use tokio::sync::Mutex;
use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolResult};

use super::factory::Factory;
use super::lifecycle::{exit, limited, shielded};
use super::{ToolEntry, Toolset};

/// A toolset with a new instance for each listing of its tools. The listing exits the current instance, and then creates and
/// enters a new one. If the factory returns none, there are no tools.
///
/// Each run has one of these for each source that builds [per step](super::Source::per_step).
pub(super) struct PerStep(Arc<State>);

struct State {
    name: String,
    factory: Factory,
    /// Locked until a replacement is complete, so that an exit finds the instance that was entered last.
    current: Mutex<Option<Arc<dyn Toolset>>>,
}

impl PerStep {
    pub(super) fn new(name: String, factory: Factory) -> Self {
        Self(Arc::new(State { name, factory, current: Mutex::default() }))
    }

    async fn current(&self) -> Option<Arc<dyn Toolset>> {
        self.0.current.lock().await.clone()
    }
}

impl State {
    /// Replaces the current instance with a new one, and returns that.
    async fn replace(&self, scope: &Scope) -> Result<Option<Arc<dyn Toolset>>, BoxError> {
        let mut current = self.current.lock().await;
        let handles = current.as_ref().map(Toolset::open_handles).unwrap_or_default();
        if !handles.is_empty() {
            tracing::warn!(
                toolset = self.name,
                ?handles,
                "open handles become invalid, since the toolset is built for each step; register it without `Source::per_step`"
            );
        }
        if let Err(error) = exit_current(&mut current, scope).await {
            tracing::warn!(toolset = self.name, %error, "a toolset did not exit cleanly");
        }
        let Some(toolset) = self.factory.make(&self.name, scope).await? else { return Ok(None) };
        toolset.enter(scope).await?;
        *current = Some(Arc::clone(&toolset));
        Ok(Some(toolset))
    }
}

/// Exits the current instance, if there is one.
async fn exit_current(
    current: &mut Option<Arc<dyn Toolset>>,
    scope: &Scope,
) -> Result<(), BoxError> {
    match current.take() {
        Some(toolset) => exit(&*toolset, scope).await,
        None => Ok(()),
    }
}

impl Toolset for PerStep {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let (state, owned_scope) = (Arc::clone(&self.0), scope.clone());
            let replaced =
                shielded(Box::pin(async move { state.replace(&owned_scope).await })).await?;
            match replaced {
                Some(toolset) => toolset.tools(scope).await,
                None => Ok(Vec::new()),
            }
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match self.current().await {
                Some(toolset) => toolset.call(call).await,
                None => call.not_found(&[]).await,
            }
        })
    }

    fn exit<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let mut current = limited(async { Ok(self.0.current.lock().await) }).await?;
            exit_current(&mut current, scope).await
        })
    }

    fn limits_exits(&self) -> bool {
        true
    }

    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move { self.current().await?.instructions(scope).await })
    }

    fn open_handles(&self) -> Vec<String> {
        let Ok(current) = self.0.current.try_lock() else { return Vec::new() };
        current.as_ref().map(Toolset::open_handles).unwrap_or_default()
    }

    fn is_available(&self, tool: &str) -> bool {
        // While the instance is being replaced, the answer is unknown, so a call is tried.
        let Ok(current) = self.0.current.try_lock() else { return true };
        current.as_ref().is_none_or(|toolset| toolset.is_available(tool))
    }
}
