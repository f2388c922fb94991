//! A factory of toolsets without its types. Never decides when one is made.

use std::sync::Arc;

use toolwright::{BoxError, BoxFuture, Scope};

use super::{Toolset, ToolsetError};

/// What a factory gives: a toolset, none, or why it has none to give.
pub(super) type Made = Result<Option<Arc<dyn Toolset>>, BoxError>;

/// A factory without its types.
#[derive(Clone)]
pub(super) struct Factory(pub(super) Arc<dyn Fn(Scope) -> BoxFuture<'static, Made> + Send + Sync>);

impl Factory {
    pub(super) async fn make(
        &self,
        name: &str,
        scope: &Scope,
    ) -> Result<Option<Arc<dyn Toolset>>, ToolsetError> {
        (self.0)(scope.clone())
            .await
            .map_err(|returned| ToolsetError::Factory { toolset: name.to_owned(), returned })
    }
}
