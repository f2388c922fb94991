//! A tower service in front of rmcp that enforces limits and takes out the arguments of calls. It reads the body only
//! when rmcp polls it, which is after rmcp has checked `Host`, `Origin` and the other headers.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use futures_util::{StreamExt as _, stream};
use rmcp::model::RequestId;
use tokio::sync::Semaphore;
use toolwright::BoxError;
use tower::Service;

use super::head::{CallerResolver, SESSION_ID, ambiguity, is_too_long};
use crate::server::Counts;
use crate::server::message::{self, Arguments, ErrorResponse, Message};
use crate::server::sessions::{
    Caller, MemoryGuard, OpenStream, RequestError, RequestGuards, Session, SessionLimit, Sessions,
};
use crate::server::state::ServerState;

/// The number of bytes of each request that do not count toward [`Limits::request_bytes`](crate::Limits).
const FREE_BYTES: usize = 64 << 10;

/// How many seconds a client should wait before it sends a refused request again.
const RETRY_AFTER: &str = "5";

/// Passes accepted requests to rmcp and answers the others.
#[derive(Clone)]
pub(super) struct AdmissionService<S> {
    pub(super) inner: S,
    pub(super) gate: Arc<Gate>,
}

/// Decides which requests are accepted.
pub(super) struct Gate {
    pub(super) state: Arc<ServerState>,
    pub(super) sessions: Arc<Sessions>,
    /// One permit for each byte that all requests together may use.
    pub(super) memory: Arc<Semaphore>,
    pub(super) callers: CallerResolver,
    pub(super) max_body: usize,
}

/// An accepted request. The shared fields are set when its body is read.
#[derive(Clone)]
struct Accepted {
    caller: Caller,
    /// The open session that the request names, if any.
    session: Option<Arc<Session>>,
    /// True if the request names a session, open or not.
    names_session: bool,
    arguments: Arguments,
    guards: RequestGuards,
    rejection: Arc<Mutex<Option<Rejection>>>,
}

/// The reason why a request is not handled.
enum Rejection {
    TooLong(usize),
    TooSlow,
    NoMemory,
    TooManySessions(SessionLimit, RequestId),
    TooManyCalls(RequestId),
    TooManyStreams,
    Malformed(ErrorResponse),
    /// The response if rmcp cannot parse the message.
    IfUnparseable(ErrorResponse),
}

impl<S, B> Service<Request> for AdmissionService<S>
where
    S: Service<Request, Response = Response<B>, Error = Infallible>,
    S::Future: Send + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        let accepted = match self.gate.check_head(&parts) {
            Ok(accepted) => accepted,
            Err(rejected) => return Box::pin(std::future::ready(Ok(rejected.into_response()))),
        };
        let body = if parts.method == Method::POST {
            parts.extensions.insert(accepted.arguments.clone());
            parts.extensions.insert(accepted.guards.clone());
            if let Some(session) = &accepted.session {
                parts.extensions.insert(Arc::clone(session));
            }
            let (gate, accepted) = (Arc::clone(&self.gate), accepted.clone());
            let reading = async move { accepted.read_body(body, &gate).await };
            Body::from_stream(stream::once(reading))
        } else {
            body
        };
        let stream = match self.gate.begin_stream(&parts, &accepted) {
            Ok(stream) => stream,
            Err(rejection) => return Box::pin(std::future::ready(Ok(rejection.into_response()))),
        };
        let answering = self.inner.call(Request::from_parts(parts, body));
        Box::pin(async move {
            let answer = accepted.respond(answering.await?.map(Body::new));
            let Some(stream) = stream else { return Ok(answer) };
            // The stream counts as open until its body is dropped.
            let hold_stream = move |_: &_| {
                let _ = &stream;
            };
            Ok(answer.map(|body| Body::from_stream(body.into_data_stream().inspect(hold_stream))))
        })
    }
}

