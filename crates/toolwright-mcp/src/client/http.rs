//! Sends the HTTP requests of rmcp's transport. Limits the size of bodies, removes the client's credentials from them, and
//! follows redirects only to the same server. rmcp handles sessions, streams and headers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use tokio::sync::mpsc;
use toolwright::http::RedactedUrl;
use toolwright::untrusted::{Redactor, visible};

use super::events::Events;
use super::message_codec::{Decoded, MessageCodec};
use super::notifications::ListChanges;
use super::options::ClientOptions;
use super::pause::{Pauses, pause};
use super::reply_limit::ReplyLimit;

/// The maximum number of bytes read of an error response's body.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// The maximum number of bytes of the id of an event or a session.
const MAX_ID: usize = 4 * 1024;

/// The maximum number of redirects of one request.
const MAX_REDIRECTS: usize = 5;

const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// The HTTP client of rmcp's transport.
#[derive(Clone)]
pub(super) struct HttpClient {
    client: reqwest::Client,
    codec: Arc<MessageCodec>,
    replies: ReplyLimit,
    /// Removes the client's credentials from everything that the server sends.
    redactor: Arc<Redactor>,
    /// The maximum number of bytes of a body or an event.
    max_bytes: usize,
    /// The timeout of the probe for the newer era.
    probe_timeout: Duration,
    changes: Arc<ListChanges>,
    /// The id of the last event of the stream of notifications, which tells it from the streams of requests.
    last_event: Arc<Mutex<Option<String>>>,
    /// Its drop signals that the transport has ended.
    _alive: mpsc::Sender<()>,
}

pub(super) type HttpError = StreamableHttpError<RequestError>;

/// An error of a request, without secrets of its URL.
#[derive(Debug)]
pub(super) enum RequestError {
    /// The request could not be sent, or its response could not be read.
    Http(reqwest::Error),
    /// The server sent a redirect that is not followed.
    Redirected { status: u16, to: String, reason: &'static str },
    /// An error after a redirect that was followed.
    AfterRedirect(Box<HttpError>),
}

impl HttpClient {
    pub(super) fn new(
        client: reqwest::Client,
        (codec, changes): (Arc<MessageCodec>, Arc<ListChanges>),
        replies: ReplyLimit,
        redactor: Redactor,
        options: &ClientOptions,
        alive: mpsc::Sender<()>,
    ) -> Self {
        let (max_bytes, probe_timeout) = (options.max_message_bytes, options.probe_timeout);
        // Until the stream of notifications is open; without a session there is none.
        changes.stream_closed();
        Self {
            client,
            codec,
            replies,
            redactor: Arc::new(redactor),
            max_bytes,
            probe_timeout,
            changes,
            last_event: Arc::default(),
            _alive: alive,
        }
    }

    async fn post(&self, post: Post) -> Result<StreamableHttpPostResponse, HttpError> {
        let text = self.codec.encode(&post.message)?;
        let mut request =
            self.client.post(&*post.uri).header(ACCEPT, format!("{EVENT_STREAM}, {JSON}"));
        request = request.header(CONTENT_TYPE, JSON).body(text);
        request = with_headers(request, post.session.as_deref(), post.bearer, post.headers);
        let mut redirects = 0;
        let answer = async {
            let response = self.send(request, &mut redirects).await?;
            let status = response.status();
            if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            if status == StatusCode::NOT_FOUND && post.session.is_some() {
                return Err(StreamableHttpError::SessionExpired);
            }
            if !status.is_success() {
                return self.read_error(&post.message, response).await;
            }
            self.read_success(&post.message, response).await
        };
        match answer.await {
            Err(error) if redirects > 0 => Err(RequestError::AfterRedirect(error.into()).into()),
            answer => answer,
        }
    }

