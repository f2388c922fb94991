//! A request on its way to rmcp: whether it is let in, and its body, read once, when rmcp asks for it and so after Host,
//! Origin and headers are found right. Never answers what rmcp can read.

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

use super::head::{Identity, SESSION, ambiguity};
use crate::server::Counts;
use crate::server::exposure::Exposure;
use crate::server::message::{self, Arguments, Message, Refusal};
use crate::server::sessions::{Admission, Caller, Full, Memory, OpenStream, Session, Sessions};

/// How many bytes of a request do not count among those of all.
const FREE: usize = 64 << 10;

/// How long a client that is refused for now should wait, in seconds.
const RETRY_AFTER: &str = "5";

/// Lets requests in, takes the arguments of calls aside, and answers what is no message.
#[derive(Clone)]
pub(super) struct Intake<S> {
    pub(super) inner: S,
    pub(super) gate: Arc<Gate>,
}

/// What decides whether a request comes in.
pub(super) struct Gate {
    pub(super) exposure: Arc<Exposure>,
    pub(super) sessions: Arc<Sessions>,
    /// A permit for each byte that all requests may have together.
    pub(super) memory: Arc<Semaphore>,
    pub(super) identity: Identity,
    pub(super) max_body: usize,
}

/// What is known of a request, and what is found while its body is read.
#[derive(Clone)]
struct Found {
    caller: Caller,
    /// The session that it names, if it names one.
    session: Option<Arc<Session>>,
    names_session: bool,
    arguments: Arguments,
    admission: Admission,
    refused: Arc<Mutex<Option<Refused>>>,
}

/// Why a body is not acted on.
enum Refused {
    TooLong(usize),
    TooSlow,
    NoMemory,
    TooManySessions(Full, RequestId),
    TooManyCalls(RequestId),
    TooManyStreams,
    NoMessage(Refusal),
    /// It is a message; should rmcp not know it, this is why.
    IfUnread(Refusal),
}

impl<S, B> Service<Request> for Intake<S>
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
        let found = match self.gate.admit(&parts) {
            Ok(found) => found,
            Err(refused) => return Box::pin(std::future::ready(Ok(refused.into_response()))),
        };
        let body = if parts.method == Method::POST {
            parts.extensions.insert(found.arguments.clone());
            parts.extensions.insert(found.admission.clone());
            let (gate, found) = (Arc::clone(&self.gate), found.clone());
            let reading = async move { found.read(body, &gate).await };
            Body::from_stream(stream::once(reading))
        } else {
            body
        };
        let stream = match self.gate.begin_stream(&parts, &found) {
            Ok(stream) => stream,
            Err(refused) => return Box::pin(std::future::ready(Ok(refused.answer()))),
        };
        let answering = self.inner.call(Request::from_parts(parts, body));
        Box::pin(async move {
            let answer = found.answer(answering.await?.map(Body::new));
            let Some(stream) = stream else { return Ok(answer) };
            // The stream counts as open until its body is dropped.
            let holding = move |_: &_| {
                let _ = &stream;
            };
            Ok(answer.map(|body| Body::from_stream(body.into_data_stream().inspect(holding))))
        })
    }
}

impl Gate {
    /// Judges a request by its head.
    fn admit(&self, request: &Parts) -> Result<Found, (StatusCode, &'static str)> {
        let counters = self.exposure.counters();
        if let Some(why) = ambiguity(request) {
            counters.count(|counts| counts.requests_ambiguous += 1);
            return Err((StatusCode::BAD_REQUEST, why));
        }
        let caller = self.identity.of(request)?;
        // For rmcp, an id that is no text is none.
        let id = request.headers.get(SESSION).and_then(|id| id.to_str().ok());
        let session = id.and_then(|id| self.sessions.find(id));
        if let Some(session) = &session {
            if !session.is_open_to(&caller) {
                counters.count(|counts| counts.sessions_denied += 1);
                return Err((StatusCode::NOT_FOUND, "Not Found: Session not found"));
            }
            session.touch();
        }
        Ok(Found {
            caller,
            session,
            names_session: id.is_some(),
            arguments: Arguments::default(),
            admission: Admission::default(),
            refused: Arc::default(),
        })
    }

    /// Counts a request that listens among the streams of its session.
    fn begin_stream(&self, request: &Parts, found: &Found) -> Result<Option<OpenStream>, Refused> {
        let Some(session) = found.session.as_ref().filter(|_| request.method == Method::GET) else {
            return Ok(None);
        };
        let stream = session.begin_stream(self.exposure.limits().session_streams);
        stream.map(Some).ok_or_else(|| {
            let refused = Refused::TooManyStreams;
            self.exposure.counters().count(|counts| refused.count(counts));
            refused
        })
    }

    /// A body that is not longer than it may be, and the memory that it takes among all.
    async fn whole(&self, body: Body) -> Result<Result<(Vec<u8>, Memory), Refused>, BoxError> {
        let mut parts = body.into_data_stream();
        let (mut all, mut memory) = (Vec::new(), Memory::default());
        while let Some(part) = parts.next().await.transpose()? {
            let length = all.len() + part.len();
            if length > self.max_body {
                return Ok(Err(Refused::TooLong(self.max_body)));
            }
            if !memory.grow(&self.memory, length.saturating_sub(FREE)) {
                return Ok(Err(Refused::NoMemory));
            }
            all.extend_from_slice(&part);
        }
        Ok(Ok((all, memory)))
    }
}

