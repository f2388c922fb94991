//! The client of a Restate server's ingress.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderName, HeaderValue, Request, Response, Uri};
use restate_sdk::ingress::{Client, ClientError, RequestExecutor, RequestTarget, SendStatus};
use toolwright::ToolFailure;
use toolwright::untrusted::{Redactor, line};
use toolwright_runtime::watch::traceparent;

use crate::call::failure_in;
use crate::control;

/// The most bytes of a response.
const MAX_RESPONSE: usize = 64 << 20;
/// The most bytes of an error that are quoted.
const MAX_QUOTED: usize = 500;
/// The header with the trace context of the caller's span, by W3C Trace Context. Restate passes it on to handlers.
pub(crate) const TRACEPARENT: &str = "traceparent";
/// The time limit for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// The ingress of a Restate server. Cheap to clone.
#[derive(Clone)]
pub struct Ingress {
    client: Client<Http>,
    address: String,
    /// Removes the token from what the ingress says.
    redactor: Redactor,
}

/// The ingress cannot be used with this address or token.
#[derive(Debug)]
pub struct IngressError(String);

/// A response of the ingress, or that there was none.
pub(crate) enum Reply {
    Body(Bytes),
    /// The failure of a handler of a worker.
    Failed(ToolFailure),
    /// Another error with its status and message.
    Error(u16, String),
    /// The connection failed, so that it is unknown whether the request arrived.
    Lost(String),
}

#[derive(Clone)]
struct Http(reqwest::Client);

impl RequestExecutor for Http {
    type Error = HttpError;

