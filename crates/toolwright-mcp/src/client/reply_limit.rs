//! Limits the number of requests from a server whose replies are not written yet. Beyond the limit, the client stops
//! reading until the server has read replies. rmcp writes the replies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum number of requests without a written reply.
const MAX_REQUESTS: u32 = 64;

/// The length in bytes at which an id counts as one more request, because the reply repeats it.
const BYTES_PER_REQUEST: usize = 1024;

/// The requests from a server whose replies are not written yet.
#[derive(Debug)]
pub(super) struct ReplyLimit {
    permits: Arc<Semaphore>,
    /// The permits of requests without a reply.
    open: Mutex<HashMap<RequestId, OwnedSemaphorePermit>>,
}

impl Default for ReplyLimit {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MAX_REQUESTS as usize)), open: Mutex::default() }
    }
}

impl ReplyLimit {
    /// Waits until a request may be handled; other messages need not wait. Cancel safe.
    pub(super) async fn admit(&self, message: &ServerJsonRpcMessage) {
        let request = match message {
            ServerJsonRpcMessage::Request(request) => request,
            ServerJsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // A cancelled request gets no reply.
                    self.open().remove(id);
                }
                return;
            }
            _ => return,
        };
        let length = match &request.id {
            RequestId::String(id) => id.len(),
            RequestId::Number(_) => 0,
        };
        let permits =
            u32::try_from(1 + length / BYTES_PER_REQUEST).unwrap_or(MAX_REQUESTS).min(MAX_REQUESTS);
        if let Ok(permit) = Arc::clone(&self.permits).acquire_many_owned(permits).await {
            self.open().insert(request.id.clone(), permit);
        }
    }

    /// Returns the permit that a reply must hold until it is written, or `None` for other messages.
    pub(super) fn permit(&self, message: &ClientJsonRpcMessage) -> Option<OwnedSemaphorePermit> {
        let id = match message {
            ClientJsonRpcMessage::Response(response) => Some(&response.id),
            ClientJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        self.open().remove(id?)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<RequestId, OwnedSemaphorePermit>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
