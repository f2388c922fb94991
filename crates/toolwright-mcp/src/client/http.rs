//! Requests to a server on streamable HTTP, for rmcp's transport: results stay texts, bodies are bounded and without our
//! credentials, redirects stay with the server. Sessions, streams and headers are rmcp's.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
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
use sse_stream::{Sse, SseStream};
use tokio::sync::mpsc;
use toolwright::http::RedactedUrl;
use toolwright::untrusted::Redactor;

use super::options::ClientOptions;
use super::replies::Replies;
use super::texts::{Incoming, Texts};

/// The body of a failure is for operators to read; more of it is not kept.
const LONGEST_FAILURE: usize = 64 * 1024;

/// The largest number of redirects that one request follows.
const MOST_REDIRECTS: usize = 5;

/// The shortest pause before a stream is requested again after it has ended, in milliseconds.
const SHORTEST_PAUSE: u64 = 1_000;

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// A client that keeps the results of calls as texts.
#[derive(Clone)]
pub(super) struct TextHttp {
    client: reqwest::Client,
    texts: Arc<Texts>,
    replies: Arc<Replies>,
    /// Takes our credentials out of all that the server says.
    redactor: Arc<Redactor>,
    /// How many bytes a body or an event may have.
    longest: usize,
    /// How long the probe for the newer era may take.
    probe: Duration,
    /// Dropped with the last request, and so seen by whoever waits for the end.
    _alive: mpsc::Sender<()>,
}

pub(super) type Failure = StreamableHttpError<RequestError>;

/// Why a request has no response that can be used. It tells no secret of a URL.
#[derive(Debug)]
pub(super) enum RequestError {
    /// The request could not be sent, or its response not be read.
    Http(reqwest::Error),
    /// The server sent it somewhere else.
    Redirected { status: u16, to: String, why: &'static str },
}

impl TextHttp {
    pub(super) fn new(
        client: reqwest::Client,
        texts: Arc<Texts>,
        redactor: Redactor,
        options: &ClientOptions,
        alive: mpsc::Sender<()>,
    ) -> Self {
        let (longest, probe) = (options.max_message_bytes, options.probe_timeout);
        let (replies, redactor) = (Arc::default(), Arc::new(redactor));
        Self { client, texts, replies, redactor, longest, probe, _alive: alive }
    }

    async fn post(&self, post: Post) -> Result<StreamableHttpPostResponse, Failure> {
        let text = self.texts.outgoing(&post.message)?;
        let _until_it_is_written = self.replies.permit(&post.message);
        let mut request = self.client.post(&*post.uri).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        request = request.header(CONTENT_TYPE, JSON).body(text);
        request = dressed(request, post.session.as_deref(), post.bearer, post.headers);
        let response = self.send(request).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && post.session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return self.failed(&post.message, response).await;
        }
        self.answered(&post.message, response).await
    }

