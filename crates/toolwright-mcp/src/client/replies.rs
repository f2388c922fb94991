//! Bounds the requests of a server whose replies are not written yet. A server that sends requests and does not read the
//! replies is not read any further. rmcp writes the replies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The number of a server's requests whose replies may be unwritten.
const MOST: u32 = 64;

/// The length of an id in bytes that counts as one more request: a reply repeats the id.
const ID_BYTES: usize = 1024;

/// The requests of a server that wait for their replies to be written.
#[derive(Debug)]
pub(super) struct Replies {
    permits: Arc<Semaphore>,
    /// The permits of requests without a reply.
    open: Mutex<HashMap<RequestId, OwnedSemaphorePermit>>,
}

impl Default for Replies {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MOST as usize)), open: Mutex::default() }
    }
}

impl Replies {
    /// Waits until a message may be handled, if it is a request: as long as too many others wait for their replies. May be
    /// given up and called again.
    pub(super) async fn admit(&self, message: &ServerJsonRpcMessage) {
        let request = match message {
            ServerJsonRpcMessage::Request(request) => request,
            ServerJsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // It gets no reply.
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
        let permits = u32::try_from(1 + length / ID_BYTES).unwrap_or(MOST).min(MOST);
        if let Ok(permit) = Arc::clone(&self.permits).acquire_many_owned(permits).await {
            self.open().insert(request.id.clone(), permit);
        }
    }

    /// Returns the permit that a reply holds until it is written, or `None` for other messages.
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
