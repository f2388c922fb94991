//! Services whose handlers are known only at run time. The SDK's attribute makes them from a trait; this uses what that attribute
//! generates code for.

use std::sync::Arc;

use restate_sdk::discovery;
use restate_sdk::endpoint::{ContextInternal, Error};
use restate_sdk::errors::HandlerError;
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use restate_sdk::service::{Service, ServiceDefinition};
use serde_json::Value;
use toolwright::BoxFuture;

/// A handler's output as bytes, or the error that ends its attempt.
pub(crate) type Handled = Result<Vec<u8>, HandlerError>;

/// Runs the handlers of a service.
pub(crate) trait Handle: Send + Sync + 'static {
    /// Runs a handler; `None` if there is none of this name.
    fn handle(self: Arc<Self>, context: ContextInternal) -> Option<BoxFuture<'static, Handled>>;
}

struct Dynamic<H>(Arc<H>);

impl<H: Handle> Service for Dynamic<H> {
    type Future = ServiceBoxFuture;

    fn handle(&self, context: ContextInternal) -> Self::Future {
        let Some(handling) = Arc::clone(&self.0).handle(context.clone()) else {
            let error = Error::unknown_handler(context.service_name(), context.handler_name());
            return Box::pin(std::future::ready(Err(error)));
        };
        Box::pin(async move {
            context.handle_handler_result(handling.await);
            context.end();
            Ok(())
        })
    }
}

/// Creates a service from its handlers and its entry in the manifest, which has the form of Restate's `endpoint_manifest_schema`.
pub(crate) fn define(handlers: impl Handle, manifest: Value) -> ServiceDefinition {
    let manifest: Result<discovery::Service, _> = serde_json::from_value(manifest);
    let manifest = manifest.unwrap_or_else(|error| unreachable!("names are encoded: {error}"));
    service_definition(Dynamic(Arc::new(handlers)), manifest)
}
