//! The service that cancels calls, so that callers need the ingress only and not the admin API.

use std::sync::Arc;

use restate_sdk::endpoint::ContextInternal;
use restate_sdk::service::ServiceDefinition;
use serde_json::json;
use toolwright::BoxFuture;

use crate::service::{Handle, Handled, define};

/// The name of the service.
pub(crate) const SERVICE: &str = "toolwright.control";
/// The handler that cancels an invocation. Its input is the id.
pub(crate) const CANCEL: &str = "cancel";

struct Control;

pub(crate) fn definition() -> ServiceDefinition {
    let text = json!({ "type": "string" });
    define(
        Control,
        json!({
            "name": SERVICE,
            "ty": "SERVICE",
            "documentation": "Cancels calls for toolwright callers.",
            "handlers": [{
                "name": CANCEL,
                "input": { "required": true, "contentType": "application/json", "jsonSchema": text },
                "output": { "setContentTypeIfEmpty": false },
            }],
        }),
    )
}

impl Handle for Control {
    fn handle(self: Arc<Self>, context: ContextInternal) -> Option<BoxFuture<'static, Handled>> {
        (context.handler_name() == CANCEL).then(|| -> BoxFuture<'static, Handled> {
            Box::pin(async move {
                let (id, _) = context.input::<String>().await;
                context.cancel_invocation(&id);
                Ok(Vec::new())
            })
        })
    }
}