    /// Sends a request and follows redirects that keep the scheme, host, port and method, and counts those. No other server may get
    /// the headers and the message.
    async fn send(
        &self,
        request: RequestBuilder,
        redirects: &mut usize,
    ) -> Result<Response, HttpError> {
        let mut request = request.build().map_err(RequestError::from)?;
        loop {
            let copy = request.try_clone();
            let response = self.client.execute(request).await.map_err(RequestError::from)?;
            let (Some(to), Some(mut next)) = (redirect(&response), copy) else {
                return Ok(response);
            };
            let status = response.status();
            let keeps_method =
                matches!(status.as_u16(), 307 | 308) || *next.method() == Method::GET;
            let is_same_server = to.origin() == next.url().origin()
                && to.username().is_empty()
                && to.password().is_none();
            let reason = match (is_same_server, keeps_method, *redirects == MAX_REDIRECTS) {
                (false, ..) => "another server; if it is the right one, connect to its address",
                (_, false, _) => "which would change the method to GET; expected status 307 or 308",
                (.., true) => "after too many redirects",
                _ => {
                    *redirects += 1;
                    *next.url_mut() = to;
                    request = next;
                    continue;
                }
            };
            let to = RedactedUrl::new(to.as_str()).to_string();
            let to = self.redactor.redacted(&to).into_owned();
            return Err(RequestError::Redirected { status: status.as_u16(), to, reason }.into());
        }
    }