impl Gate {
    /// Accepts or rejects a request by its head.
    fn check_head(&self, request: &Parts) -> Result<Accepted, (StatusCode, &'static str)> {
        if is_too_long(request) {
            let why = "the head of a request must have at most 64 KiB";
            return Err((StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why));
        }
        let counters = self.state.counters();
        if let Some(why) = ambiguity(request) {
            counters.count(|counts| counts.requests_ambiguous += 1);
            return Err((StatusCode::BAD_REQUEST, why));
        }
        let caller = self.callers.resolve(request)?;
        // Like rmcp, ignore an id that is not text.
        let id = request.headers.get(SESSION_ID).and_then(|id| id.to_str().ok());
        let session = id.and_then(|id| self.sessions.find(id));
        if let Some(session) = &session {
            if !session.is_open_to(&caller) {
                counters.count(|counts| counts.sessions_denied += 1);
                return Err((StatusCode::NOT_FOUND, "Not Found: Session not found"));
            }
            session.touch();
        }
        Ok(Accepted {
            caller,
            session,
            names_session: id.is_some(),
            arguments: Arguments::default(),
            guards: RequestGuards::default(),
            rejection: Arc::default(),
        })
    }

    /// Counts the stream of a `GET` request among those of its session.
    fn begin_stream(
        &self,
        request: &Parts,
        accepted: &Accepted,
    ) -> Result<Option<OpenStream>, Rejection> {
        let session = accepted.session.as_ref().filter(|_| request.method == Method::GET);
        let Some(session) = session else { return Ok(None) };
        let stream = session.begin_stream(self.state.limits().session_streams);
        stream.map(Some).ok_or_else(|| {
            let rejection = Rejection::TooManyStreams;
            self.state.counters().count(|counts| rejection.count(counts));
            rejection
        })
    }

    /// Reads a body within its limit, and counts its bytes among those of all requests.
    async fn read_within_limits(
        &self,
        body: Body,
    ) -> Result<Result<(Vec<u8>, MemoryGuard), Rejection>, BoxError> {
        let mut parts = body.into_data_stream();
        let (mut all, mut memory) = (Vec::new(), MemoryGuard::default());
        while let Some(part) = parts.next().await.transpose()? {
            let length = all.len() + part.len();
            if length > self.max_body {
                return Ok(Err(Rejection::TooLong(self.max_body)));
            }
            if !memory.grow(&self.memory, length.saturating_sub(FREE_BYTES)) {
                return Ok(Err(Rejection::NoMemory));
            }
            all.extend_from_slice(&part);
        }
        Ok(Ok((all, memory)))
    }
}

impl Accepted {
    /// Reads the body, and returns the body for rmcp.
    async fn read_body(&self, body: Body, gate: &Gate) -> Result<Bytes, BoxError> {
        let timeout = gate.state.limits().body_timeout;
        let read = match tokio::time::timeout(timeout, gate.read_within_limits(body)).await {
            Ok(read) => read?,
            Err(_) => Err(Rejection::TooSlow),
        };
        let parsed = read.and_then(|(bytes, memory)| {
            self.guards.hold_memory(memory);
            self.parse_message(bytes.into(), gate)
        });
        parsed.map_err(|rejection| {
            gate.state.counters().count(|counts| rejection.count(counts));
            self.set_rejection(rejection);
            // `respond` replaces the response that rmcp makes of this error.
            "the body was rejected".into()
        })
    }

    fn parse_message(&self, bytes: Bytes, gate: &Gate) -> Result<Bytes, Rejection> {
        let (text, message) = message::read(&bytes).map_err(Rejection::Malformed)?;
        let bytes = bytes.slice_ref(text.as_bytes());
        match message {
            Message::Call(call) => {
                self.reserve(&call.id, Some(gate.state.limits().session_calls))?;
                self.arguments.set(&call);
                self.set_rejection(Rejection::IfUnparseable(call.unparseable()));
                if gate.state.has_header_args(&call.name) {
                    return Ok(bytes);
                }
                Ok(call.without_arguments().into())
            }
            Message::Request(request) => {
                self.reserve(&request.id, None)?;
                if request.method == "initialize" && !self.names_session {
                    let opened = gate.sessions.open(&self.caller);
                    let opened = opened
                        .map_err(|limit| Rejection::TooManySessions(limit, request.id.clone()))?;
                    self.guards.hold_session(opened);
                }
                self.set_rejection(Rejection::IfUnparseable(request.unparseable()));
                Ok(bytes)
            }
            Message::Unanswered => {
                let error =
                    ErrorResponse::invalid_request(None, "the protocol has no such message");
                self.set_rejection(Rejection::IfUnparseable(error));
                Ok(bytes)
            }
        }
    }

