//! The headers of messages, and requests over NATS.

use std::time::Duration;

use async_nats::client::{RequestError, RequestErrorKind};
use async_nats::{Client, HeaderMap, Message, Request};
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::error::NatsError;

/// The header with the time in milliseconds that the sender waits from when it sends a message.
const TIMEOUT: &str = "Toolwright-Timeout-Ms";

/// The time limit for the server to answer.
const ROUND_TRIP: Duration = Duration::from_secs(10);

/// The longest time that a worker or a client waits, whatever its options or a header say.
pub(crate) const MAX_LIMIT: Duration = Duration::from_hours(30 * 24);

/// The bytes of headers that NATS counts as part of a message, at most.
pub(crate) const HEADER_BYTES: usize = 128;

/// Sends a request, and waits for its reply for this time.
pub(crate) async fn request(
    client: &Client,
    subject: String,
    message: Vec<u8>,
    time: Duration,
) -> Result<Message, RequestError> {
    let request = Request::new().payload(message.into()).headers(headers(time));
    client.send_request(subject, request.timeout(Some(time))).await
}

/// Waits until the server has read everything that this client sent before.
pub(crate) async fn round_trip(client: &Client) -> Result<(), NatsError> {
    let inbox = client.new_inbox();
    let mut subscriber = client.subscribe(inbox.clone()).await?;
    client.publish(inbox, "".into()).await.map_err(|error| NatsError::Nats(error.into()))?;
    match timeout(ROUND_TRIP, subscriber.next()).await {
        Ok(Some(_)) => Ok(()),
        _ => Err(NatsError::Nats("the server does not answer".into())),
    }
}

/// The headers of a message whose sender waits for this time.
pub(crate) fn headers(time: Duration) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    headers.insert(TIMEOUT, milliseconds.to_string().as_str());
    headers
}

/// Returns the time that the sender of a message waits from when it sent the message, at most [`MAX_LIMIT`].
pub(crate) fn time_limit(message: &Message) -> Option<Duration> {
    let milliseconds = message.headers.as_ref()?.get(TIMEOUT)?.as_str().parse().ok()?;
    Some(Duration::from_millis(milliseconds).min(MAX_LIMIT))
}

/// Returns whether a request failed because nothing subscribes to its subject.
pub(crate) fn has_no_responders(error: &RequestError) -> bool {
    error.kind() == RequestErrorKind::NoResponders
}

/// Returns whether the reply to a request did not come in time.
pub(crate) fn is_late(error: &RequestError) -> bool {
    error.kind() == RequestErrorKind::TimedOut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_waits_for_longer_than_a_call_may_take() {
        for (sent, expected) in [
            ("250", Some(Duration::from_millis(250))),
            ("2592000001", Some(MAX_LIMIT)),
            ("18446744073709551615", Some(MAX_LIMIT)),
            ("18446744073709551616", None),
            ("soon", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(TIMEOUT, sent);
            let message = Message {
                subject: "toolwright.disks".into(),
                reply: None,
                payload: "".into(),
                headers: Some(headers),
                status: None,
                description: None,
                length: 0,
            };
            assert_eq!(time_limit(&message), expected, "{sent}");
        }
    }
}