    /// Reads a successful response. Only a request has a response with content; any other is dropped, which closes its stream.
    async fn read_success(
        &self,
        message: &ClientJsonRpcMessage,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        if !matches!(message, ClientJsonRpcMessage::Request(_)) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = response.headers().get("mcp-session-id");
        let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
        // rmcp logs it.
        if session.as_ref().is_some_and(|id| !self.is_clean(id)) {
            let reason = "the session id repeats a credential of the client, has hidden characters, or is longer than 4096 bytes";
            return Err(StreamableHttpError::UnexpectedServerResponse(reason.into()));
        }
        let kind = self.header(&response, &CONTENT_TYPE).unwrap_or_default();
        if is_media_type(&kind, EVENT_STREAM) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response), session));
        }
        if !is_media_type(&kind, JSON) {
            return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
        }
        let body = self.body(response, self.max_bytes).await?;
        match self.codec.decode(&body)? {
            Decoded::Message(message) => Ok(StreamableHttpPostResponse::Json(*message, session)),
            Decoded::Ignored => Ok(StreamableHttpPostResponse::Accepted),
        }
    }

    /// Reads an error response. Its body may be a JSON-RPC error.
    async fn read_error(
        &self,
        message: &ClientJsonRpcMessage,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let status = response.status();
        self.check_authorization(&response)?;
        let is_unauthorized = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let metadata = HttpStatusError::new(status.as_u16(), self.header(&response, &RETRY_AFTER));
        let body = self.body(response, MAX_ERROR_BODY).await.unwrap_or_default();
        if is_unauthorized || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(metadata.into());
        }
        if let Ok(ServerJsonRpcMessage::Error(mut error)) = serde_json::from_slice(&body) {
            // Some servers leave out the id of a request that they reject.
            error.id = request_id(message).or(error.id);
            let message = ServerJsonRpcMessage::Error(error);
            return Ok(StreamableHttpPostResponse::Json(message, None));
        }
        if is_probe(message) && status.is_client_error() {
            return Ok(self.probe_rejected());
        }
        Err(metadata.into())
    }

    /// Returns the response that makes rmcp use the older era, because the probe was not answered.
    fn probe_rejected(&self) -> StreamableHttpPostResponse {
        let error = self.codec.give_up_probe();
        error.map_or(StreamableHttpPostResponse::Accepted, |message| {
            StreamableHttpPostResponse::Json(message, None)
        })
    }

    /// Returns the events of a stream, decoded by the message codec.
    fn events(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        let mut events = Events::new(self.max_bytes);
        let events = response.bytes_stream().flat_map(move |chunk| {
            let mut complete = Vec::new();
            let chunk = chunk.map_err(|error| io::Error::other(error.without_url()));
            let fed = chunk.and_then(|chunk| events.feed(&chunk, &mut complete));
            let error = fed.err().map(|error| SseError::Body(Box::new(error)));
            stream::iter(complete.into_iter().map(Ok).chain(error.map(Err)))
        });
        let http = self.clone();
        let events = events.then(move |event| {
            let http = http.clone();
            async move {
                match event {
                    Ok(event) => Ok(http.decode_event(event).await),
                    error => error,
                }
            }
        });
        events.boxed()
    }

    /// Requests a stream.
    async fn open_stream(&self, request: RequestBuilder) -> Result<Response, HttpError> {
        let response = self.send(request, &mut 0).await?;
        let status = response.status();
        if status == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        self.check_authorization(&response)?;
        if !status.is_success() {
            return Err(HttpStatusError::new(status.as_u16(), None).into());
        }
        let kind = self.header(&response, &CONTENT_TYPE).unwrap_or_default();
        if !is_media_type(&kind, EVENT_STREAM) {
            return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
        }
        Ok(response)
    }

    /// Returns the events of the stream of notifications, and tracks whether it is open.
    fn notifications(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        self.changes.stream_opened();
        let open = OpenStream(self.clone());
        let events = self.events(response).inspect(move |event| match event {
            Ok(Sse { id: Some(id), .. }) => *open.0.last_event() = Some(id.clone()),
            Ok(_) => {}
            Err(_) => open.0.changes.stream_closed(),
        });
        events.then(pause_after_error).boxed()
    }

    fn last_event(&self) -> MutexGuard<'_, Option<String>> {
        self.last_event.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decodes the message of an event. A request waits here until another reply is allowed.
    async fn decode_event(&self, mut event: Sse) -> Sse {
        event.retry = event.retry.map(pause);
        // rmcp logs them.
        event.id = event.id.filter(|id| self.is_clean(id));
        event.event = event.event.filter(|kind| self.is_clean(kind));
        let Some(data) = event.data.take() else { return event };
        event.data = match self.codec.decode_redacted(&data, &self.redactor) {
            Ok(Decoded::Message(message)) => {
                self.replies.admit(&message).await;
                serde_json::to_string(&message).ok()
            }
            Ok(Decoded::Ignored) => None,
            Err(redacted) => Some(redacted),
        };
        event
    }

    /// Returns an error if the response asks for another authorization.
    fn check_authorization(&self, response: &Response) -> Result<(), HttpError> {
        let Some(challenge) = self.header(response, &WWW_AUTHENTICATE) else { return Ok(()) };
        match response.status() {
            StatusCode::UNAUTHORIZED => {
                Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)))
            }
            StatusCode::FORBIDDEN => Err(StreamableHttpError::InsufficientScope(
                InsufficientScopeError::new(challenge, None),
            )),
            _ => Ok(()),
        }
    }

    /// Returns whether a text of the server is short and has no credential of the client and no hidden character.
    fn is_clean(&self, text: &str) -> bool {
        let is_plain = text.len() <= MAX_ID && !text.chars().any(char::is_control);
        is_plain && visible(text) == text && self.redactor.redacted(text) == text
    }

    /// Returns a header of a response, without the client's credentials.
    fn header(&self, response: &Response, name: &HeaderName) -> Option<String> {
        let value = response.headers().get(name)?.to_str().ok()?;
        Some(self.redactor.redacted(value).into_owned())
    }

    /// Reads a body of at most `max` bytes and removes the client's credentials.
    async fn body(&self, mut response: Response, max: usize) -> Result<Vec<u8>, HttpError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(RequestError::from)? {
            if body.len() + chunk.len() > max {
                return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: max });
            }
            body.extend_from_slice(&chunk);
        }
        let redacted = match self.redactor.redacted(&String::from_utf8_lossy(&body)) {
            Cow::Owned(redacted) => Some(redacted.into_bytes()),
            Cow::Borrowed(_) => None,
        };
        Ok(redacted.unwrap_or(body))
    }
}

/// The stream of notifications. Its drop means that the server cannot announce changes any more.
struct OpenStream(HttpClient);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.changes.stream_closed();
    }
}

/// Returns whether a request may succeed later.
fn is_temporary(error: &HttpError) -> bool {
    match error {
        StreamableHttpError::HttpStatus(error) => error.status == 429 || error.status >= 500,
        StreamableHttpError::Client(error) => matches!(error, RequestError::Http(_)),
        _ => false,
    }
}