    /// Reserves the id of a request in its session.
    fn reserve(&self, id: &RequestId, max_calls: Option<usize>) -> Result<(), Rejection> {
        let Some(session) = &self.session else { return Ok(()) };
        let request = session.begin_request(id, max_calls).map_err(|error| match error {
            RequestError::TooManyCalls => Rejection::TooManyCalls(id.clone()),
            // The response to one of the two could be taken for that to the other.
            RequestError::IdInUse => Rejection::Malformed(ErrorResponse::id_in_use(id.clone())),
        })?;
        self.guards.hold_request(request);
        Ok(())
    }

    fn set_rejection(&self, rejection: Rejection) {
        *self.rejection.lock().unwrap_or_else(PoisonError::into_inner) = Some(rejection);
    }

    /// Returns rmcp's response, or a better one if rmcp did not get the body or could not parse it.
    fn respond(&self, response: Response<Body>) -> Response<Body> {
        let rejection = self.rejection.lock().unwrap_or_else(PoisonError::into_inner).take();
        let unparseable = response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE;
        match rejection {
            Some(Rejection::IfUnparseable(error)) if unparseable => {
                error_response(StatusCode::BAD_REQUEST, error)
            }
            None | Some(Rejection::IfUnparseable(_)) => response,
            Some(rejection) => rejection.into_response(),
        }
    }
}

impl Rejection {
    fn count(&self, counts: &mut Counts) {
        match self {
            Self::TooSlow => counts.bodies_timed_out += 1,
            Self::NoMemory => counts.requests_refused += 1,
            Self::TooManyCalls(_) => counts.calls_refused += 1,
            Self::TooManyStreams => counts.streams_refused += 1,
            // `Sessions::open` counts refused sessions.
            Self::TooManySessions(..)
            | Self::TooLong(_)
            | Self::Malformed(_)
            | Self::IfUnparseable(_) => {}
        }
    }

    fn into_response(self) -> Response<Body> {
        let (status, error) = match self {
            Self::TooLong(max) => {
                let message = format!("a body has at most {max} bytes; send less");
                (StatusCode::PAYLOAD_TOO_LARGE, ErrorResponse::invalid_request(None, message))
            }
            Self::TooSlow => {
                let message = "the body did not arrive in time; send it at once";
                (StatusCode::REQUEST_TIMEOUT, ErrorResponse::invalid_request(None, message))
            }
            Self::NoMemory => {
                let message = "too many large requests are in flight; send it again later";
                (StatusCode::SERVICE_UNAVAILABLE, ErrorResponse::busy(None, message))
            }
            Self::TooManySessions(SessionLimit::Server, id) => {
                let message = "there are too many sessions; open this one later";
                (StatusCode::SERVICE_UNAVAILABLE, ErrorResponse::busy(Some(id), message))
            }
            Self::TooManySessions(SessionLimit::Caller, id) => {
                let message = "this client has too many sessions; close one or open this one later";
                (StatusCode::TOO_MANY_REQUESTS, ErrorResponse::busy(Some(id), message))
            }
            Self::TooManyCalls(id) => {
                let message = "too many calls of this session are in flight; wait for one to end";
                (StatusCode::TOO_MANY_REQUESTS, ErrorResponse::busy(Some(id), message))
            }
            Self::TooManyStreams => {
                let message = "this session has too many open streams; close one first";
                (StatusCode::TOO_MANY_REQUESTS, ErrorResponse::busy(None, message))
            }
            Self::Malformed(error) | Self::IfUnparseable(error) => (StatusCode::BAD_REQUEST, error),
        };
        error_response(status, error)
    }
}

fn error_response(status: StatusCode, error: ErrorResponse) -> Response<Body> {
    let mut response = Response::new(Body::from(error.into_text()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
    }
    response
}