    /// Sends a request, and sends it again where a redirect stays with the same scheme, host and port and keeps the
    /// method. Headers and messages are for nobody else.
    async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let mut request = request.build().map_err(RequestError::from)?;
        let mut redirects = 0;
        loop {
            let again = request.try_clone();
            let response = self.client.execute(request).await.map_err(RequestError::from)?;
            let (Some(to), Some(mut next)) = (redirect(&response), again) else {
                return Ok(response);
            };
            let status = response.status();
            let keeps_method =
                matches!(status.as_u16(), 307 | 308) || *next.method() == Method::GET;
            let is_same = to.origin() == next.url().origin()
                && to.username().is_empty()
                && to.password().is_none();
            redirects += 1;
            let why = match (is_same, keeps_method, redirects > MOST_REDIRECTS) {
                (false, ..) => "another server; if it is the right one, connect to its address",
                (_, false, _) => "where it may be sent as a GET alone; expected status 307 or 308",
                (.., true) => "one redirect too many",
                _ => {
                    *next.url_mut() = to;
                    request = next;
                    continue;
                }
            };
            let to = RedactedUrl::new(to.as_str()).to_string();
            let to = self.redactor.redacted(&to).into_owned();
            return Err(RequestError::Redirected { status: status.as_u16(), to, why }.into());
        }
    }

    /// What a response of success holds.
    async fn answered(
        &self,
        message: &ClientJsonRpcMessage,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let session = response.headers().get("mcp-session-id");
        let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
        let kind = self.header(&response, &CONTENT_TYPE).unwrap_or_default();
        if is_media_type(&kind, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response), session));
        }
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        if !is_request {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !is_media_type(&kind, JSON) {
            return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
        }
        let body = self.body(response, self.longest).await?;
        match self.texts.incoming(&body)? {
            Incoming::Message(message) => Ok(StreamableHttpPostResponse::Json(*message, session)),
            Incoming::Nothing => Ok(StreamableHttpPostResponse::Accepted),
        }
    }

    /// What a response of failure says: an error of JSON-RPC, if it holds one.
    async fn failed(
        &self,
        message: &ClientJsonRpcMessage,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let status = response.status();
        self.challenged(&response)?;
        let is_refusal = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let metadata = HttpStatusError::new(status.as_u16(), self.header(&response, &RETRY_AFTER));
        let body = self.body(response, LONGEST_FAILURE).await.unwrap_or_default();
        if is_refusal || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(metadata.into());
        }
        if let Ok(ServerJsonRpcMessage::Error(mut error)) = serde_json::from_slice(&body) {
            // Some servers cannot read the id of what they refuse.
            error.id = request_id(message).or(error.id);
            let message = ServerJsonRpcMessage::Error(error);
            return Ok(StreamableHttpPostResponse::Json(message, None));
        }
        if is_probe(message) && status.is_client_error() {
            return Ok(self.no_discovery());
        }
        Err(metadata.into())
    }

    /// What rmcp is told where the probe was not answered.
    fn no_discovery(&self) -> StreamableHttpPostResponse {
        let refused = self.texts.give_up_probe();
        refused.map_or(StreamableHttpPostResponse::Accepted, |message| {
            StreamableHttpPostResponse::Json(message, None)
        })
    }

    /// The events of a stream, with the results that are waited for taken out.
    fn events(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        let mut limit = EventLimit { longest: self.longest, length: 0, at_line_start: true };
        let bytes = response.bytes_stream().map(move |chunk| match chunk {
            Ok(chunk) if limit.holds(&chunk) => Ok(chunk),
            Ok(_) => Err(std::io::Error::other("an event is too large")),
            Err(error) => Err(std::io::Error::other(error.without_url())),
        });
        let http = self.clone();
        let events = SseStream::from_bytes_stream(bytes);
        let events = events.then(move |event| {
            let http = http.clone();
            async move {
                match event {
                    Ok(event) => Ok(http.lighter(event).await),
                    error => error,
                }
            }
        });
        events.boxed()
    }

    /// The same event, with a result that is waited for taken out; a request once it may be answered.
    async fn lighter(&self, mut event: Sse) -> Sse {
        event.retry = event.retry.map(pause);
        let Some(data) = event.data.take() else { return event };
        let data = self.redactor.redacted(&data);
        event.data = match self.texts.incoming(data.as_bytes()) {
            Ok(Incoming::Message(message)) => {
                self.replies.admit(&message).await;
                serde_json::to_string(&message).ok()
            }
            Ok(Incoming::Nothing) => None,
            Err(_) => Some(data.into_owned()),
        };
        event
    }

    /// The error of a response that asks for another authorisation.
    fn challenged(&self, response: &Response) -> Result<(), Failure> {
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

    /// A header of a response, without our credentials.
    fn header(&self, response: &Response, name: &HeaderName) -> Option<String> {
        let value = response.headers().get(name)?.to_str().ok()?;
        Some(self.redactor.redacted(value).into_owned())
    }

    /// Reads a whole body of at most `longest` bytes and removes our credentials from it.
    async fn body(&self, mut response: Response, longest: usize) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(RequestError::from)? {
            if body.len() + chunk.len() > longest {
                return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: longest });
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

/// The event, or the error after a pause.
async fn pausing_after_errors(event: Result<Sse, SseError>) -> Result<Sse, SseError> {
    if event.is_err() {
        tokio::time::sleep(Duration::from_millis(pause(0))).await;
    }
    event
}

/// Returns the pause before a stream is requested again, in milliseconds, for the pause that the server asked for. It is at
/// least a second, and up to a quarter longer, so that the clients of a server do not all return at once.
fn pause(said: u64) -> u64 {
    let least = said.max(SHORTEST_PAUSE);
    least.saturating_add(RandomState::new().hash_one(least) % (least / 4))
}

/// Returns whether a `Content-Type` names this media type, ignoring case and parameters (RFC 9110, section 8.3.1).
fn is_media_type(kind: &str, name: &str) -> bool {
    let found = kind.split_once(';').map_or(kind, |(found, _)| found);
    found.trim().eq_ignore_ascii_case(name)
}

/// Counts the bytes of an event, which an empty line ends.
struct EventLimit {
    longest: usize,
    length: usize,
    at_line_start: bool,
}

impl EventLimit {
    fn holds(&mut self, chunk: &[u8]) -> bool {
        for byte in chunk {
            match byte {
                b'\n' if self.at_line_start => self.length = 0,
                b'\n' => self.at_line_start = true,
                b'\r' => {}
                _ => self.at_line_start = false,
            }
            self.length += 1;
            if self.length > self.longest {
                return false;
            }
        }
        true
    }
}

/// Where a response sends us.
fn redirect(response: &Response) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    response.url().join(response.headers().get(LOCATION)?.to_str().ok()?).ok()
}

/// What one POST is made of.
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

fn dressed(
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

impl StreamableHttpClient for TextHttp {
    type Error = RequestError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        bearer: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let is_probe = is_probe(&message);
        let answer = self.post(Post { uri, message, session, bearer, headers });
        if !is_probe {
            return answer.await;
        }
        match tokio::time::timeout(self.probe, answer).await {
            Ok(answer) => answer,
            Err(_) => Ok(self.no_discovery()),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        bearer: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let request = dressed(self.client.delete(&*uri), Some(&*session), bearer, headers);
        let status = self.send(request).await?.status();
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
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let mut request = self.client.get(&*uri).header(ACCEPT, EVENTS);
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        let request = dressed(request, session.as_deref(), bearer, headers);
        let response = self.send(request).await?;
        let status = response.status();
        if status == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        self.challenged(&response)?;
        let kind = self.header(&response, &CONTENT_TYPE).unwrap_or_default();
        match (status.is_success(), is_media_type(&kind, EVENTS)) {
            // rmcp asks again at once where a stream breaks.
            (true, true) => Ok(self.events(response).then(pausing_after_errors).boxed()),
            (true, false) => Err(StreamableHttpError::UnexpectedContentType(Some(kind))),
            (false, _) => Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!(
                "HTTP {status}"
            )))),
        }
    }
}

impl From<reqwest::Error> for RequestError {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error.without_url())
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::Client(error)
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(error) => error.fmt(f),
            Self::Redirected { to, why, .. } => write!(f, "it redirects to `{to}`, {why}"),
        }
    }
}

impl std::error::Error for RequestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Http(error) => error.source(),
            Self::Redirected { .. } => None,
        }
    }
}
