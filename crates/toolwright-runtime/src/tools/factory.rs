//! A type-erased factory of toolsets.

use std::sync::Arc;

use toolwright::{BoxError, BoxFuture, Scope};

use super::{Toolset, ToolsetError};

/// The result of a factory: a toolset, none, or an error.
pub(super) type Made = Result<Option<Arc<dyn Toolset>>, BoxError>;

/// A type-erased factory of toolsets.
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
