//! Resumes calls of sessions: while a client is disconnected, its call runs on for some seconds and the answer is kept.
//! rmcp's own sessions drop an answer once it is sent, may keep that of a cancelled call, and block on clients that do not
//! read.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    GetExtensions as _, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionError,
};
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::server::message::without_unused_params;
use crate::server::sessions::{OpenRequest, RequestGuards, Session};

/// How long a client may be disconnected. rmcp tells it to reconnect after three seconds.
const MAX_DISCONNECTED: Duration = Duration::from_secs(5);

/// How long a cancelled call may go on before rmcp is told to drop its answer.
const MAX_CANCELLED: Duration = Duration::from_secs(5);

/// The number of unread events that are kept. Further progress events are dropped.
const MAX_UNREAD: usize = 16;

/// rmcp's sessions, extended so that answers outlive their connection.
pub(super) struct ResumableSessions {
    inner: Arc<LocalSessionManager>,
    calls: Arc<Calls>,
}

/// The tasks that deliver the answers of calls, by session and stream.
#[derive(Default)]
struct Calls {
    by_session: Mutex<BySession>,
    /// The maximum number of calls in a session.
    max: usize,
}

type BySession = HashMap<SessionId, HashMap<u64, Reconnect>>;

type Writer = mpsc::Sender<ServerSseMessage>;

/// Hands the next connection of a call to the task that delivers its answer.
#[derive(Clone)]
struct Reconnect {
    writers: mpsc::Sender<Writer>,
    answered: CancellationToken,
}

/// The events of a call on one connection, up to the answer.
struct Events {
    events: mpsc::Receiver<ServerSseMessage>,
    answered: CancellationToken,
}

/// A call of a session.
struct Call {
    sessions: Arc<LocalSessionManager>,
    calls: Arc<Calls>,
    session: SessionId,
    request: RequestId,
    /// Reserves the id of the request until it is answered.
    open: Option<Arc<OpenRequest>>,
    /// The stream id, which is a part of each event id. Unknown before the first event.
    stream: Option<u64>,
    /// Cancelled when the client has read the answer.
    answered: CancellationToken,
}

