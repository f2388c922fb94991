//! The body of a request on its way to rmcp: read once, when rmcp asks for it and so after Host, Origin and headers are
//! found right. Never answers what rmcp can read.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{Method, Response, StatusCode, header};
use futures_util::{StreamExt as _, stream};
use toolwright::BoxError;
use tower::Service;

use crate::server::exposure::Exposure;
use crate::server::message::{self, Arguments, Message, Refusal};

/// Takes the arguments of calls aside, and answers what is no message.
#[derive(Clone)]
pub(super) struct Intake<S> {
    pub(super) inner: S,
    pub(super) exposure: Arc<Exposure>,
    pub(super) max_body: usize,
}

/// What is found while a body is read.
#[derive(Clone, Default)]
struct Found {
    arguments: Arguments,
    refused: Arc<Mutex<Option<Refused>>>,
}

/// Why a body is not acted on.
enum Refused {
    TooLong(usize),
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
        let found = Found::default();
        let request = if request.method() == Method::POST {
            self.noting(request, found.clone())
        } else {
            request
        };
        let answering = self.inner.call(request);
        Box::pin(async move { Ok(found.answer(answering.await?.map(Body::new))) })
    }
}

impl<S> Intake<S> {
    fn noting(&self, request: Request, found: Found) -> Request {
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(found.arguments.clone());
        let (exposure, max) = (Arc::clone(&self.exposure), self.max_body);
        let reading = async move {
            match whole(body, max).await? {
                Some(bytes) => found.read(bytes, &exposure),
                None => found.refuse(Refused::TooLong(max)),
            }
        };
        Request::from_parts(parts, Body::from_stream(stream::once(reading)))
    }
}

impl Found {
    /// What rmcp is given to read.
    fn read(&self, bytes: Bytes, exposure: &Exposure) -> Result<Bytes, BoxError> {
        match message::read(&bytes) {
            Ok((_, Message::Call(call))) => {
                self.arguments.set(&call);
                if exposure.reads_headers_of(&call.name) {
                    return Ok(bytes);
                }
                Ok(call.without_arguments().into())
            }
            Ok((_, Message::Request(request))) => {
                self.note(Refused::IfUnread(request.unread()));
                Ok(bytes)
            }
            Ok((_, Message::Unanswered)) => {
                let refusal = Refusal::invalid(None, "the protocol has no such message");
                self.note(Refused::IfUnread(refusal));
                Ok(bytes)
            }
            Err(refusal) => self.refuse(Refused::NoMessage(refusal)),
        }
    }

    /// Gives rmcp nothing to read; what it makes of that is not sent.
    fn refuse(&self, why: Refused) -> Result<Bytes, BoxError> {
        self.note(why);
        Err("the body is refused".into())
    }

    fn note(&self, why: Refused) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    /// rmcp's answer, or a better one where it could not read the body.
    fn answer(&self, answer: Response<Body>) -> Response<Body> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner).take();
        match refused {
            Some(Refused::NoMessage(refusal)) => refusing(StatusCode::BAD_REQUEST, refusal),
            Some(Refused::TooLong(max)) => {
                let message = format!("a body of more than {max} bytes is not read");
                refusing(StatusCode::PAYLOAD_TOO_LARGE, Refusal::invalid(None, message))
            }
            Some(Refused::IfUnread(refusal))
                if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE =>
            {
                refusing(StatusCode::BAD_REQUEST, refusal)
            }
            _ => answer,
        }
    }
}

/// A body that is not longer than it may be.
async fn whole(body: Body, max: usize) -> Result<Option<Bytes>, BoxError> {
    let mut parts = body.into_data_stream();
    let first = parts.next().await.transpose()?.unwrap_or_default();
    let mut next = parts.next().await.transpose()?;
    if next.is_none() {
        return Ok((first.len() <= max).then_some(first));
    }
    let mut all = first.to_vec();
    while let Some(part) = next {
        all.extend_from_slice(&part);
        if all.len() > max {
            return Ok(None);
        }
        next = parts.next().await.transpose()?;
    }
    Ok(Some(all.into()))
}

fn refusing(status: StatusCode, refusal: Refusal) -> Response<Body> {
    let mut response = Response::new(Body::from(refusal.into_text()));
    *response.status_mut() = status;
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
