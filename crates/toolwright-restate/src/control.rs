//! The services that callers and workers need: one cancels calls, so that callers need the ingress only and not the admin API; the
//! other takes each approval code once, also if several workers get it.

use std::sync::Arc;
use std::time::Duration;

use restate_sdk::context::RequestTarget;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::TerminalError;
use restate_sdk::serde::Json;
use restate_sdk::service::ServiceDefinition;
use serde_json::json;
use toolwright::BoxFuture;

use crate::service::{Handle, Handled, define};

/// The service that cancels calls, and its handler, whose input is the id of an invocation.
pub(crate) const CONTROL: &str = "toolwright.control";
pub(crate) const CANCEL: &str = "cancel";

/// The virtual object of an approval code, with its handlers.
const CODES: &str = "toolwright.codes";
const TAKE: &str = "take";
const FORGET: &str = "forget";
const TAKEN: &str = "taken";

/// How long an approval code that was taken is kept after its expiry.
const SLACK: Duration = Duration::from_mins(5);

struct Control;
struct Codes;

pub(crate) fn control() -> ServiceDefinition {
    let text = json!({ "type": "string" });
    let input = json!({ "required": true, "contentType": "application/json", "jsonSchema": text });
    define(
        Control,
        json!({
            "name": CONTROL,
            "ty": "SERVICE",
            "documentation": "Cancels calls for toolwright callers.",
            "handlers": [{
                "name": CANCEL,
                "input": input,
                "output": { "setContentTypeIfEmpty": false },
            }],
        }),
    )
}

pub(crate) fn codes() -> ServiceDefinition {
    let output = json!({ "setContentTypeIfEmpty": false });
    let seconds = json!({ "required": true, "contentType": "application/json" });
    let nothing = json!({ "required": false });
    define(
        Codes,
        json!({
            "name": CODES,
            "ty": "VIRTUAL_OBJECT",
            "documentation": "Takes each approval code once.",
            "ingressPrivate": true,
            "handlers": [
                { "name": TAKE, "input": seconds, "output": output },
                { "name": FORGET, "input": nothing, "output": output },
            ],
        }),
    )
}

/// Takes an approval code, which is valid for `time_left`. Returns false if it was taken before.
pub(crate) async fn take(
    context: &ContextInternal,
    code: &str,
    time_left: Duration,
) -> Result<bool, TerminalError> {
    let target = RequestTarget::object(CODES, code, TAKE);
    let seconds = Json(time_left.as_secs());
    context.call::<_, bool>(target, None, None, None, Vec::new(), seconds).await
}

impl Handle for Control {
    fn handle(self: Arc<Self>, context: ContextInternal) -> Option<BoxFuture<'static, Handled>> {
        (context.handler_name() == CANCEL).then(|| -> BoxFuture<'static, Handled> {
            Box::pin(async move {
                let (id, _) = context.input::<String>().await;
                // The SDK would repeat a request with another text for ever.
                if !id.starts_with("inv_")
                    || !id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                {
                    let message =
                        "the input is not the id of an invocation, expected one as `inv_…`";
                    return Err(TerminalError::new_with_code(400, message).into());
                }
                context.cancel_invocation(&id);
                Ok(Vec::new())
            })
        })
    }
}

impl Handle for Codes {
    fn handle(self: Arc<Self>, context: ContextInternal) -> Option<BoxFuture<'static, Handled>> {
        Some(match context.handler_name() {
            TAKE => Box::pin(async move {
                let (Json(time_left), metadata) = context.input::<Json<u64>>().await;
                let is_first = context.get::<bool>(TAKEN).await?.is_none();
                if is_first {
                    context.set(TAKEN, true);
                    let target = RequestTarget::object(CODES, metadata.key, FORGET);
                    // Clocks of workers differ.
                    let later = Some(Duration::from_secs(time_left).saturating_add(SLACK));
                    // Sent when the handler ends.
                    let _ = context.send::<()>(target, None, None, None, Vec::new(), (), later);
                }
                Ok(serde_json::to_vec(&is_first)?)
            }),
            FORGET => Box::pin(async move {
                let ((), _) = context.input::<()>().await;
                context.clear(TAKEN);
                Ok(Vec::new())
            }),
            _ => return None,
        })
    }
}