impl ResumableSessions {
    /// Limits each session to `max_calls` calls, including those with an unread answer.
    pub(super) fn new(inner: Arc<LocalSessionManager>, max_calls: usize) -> Self {
        let calls = Calls { max: max_calls, ..Calls::default() };
        Self { inner, calls: Arc::new(calls) }
    }
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, BySession> {
        self.by_session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// Forwards the events of a call. If no one waits for its answer, cancels it and drops the answer.
    async fn deliver(
        mut self,
        mut source: impl Stream<Item = ServerSseMessage> + Unpin,
        writer: Writer,
    ) {
        if self.forward(&mut source, writer).await {
            return;
        }
        if let Some(open) = &self.open {
            open.cancelled().cancel();
        }
        let answered = source.any(|event| std::future::ready(is_answer(&event)));
        if tokio::time::timeout(MAX_CANCELLED, answered).await.unwrap_or(false) {
            self.end();
        } else {
            self.forget().await;
        }
    }

    /// Forwards the events of a call, on one connection after the other, until the answer is read or the client stays away
    /// or cancels the call. It never waits for a client to read, because that would hold up the client's other calls.
    /// Returns whether there was an answer.
    async fn forward(
        &mut self,
        mut source: impl Stream<Item = ServerSseMessage> + Unpin,
        mut writer: Writer,
    ) -> bool {
        let (writers, mut reconnected) = mpsc::channel(1);
        let reconnect = Reconnect { writers, answered: self.answered.clone() };
        let cancelled = self.open.as_ref().map(|open| open.cancelled().clone()).unwrap_or_default();
        let (mut answer, mut deadline) = (None, None);
        loop {
            tokio::select! {
                event = source.next(), if answer.is_none() => {
                    let Some(event) = event else { return false };
                    self.register(&event, &reconnect);
                    if is_answer(&event) {
                        // The client may use the id again as soon as it has read the answer.
                        self.end();
                        answer = Some(event.clone());
                        let _ = writer.try_send(event);
                    } else if writer.capacity() > 1 {
                        // The last place is for the answer.
                        let _ = writer.try_send(event);
                    }
                }
                Some(next) = reconnected.recv() => {
                    (writer, deadline) = (next, None);
                    if let Some(answer) = &answer {
                        let _ = writer.try_send(answer.clone());
                    }
                }
                () = self.answered.cancelled() => return true,
                () = cancelled.cancelled(), if answer.is_none() => return false,
                () = writer.closed(), if deadline.is_none() => {
                    deadline = Some(Instant::now() + MAX_DISCONNECTED);
                }
                () = sleep_until(deadline) => return answer.is_some(),
            }
            if answer.is_some() && self.exceeds_max() {
                return true;
            }
        }
    }

    /// Makes the call resumable once an event has given it a stream id.
    fn register(&mut self, event: &ServerSseMessage, reconnect: &Reconnect) {
        let stream = event.event_id.as_deref().and_then(stream_of);
        let (None, Some(stream)) = (&self.stream, stream) else { return };
        self.stream = Some(stream);
        let mut calls = self.calls.lock();
        let calls = calls.entry(self.session.clone()).or_default();
        calls.insert(stream, reconnect.clone());
    }

    /// Returns whether the session has too many calls to keep this answer.
    fn exceeds_max(&self) -> bool {
        let calls = self.calls.lock();
        calls.get(&self.session).is_some_and(|calls| calls.len() > self.calls.max)
    }

    fn end(&mut self) {
        if let Some(open) = self.open.take() {
            open.end();
        }
    }

    /// Makes rmcp forget the call and its stream, and drop the answer.
    async fn forget(&self) {
        let Some(session) = self.sessions.sessions.read().await.get(&self.session).cloned() else {
            return;
        };
        let reason = "the client is gone".to_owned();
        let params = CancelledNotificationParam::new(Some(self.request.clone()), Some(reason));
        let cancelled = CancelledNotification::new(params);
        let cancelled = ClientJsonRpcMessage::notification(cancelled.into());
        let ended = async {
            session.push_message(cancelled, None).await?;
            match self.stream {
                Some(stream) => session.close_request_wise_channel(stream).await,
                None => Ok(()),
            }
        };
        if let Err(error) = ended.await {
            tracing::debug!(%error, "a call could not be forgotten");
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let Some(stream) = self.stream else { return };
        let mut sessions = self.calls.lock();
        if let Some(calls) = sessions.get_mut(&self.session) {
            calls.remove(&stream);
            if calls.is_empty() {
                sessions.remove(&self.session);
            }
        }
    }
}

impl Stream for Events {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.answered.is_cancelled() {
            return Poll::Ready(None);
        }
        let event = self.events.poll_recv(context);
        if let Poll::Ready(Some(event)) = &event
            && is_answer(event)
        {
            self.answered.cancel();
        }
        event
    }
}

fn is_answer(event: &ServerSseMessage) -> bool {
    let message = event.message.as_deref();
    matches!(message, Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)))
}

/// Returns the stream id in an event id, which is `EVENT/STREAM` in rmcp. Like rmcp, reads it as a number: a client may write it in
/// another way.
fn stream_of(event_id: &str) -> Option<u64> {
    event_id.split_once('/')?.1.parse().ok()
}

/// Sleeps until a deadline, or forever if there is none.
async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

type Boxed = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