    async fn execute(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (mut parts, body) = request.into_parts();
        let parent = traceparent().and_then(|parent| HeaderValue::from_str(&parent).ok());
        if let Some(parent) = parent {
            parts.headers.insert(TRACEPARENT, parent);
        }
        let sending = self
            .0
            .request(parts.method, parts.uri.to_string())
            .headers(parts.headers)
            .body(body)
            .send();
        let mut received = sending.await?;
        let mut response = Response::builder().status(received.status());
        if let Some(headers) = response.headers_mut() {
            headers.clone_from(received.headers());
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = received.chunk().await? {
            if body.len() + chunk.len() > MAX_RESPONSE {
                return Err(HttpError(format!("the response has more than {MAX_RESPONSE} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        response.body(body.freeze()).map_err(|error| HttpError(error.to_string()))
    }
}

#[derive(Debug)]
struct HttpError(String);

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        Self(
            error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}")),
        )
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for HttpError {}

impl fmt::Display for IngressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for IngressError {}

impl fmt::Debug for Ingress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ingress").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Ingress {
    /// Creates a client for an address such as `http://127.0.0.1:8080`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// It is not an address with scheme and host, or has a query or credentials.
    pub fn new(address: &str) -> Result<Self, IngressError> {
        let failed = |reason: String| {
            // The address itself may have credentials.
            IngressError(format!(
                "not the address of an ingress, expected one as `http://127.0.0.1:8080`: {reason}"
            ))
        };
        let uri: Uri = address.parse().map_err(|error| failed(format!("{error}")))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            let message = "an address must have no credentials; use `Ingress::with_token`";
            return Err(IngressError(message.to_owned()));
        }
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let client = Client::new(uri, Http(http)).map_err(|error| failed(error.to_string()))?;
        Ok(Self { client, address: address.to_owned(), redactor: Redactor::default() })
    }

    /// Sends a bearer token with each request.
    ///
    /// # Errors
    ///
    /// The token has characters that a header cannot have.
    pub fn with_token(mut self, token: &str) -> Result<Self, IngressError> {
        let client = self.client.with_restate_auth_token(token);
        let message = "the token has characters that a header cannot have";
        self.client = client.map_err(|_| IngressError(message.to_owned()))?;
        self.redactor = Redactor::new([token]);
        Ok(self)
    }

    /// Invokes a handler with JSON and waits for its output. With an idempotency key, a repeated request waits for the same
    /// invocation.
    pub(crate) async fn call(
        &self,
        target: RequestTarget,
        body: Option<String>,
        key: Option<&str>,
        header: Option<(&'static str, &str)>,
    ) -> Reply {
        let Some(body) = body else {
            return match self.client.request::<(), Bytes>(target, ()).call().await {
                Ok(response) => self.reply(response.into_raw_http_response()),
                Err(error) => self.failed(error),
            };
        };
        let mut request = self
            .client
            .request::<Bytes, Bytes>(target, body.into())
            .content_type(HeaderValue::from_static("application/json"));
        if let Some(key) = key {
            request = request.idempotency_key(key);
        }
        if let Some((name, value)) = header {
            let Ok(value) = HeaderValue::from_str(value) else {
                return Reply::Error(400, "a header has characters it cannot have".to_owned());
            };
            request = request.header(HeaderName::from_static(name), value);
        }
        match request.call().await {
            Ok(response) => self.reply(response.into_raw_http_response()),
            Err(error) => self.failed(error),
        }
    }

    /// Cancels the call with an idempotency key. If it has not begun, it begins cancelled: `header` says so.
    ///
    /// # Errors
    ///
    /// Returns what the ingress said, without the token.
    pub(crate) async fn cancel(
        &self,
        target: RequestTarget,
        key: &str,
        header: (&'static str, &str),
    ) -> Result<(), String> {
        self.try_cancel(target, key, header).await.map_err(|error| self.quoted(&error.to_string()))
    }

    async fn try_cancel(
        &self,
        target: RequestTarget,
        key: &str,
        header: (&'static str, &str),
    ) -> Result<(), ClientError> {
        let value = HeaderValue::from_str(header.1).unwrap_or(HeaderValue::from_static(""));
        let found = self
            .client
            .request::<Bytes, Bytes>(target, Bytes::from_static(b"null"))
            .content_type(HeaderValue::from_static("application/json"))
            .header(HeaderName::from_static(header.0), value)
            .idempotency_key(key)
            .send()
            .await?;
        if matches!(found.send_status(), SendStatus::PreviouslyAccepted) {
            let id = found.invocation_handle().invocation_id().clone();
            let target = RequestTarget::service(control::CONTROL, control::CANCEL);
            // Its input is JSON.
            let _ = self.client.request::<String, ()>(target, id).send().await?;
        }
        Ok(())
    }

    /// Waits for the end of a workflow.
    pub(crate) async fn attach(&self, workflow: &str, key: &str) -> Reply {
        let handle = match self.client.lookup_workflow::<Bytes>(workflow, key, None).await {
            Ok(handle) => handle,
            Err(error) => return self.failed(error),
        };
        match handle.attach().await {
            Ok(response) => Reply::Body(response.into_body()),
            Err(error) => self.failed(error),
        }
    }

    /// Starts a workflow without waiting for its end.
    pub(crate) async fn send(&self, target: RequestTarget, body: String) -> Reply {
        let request = self
            .client
            .request::<Bytes, Bytes>(target, body.into())
            .content_type(HeaderValue::from_static("application/json"));
        match request.send().await {
            Ok(sent) if matches!(sent.send_status(), SendStatus::Accepted) => {
                Reply::Body(Bytes::new())
            }
            Ok(_) => Reply::Error(409, "there is a run with this id".to_owned()),
            Err(error) => self.failed(error),
        }
    }

    fn failed(&self, error: ClientError) -> Reply {
        let text = match &error {
            ClientError::Transport { source } => source.to_string(),
            other => other.to_string(),
        };
        match error.into_response() {
            Some(response) => self.reply(response),
            None => Reply::Lost(self.quoted(&text)),
        }
    }

    /// Returns the body of a response, or the failure or message in it if it is an error.
    fn reply(&self, response: Response<Bytes>) -> Reply {
        let (status, body) = (response.status(), response.into_body());
        if status.is_success() {
            return Reply::Body(body);
        }
        let message = serde_json::from_slice::<serde_json::Value>(&body);
        let message = message.ok().and_then(|body| Some(body.get("message")?.as_str()?.to_owned()));
        let message = message.unwrap_or_else(|| String::from_utf8_lossy(&body).into_owned());
        match failure_in(&self.redactor.redacted(&message)) {
            Some(failure) => Reply::Failed(failure.visible()),
            None => Reply::Error(status.as_u16(), self.quoted(&message)),
        }
    }

    /// Returns what the ingress said as a short visible line without the token.
    pub(crate) fn quoted(&self, text: &str) -> String {
        line(&self.redactor.redacted(text), MAX_QUOTED)
    }
}
