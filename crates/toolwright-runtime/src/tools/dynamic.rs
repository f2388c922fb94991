//! A toolset that is made anew for every step. Never keeps two instances entered at once.

use std::sync::Arc;

use tokio::sync::Mutex;
use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolResult};

use super::factory::Factory;
use super::lifecycle::shielded;
use super::{ToolEntry, Toolset};

/// Makes, enters and lists a fresh instance whenever its tools are asked for, after it has exited the last one. A
/// factory that gives none means no tools.
///
/// It belongs to one run; a source that builds [per step](super::Source::per_step) makes one for each.
pub(super) struct Dynamic(Arc<Inner>);

struct Inner {
    name: String,
    factory: Factory,
    /// A change goes on under this lock to its end, so that an exit finds what was entered last.
    current: Mutex<Option<Arc<dyn Toolset>>>,
}

impl Dynamic {
    pub(super) fn new(name: String, factory: Factory) -> Self {
        Self(Arc::new(Inner { name, factory, current: Mutex::default() }))
    }

    async fn current(&self) -> Option<Arc<dyn Toolset>> {
        self.0.current.lock().await.clone()
    }
}

impl Inner {
    /// Puts a new instance, entered, into the place of the current one.
    async fn renew(&self, scope: &Scope) -> Result<Option<Arc<dyn Toolset>>, BoxError> {
        let mut current = self.current.lock().await;
        let handles = current.as_ref().map(Toolset::open_handles).unwrap_or_default();
        if !handles.is_empty() {
            tracing::warn!(
                toolset = self.name,
                ?handles,
                "handles end with their step, since the toolset is built for each; register it as a factory without `Source::per_step`"
            );
        }
        if let Err(error) = leave(&mut current, scope).await {
            tracing::warn!(toolset = self.name, %error, "a toolset did not exit cleanly");
        }
        let Some(toolset) = self.factory.make(&self.name, scope).await? else { return Ok(None) };
        toolset.enter(scope).await?;
        *current = Some(Arc::clone(&toolset));
        Ok(Some(toolset))
    }
}

/// Exits the current instance, if there is one.
async fn leave(current: &mut Option<Arc<dyn Toolset>>, scope: &Scope) -> Result<(), BoxError> {
    match current.take() {
        Some(toolset) => toolset.exit(scope).await,
        None => Ok(()),
    }
}

impl Toolset for Dynamic {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let (inner, inner_scope) = (Arc::clone(&self.0), scope.clone());
            let renewed =
                shielded(Box::pin(async move { inner.renew(&inner_scope).await })).await?;
            match renewed {
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
        Box::pin(async move { leave(&mut *self.0.current.lock().await, scope).await })
    }

    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move { self.current().await?.instructions(scope).await })
    }

    fn open_handles(&self) -> Vec<String> {
        let Ok(current) = self.0.current.try_lock() else { return Vec::new() };
        current.as_ref().map(Toolset::open_handles).unwrap_or_default()
    }

    fn is_available(&self, tool: &str) -> bool {
        // Being made anew just now, it cannot say; the call will.
        let Ok(current) = self.0.current.try_lock() else { return true };
        current.as_ref().is_none_or(|toolset| toolset.is_available(tool))
    }
}