impl SessionManager for ResumableSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.inner.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        // The session may begin although its client disconnects now, and it must end even then.
        if let ClientJsonRpcMessage::Request(request) = &message
            && let Some(guards) = RequestGuards::of(request.request.extensions())
            && let Some(session) = guards.session()
        {
            session.set_id(id);
        }
        self.inner.initialize_session(id, without_unused_params(message)).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let ClientJsonRpcMessage::Request(request) = &message else {
            return Ok(Box::pin(self.inner.create_stream(id, message).await?) as Boxed);
        };
        let (writer, events) = mpsc::channel(MAX_UNREAD);
        let answered = CancellationToken::new();
        let call = Call {
            sessions: Arc::clone(&self.inner),
            calls: Arc::clone(&self.calls),
            session: id.clone(),
            request: request.id.clone(),
            open: RequestGuards::of(request.request.extensions()).and_then(RequestGuards::request),
            stream: None,
            answered: answered.clone(),
        };
        // A client may send `initialize` again.
        let message = without_unused_params(message);
        let (sessions, session) = (Arc::clone(&self.inner), id.clone());
        let starting = async move {
            let source = sessions.create_stream(&session, message).await?;
            tokio::spawn(call.deliver(Box::pin(source), writer));
            Ok::<_, LocalSessionManagerError>(())
        };
        // Not dropped with the request of a client that disconnects: rmcp would keep the stream.
        let started = tokio::spawn(starting).await;
        started.unwrap_or(Err(SessionError::SessionServiceTerminated.into()))?;
        Ok(Box::pin(Events { events, answered }))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        if let ClientJsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(session) = Session::of(&cancelled.extensions)
        {
            // rmcp would close the stream first, and keep an answer that comes later for the next `GET`.
            if let Some(request) = &cancelled.params.request_id {
                session.cancel(request);
            }
            return Ok(());
        }
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let reconnect = stream_of(&last_event_id)
            .and_then(|stream| self.calls.lock().get(id)?.get(&stream).cloned());
        if let Some(reconnect) = reconnect {
            let (writer, events) = mpsc::channel(MAX_UNREAD);
            if reconnect.writers.send(writer).await.is_ok() {
                let answered = reconnect.answered;
                return Ok(Box::pin(Events { events, answered }) as Boxed);
            }
        }
        Ok(Box::pin(self.inner.resume(id, last_event_id).await?))
    }

    async fn restore_session(
        &self,
        id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.inner.restore_session(id).await
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::Request;
    use rmcp::transport::Transport;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;
    use crate::server::sessions::{Caller, Sessions};
    use crate::server::{Counters, Limits};

    fn parse<M: DeserializeOwned>(message: Value) -> M {
        serde_json::from_value(message).unwrap()
    }

    fn ping() -> ClientJsonRpcMessage {
        parse(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }))
    }

    /// Opens a session. Returns its id and the server's end.
    async fn open(
        sessions: &ResumableSessions,
    ) -> (SessionId, <ResumableSessions as SessionManager>::Transport) {
        let (id, mut server) = sessions.create_session().await.unwrap();
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        });
        let initialize =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let initializing = sessions.initialize_session(&id, parse(initialize));
        let answering = async {
            server.receive().await.unwrap();
            let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": {} });
            server.send(parse(answer)).await.unwrap();
        };
        let (initialized, ()) = tokio::join!(initializing, answering);
        initialized.unwrap();
        (id, server)
    }

    #[tokio::test(start_paused = true)]
    async fn rmcp_keeps_nothing_of_a_request_that_is_never_answered() {
        let inner = Arc::new(LocalSessionManager::default());
        let sessions = ResumableSessions::new(Arc::clone(&inner), 1);
        let (id, mut server) = open(&sessions).await;
        let mut events = Box::pin(sessions.create_stream(&id, ping()).await.unwrap());
        let first = events.next().await.unwrap().event_id.unwrap();
        drop(events);
        let request = server.receive().await;
        assert!(matches!(request, Some(ClientJsonRpcMessage::Request(_))), "{request:?}");
        let cancelled = server.receive().await;
        assert!(matches!(cancelled, Some(ClientJsonRpcMessage::Notification(_))), "{cancelled:?}");
        while !sessions.calls.lock().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(inner.resume(&id, first).await.is_err(), "the stream is closed");
    }

    /// The server answers although the request was cancelled.
    #[tokio::test(start_paused = true)]
    async fn the_answer_of_a_cancelled_request_is_dropped() {
        let inner = Arc::new(LocalSessionManager::default());
        let sessions = ResumableSessions::new(Arc::clone(&inner), 1);
        let (id, mut server) = open(&sessions).await;
        let (limits, counters) = (Limits::default(), Counters::default());
        let table = Arc::new(Sessions::new(Arc::clone(&inner), None, limits, counters));
        let opened = table.open(&Caller::Unknown).unwrap();
        opened.set_id(&id);
        let session = table.find(&id).unwrap();
        let begin = || session.begin_request(&RequestId::Number(1), None);
        let guards = RequestGuards::default();
        guards.hold_request(begin().unwrap());
        let mut parts = Request::new(()).into_parts().0;
        parts.extensions.insert(Arc::clone(&session));
        parts.extensions.insert(guards);

        let mut request = ping();
        request.insert_extension(parts.clone());
        let events = Box::pin(sessions.create_stream(&id, request).await.unwrap());
        server.receive().await.unwrap();
        let params = json!({ "requestId": 1 });
        let mut cancelled: ClientJsonRpcMessage = parse(
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
        );
        cancelled.insert_extension(parts);
        sessions.accept_message(&id, cancelled).await.unwrap();
        let answers = events.filter(|event| std::future::ready(is_answer(event))).count();
        assert_eq!(answers.await, 0, "the stream ends without an answer");
        assert!(begin().is_err(), "the id is in use until the server has answered");

        let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
        server.send(parse(answer)).await.unwrap();
        let mut later = Box::pin(sessions.create_standalone_stream(&id).await.unwrap());
        let kept = tokio::time::timeout(Duration::from_secs(1), later.next()).await;
        assert!(kept.is_err(), "the answer is not kept for another stream: {kept:?}");
        assert!(begin().is_ok(), "the id is free");
    }
}
