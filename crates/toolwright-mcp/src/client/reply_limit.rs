//! Limits the number of requests from a server whose replies are not written yet. Beyond the limit, the client stops
//! reading until the server has read replies. rmcp makes the replies and gives them to a transport, which may queue them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification};
use tokio::sync::Notify;

/// The maximum number of requests without a written reply.
const MAX_REQUESTS: usize = 64;

/// The length in bytes at which an id counts as one more request, because the reply repeats it.
const BYTES_PER_REQUEST: usize = 1024;

/// The time for which a cancelled request without a reply counts.
const CANCELLED_TIME: Duration = Duration::from_secs(5);

/// The requests from a server whose replies are not written yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplyLimit(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    open: Mutex<Open>,
    /// Notified when there is room.
    freed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    /// The weights of requests for which rmcp has made no reply yet.
    requests: HashMap<RequestId, usize>,
    /// The number, the id and the weight of each request that the server has cancelled lately. Several may have one id.
    cancelled: Vec<(u64, RequestId, usize)>,
    /// The number of the next cancelled request.
    next: u64,
    /// The weight of all of these, and of the replies in the transport.
    weight: usize,
}

/// A reply in the transport. Counts until it is dropped.
#[derive(Debug)]
pub(super) struct Writing {
    shared: Arc<Shared>,
    weight: usize,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn free(&self, weight: usize) {
        self.lock().weight -= weight;
        self.freed.notify_waiters();
    }
}

impl ReplyLimit {
    /// Waits until a request may be handled; other messages need not wait. Cancel safe.
    pub(super) async fn admit(&self, message: &ServerJsonRpcMessage) {
        let id = match message {
            ServerJsonRpcMessage::Request(request) => &request.id,
            ServerJsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.cancel(id);
                }
                return;
            }
            _ => return,
        };
        let weight = weight(id);
        loop {
            let freed = self.0.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            if self.0.lock().add(id, weight) {
                return;
            }
            freed.await;
        }
    }

    /// Keeps the place of a cancelled request for a while: rmcp replies only to those of some revisions, and at once. If its reply is
    /// in the transport, it counts there.
    fn cancel(&self, id: &RequestId) {
        let mut open = self.0.lock();
        let Some(weight) = open.requests.remove(id) else { return };
        let number = open.next;
        open.next += 1;
        open.cancelled.push((number, id.clone(), weight));
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move {
            tokio::time::sleep(CANCELLED_TIME).await;
            let weight = shared.lock().take_cancelled(|(of, ..)| *of == number);
            shared.free(weight.unwrap_or_default());
        });
    }

    /// Returns a guard that the transport must hold from when it gets a reply until it is written, or `None` for other messages.
    pub(super) fn writing(&self, message: &ClientJsonRpcMessage) -> Option<Writing> {
        let id = match message {
            ClientJsonRpcMessage::Response(response) => Some(&response.id),
            ClientJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        }?;
        let mut open = self.0.lock();
        let known = open.requests.remove(id);
        let known = known.or_else(|| open.take_cancelled(|(_, of, _)| of == id));
        let weight = known.unwrap_or_else(|| {
            let weight = weight(id);
            open.weight += weight;
            weight
        });
        Some(Writing { shared: Arc::clone(&self.0), weight })
    }
}

impl Open {
    /// Adds a request if there is room for it.
    fn add(&mut self, id: &RequestId, weight: usize) -> bool {
        let has_room = self.weight + weight <= MAX_REQUESTS;
        if has_room {
            self.weight += weight;
            // A server may use an id twice at once. rmcp forgets the first request when it gets the second, unless it has made
            // a reply; if both get one, the second counts when the transport gets it.
            self.weight -= self.requests.insert(id.clone(), weight).unwrap_or_default();
        }
        has_room
    }

    /// Takes the weight of the first cancelled request that matches.
    fn take_cancelled(
        &mut self,
        matches: impl Fn(&(u64, RequestId, usize)) -> bool,
    ) -> Option<usize> {
        let at = self.cancelled.iter().position(matches)?;
        Some(self.cancelled.remove(at).2)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.shared.free(self.weight);
    }
}

fn weight(id: &RequestId) -> usize {
    let length = match id {
        RequestId::String(id) => id.len(),
        RequestId::Number(_) => 0,
    };
    (1 + length / BYTES_PER_REQUEST).min(MAX_REQUESTS)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    fn message(json: &str) -> ServerJsonRpcMessage {
        serde_json::from_str(json).expect("it is a message")
    }

    fn ping(id: usize) -> ServerJsonRpcMessage {
        message(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
    }

    fn cancelled(id: usize) -> ServerJsonRpcMessage {
        message(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ))
    }

    /// rmcp writes the reply to a request of 2026-07-28 although the server cancelled it.
    #[tokio::test(start_paused = true)]
    async fn replies_to_cancelled_requests_count_until_they_are_written() {
        let limit = ReplyLimit::default();
        for id in 0..MAX_REQUESTS {
            limit.admit(&ping(id)).await;
            limit.admit(&cancelled(id)).await;
        }
        let soon = Duration::from_millis(50);
        assert!(timeout(soon, limit.admit(&ping(100))).await.is_err(), "there is no room");
        let reply = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
        let writing = limit.writing(&serde_json::from_str(reply).expect("it is a reply"));
        assert!(timeout(soon, limit.admit(&ping(100))).await.is_err(), "it is not written");
        drop(writing);
        assert!(timeout(soon, limit.admit(&ping(100))).await.is_ok());
        assert!(timeout(2 * CANCELLED_TIME, limit.admit(&ping(101))).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn each_cancelled_request_of_one_id_counts() {
        let limit = ReplyLimit::default();
        for _ in 0..MAX_REQUESTS {
            limit.admit(&ping(0)).await;
            limit.admit(&cancelled(0)).await;
        }
        assert!(
            timeout(CANCELLED_TIME / 2, limit.admit(&ping(0))).await.is_err(),
            "there is no room"
        );
        assert!(timeout(CANCELLED_TIME, limit.admit(&ping(0))).await.is_ok());
    }
}