/// Returns an event at once and an error after a pause, because rmcp would request the stream again at once.
async fn pause_after_error(event: Result<Sse, SseError>) -> Result<Sse, SseError> {
    if event.is_err() {
        tokio::time::sleep(Duration::from_millis(pause(0))).await;
    }
    event
}

/// Returns whether a `Content-Type` names this media type, ignoring case and parameters (RFC 9110, section 8.3.1).
fn is_media_type(kind: &str, name: &str) -> bool {
    let found = kind.split_once(';').map_or(kind, |(found, _)| found);
    found.trim().eq_ignore_ascii_case(name)
}

/// Returns the target of a redirect.
fn redirect(response: &Response) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    response.url().join(response.headers().get(LOCATION)?.to_str().ok()?).ok()
}

/// The parts of a POST request.
struct Post {
    uri: Arc<str>,
    message: ClientJsonRpcMessage,
    session: Option<Arc<str>>,
    bearer: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
}

fn request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

fn is_probe(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::DiscoverRequest(_)))
}

fn with_headers(
    mut request: RequestBuilder,
    session: Option<&str>,
    bearer: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
) -> RequestBuilder {
    if let Some(bearer) = bearer {
        request = request.bearer_auth(bearer);
    }
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.headers(headers.into_iter().collect::<HeaderMap>())
}

impl StreamableHttpClient for HttpClient {
    type Error = RequestError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        bearer: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let is_probe = is_probe(&message);
        let answer = self.post(Post { uri, message, session, bearer, headers });
        if !is_probe {
            return answer.await;
        }
        match tokio::time::timeout(self.probe_timeout, answer).await {
            Ok(answer) => answer,
            Err(_) => Ok(self.probe_rejected()),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        bearer: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        let request = with_headers(self.client.delete(&*uri), Some(&*session), bearer, headers);
        let status = self.send(request, &mut 0).await?.status();
        if status.is_success() || status == StatusCode::METHOD_NOT_ALLOWED {
            return Ok(());
        }
        Err(HttpStatusError::new(status.as_u16(), None).into())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event_id: Option<String>,
        bearer: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let is_of_notifications = last_event_id.is_none() || *self.last_event() == last_event_id;
        let mut pauses = Pauses::default();
        loop {
            let mut request = self.client.get(&*uri).header(ACCEPT, EVENT_STREAM);
            if let Some(id) = &last_event_id {
                request = request.header("last-event-id", id);
            }
            let request =
                with_headers(request, session.as_deref(), bearer.clone(), headers.clone());
            let answer = self.open_stream(request).await;
            if !is_of_notifications {
                return answer
                    .map(|response| self.events(response).then(pause_after_error).boxed());
            }
            match answer {
                Ok(response) => return Ok(self.notifications(response)),
                Err(StreamableHttpError::ServerDoesNotSupportSse) => {
                    // It announces nothing, like a server that does not say that it does.
                    self.changes.stream_opened();
                    return Err(StreamableHttpError::ServerDoesNotSupportSse);
                }
                Err(error) => {
                    self.changes.stream_closed();
                    // rmcp would not request the first stream again.
                    if !is_temporary(&error) {
                        return Err(error);
                    }
                    tracing::debug!("the stream of notifications could not be opened: {error}");
                }
            }
            tokio::time::sleep(pauses.next(Duration::ZERO)).await;
        }
    }
}

impl From<reqwest::Error> for RequestError {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error.without_url())
    }
}

impl From<RequestError> for HttpError {
    fn from(error: RequestError) -> Self {
        Self::Client(error)
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(error) => error.fmt(f),
            Self::Redirected { to, reason, .. } => write!(f, "it redirects to `{to}`, {reason}"),
            Self::AfterRedirect(error) => write!(f, "after a redirect: {error}"),
        }
    }
}

impl std::error::Error for RequestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Http(error) => error.source(),
            Self::Redirected { .. } => None,
            Self::AfterRedirect(error) => error.source(),
        }
    }
}