impl Found {
    /// What rmcp is given to read.
    async fn read(&self, body: Body, gate: &Gate) -> Result<Bytes, BoxError> {
        let limits = gate.exposure.limits();
        let whole = match tokio::time::timeout(limits.body_timeout, gate.whole(body)).await {
            Ok(whole) => whole?,
            Err(_) => Err(Refused::TooSlow),
        };
        let admitted = whole.and_then(|(bytes, memory)| {
            self.admission.hold_memory(memory);
            self.read_message(bytes.into(), gate)
        });
        admitted.map_err(|refused| {
            gate.exposure.counters().count(|counts| refused.count(counts));
            self.note(refused);
            // What rmcp makes of that is not sent.
            "the body is refused".into()
        })
    }

    fn read_message(&self, bytes: Bytes, gate: &Gate) -> Result<Bytes, Refused> {
        match message::read(&bytes).map_err(Refused::NoMessage)?.1 {
            Message::Call(call) => {
                if let Some(session) = &self.session {
                    let running = session.begin_call(gate.exposure.limits().session_calls);
                    let running = running.ok_or_else(|| Refused::TooManyCalls(call.id.clone()))?;
                    self.admission.hold_call(running);
                }
                self.arguments.set(&call);
                if gate.exposure.reads_headers_of(&call.name) {
                    return Ok(bytes);
                }
                Ok(call.without_arguments().into())
            }
            Message::Request(request) => {
                if request.method == "initialize" && !self.names_session {
                    let opened = gate.sessions.open(&self.caller);
                    let opened = opened
                        .map_err(|full| Refused::TooManySessions(full, request.id.clone()))?;
                    self.admission.hold_session(opened);
                }
                self.note(Refused::IfUnread(request.unread()));
                Ok(bytes)
            }
            Message::Unanswered => {
                let refusal = Refusal::invalid(None, "the protocol has no such message");
                self.note(Refused::IfUnread(refusal));
                Ok(bytes)
            }
        }
    }

    fn note(&self, why: Refused) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    /// rmcp's answer, or a better one where it was not given the body or could not read it.
    fn answer(&self, answer: Response<Body>) -> Response<Body> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner).take();
        let unread = answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE;
        match refused {
            Some(Refused::IfUnread(refusal)) if unread => {
                answering(StatusCode::BAD_REQUEST, refusal)
            }
            None | Some(Refused::IfUnread(_)) => {
                let id = answer.headers().get(SESSION).and_then(|id| id.to_str().ok());
                if let (Some(session), Some(id)) = (self.admission.session(), id) {
                    session.name(id);
                }
                answer
            }
            Some(refused) => refused.answer(),
        }
    }
}

impl Refused {
    fn count(&self, counts: &mut Counts) {
        match self {
            Self::TooSlow => counts.bodies_timed_out += 1,
            Self::NoMemory => counts.requests_refused += 1,
            Self::TooManyCalls(_) => counts.calls_refused += 1,
            Self::TooManyStreams => counts.streams_refused += 1,
            // Sessions count themselves.
            Self::TooManySessions(..)
            | Self::TooLong(_)
            | Self::NoMessage(_)
            | Self::IfUnread(_) => {}
        }
    }

    fn answer(self) -> Response<Body> {
        let (status, refusal) = match self {
            Self::TooLong(max) => {
                let message = format!("a body of more than {max} bytes is not read");
                (StatusCode::PAYLOAD_TOO_LARGE, Refusal::invalid(None, message))
            }
            Self::TooSlow => {
                let message = "the body did not arrive in time; send it at once";
                (StatusCode::REQUEST_TIMEOUT, Refusal::invalid(None, message))
            }
            Self::NoMemory => {
                let message = "too many large requests are on their way; send it again later";
                (StatusCode::SERVICE_UNAVAILABLE, Refusal::busy(None, message))
            }
            Self::TooManySessions(Full::Server, id) => {
                let message = "there are too many sessions; begin this one later";
                (StatusCode::SERVICE_UNAVAILABLE, Refusal::busy(Some(id), message))
            }
            Self::TooManySessions(Full::Caller, id) => {
                let message = "this client has too many sessions; end one or begin this one later";
                (StatusCode::TOO_MANY_REQUESTS, Refusal::busy(Some(id), message))
            }
            Self::TooManyCalls(id) => {
                let message = "too many calls of this session are in flight; wait for one to end";
                (StatusCode::TOO_MANY_REQUESTS, Refusal::busy(Some(id), message))
            }
            Self::TooManyStreams => {
                let message = "this session listens on too many streams; end one first";
                (StatusCode::TOO_MANY_REQUESTS, Refusal::busy(None, message))
            }
            Self::NoMessage(refusal) | Self::IfUnread(refusal) => {
                (StatusCode::BAD_REQUEST, refusal)
            }
        };
        answering(status, refusal)
    }
}

fn answering(status: StatusCode, refusal: Refusal) -> Response<Body> {
    let mut response = Response::new(Body::from(refusal.into_text()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
    }
    response
}
