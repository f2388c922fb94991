//! Sends the operations of one service.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, COOKIE, HeaderValue, LOCATION};
use reqwest::{Method, Url};
use toolwright::codec::{self, Decode, Encode};
use toolwright::untrusted::Redactor;
use toolwright::{Map, ToolFailure, Value};

use crate::credentials::Credentials;
use crate::failure;
use crate::operation::{Answer, Operation, Verb};
use crate::request::{Request, invalid};
use crate::response::Response;
use crate::value::encoded;

/// The maximum number of redirects of one call.
const MAX_REDIRECTS: usize = 5;

/// The HTTP client of one service. Clones share their connections.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    http: reqwest::Client,
    base: Url,
    credentials: Credentials,
    /// Removes the credentials from results.
    redactor: Redactor,
    timeout: Duration,
    max_answer: usize,
}

impl Client {
    pub(crate) fn new(
        http: reqwest::Client,
        base: Url,
        credentials: Credentials,
        timeout: Duration,
        max_answer: usize,
    ) -> Self {
        let redactor = credentials.redactor_of_results();
        let shared = Shared { http, base, credentials, redactor, timeout, max_answer };
        Self { shared: Arc::new(shared) }
    }

    /// Calls an operation. Puts the properties of the payload where the operation defines them, and decodes the response.
    /// A credential of at least eight characters that the response repeats is replaced by `…`.
    ///
    /// # Errors
    ///
    /// If the operation declares an error for the response's status, the failure has the code of that error. Otherwise its
    /// kind follows from the status, or from the error of the connection. The detail has the beginning of the response's
    /// body. If the answer to a `POST` or `PATCH` is lost, the failure does not advise a retry, because the call may have
    /// taken effect.
    pub async fn call<P: Encode + Sync + ?Sized, R: Decode>(
        &self,
        operation: &'static Operation,
        payload: &P,
    ) -> Result<R, ToolFailure> {
        let payload = codec::to_json(payload).map_err(|issues| ToolFailure::internal(&issues));
        // The payload is encoded first, so that the future does not hold its type.
        let json = self.send(operation, payload).await?;
        codec::from_json(&json)
            .map_err(|issues| failure::of_issues(operation, &issues, &self.shared.credentials))
    }

    async fn send(
        &self,
        operation: &Operation,
        payload: Result<String, ToolFailure>,
    ) -> Result<Vec<u8>, ToolFailure> {
        let payload: Map<Value> = codec::from_json(payload?.as_bytes())
            .map_err(|issues| ToolFailure::internal(&issues))?;
        let request = Request::new(operation, payload)?;
        if let Some(name) = self.shared.credentials.named_in(&request) {
            let reason = "is a credential, which only the client sends; leave it out";
            return Err(invalid(operation, name, reason));
        }
        let response = self.shared.send(operation, &request).await?;
        if !response.status.is_success() {
            return Err(failure::of_status(operation, &response, &self.shared.credentials));
        }
        if response.is_cut {
            let detail = format!("it has more than {} bytes", self.shared.max_answer);
            return Err(failure::malformed(operation, detail));
        }
        self.shared.result(operation, response.body)
    }
}

impl Shared {
    /// Converts the body of a successful response into JSON, without credentials.
    fn result(&self, operation: &Operation, body: Vec<u8>) -> Result<Vec<u8>, ToolFailure> {
        if operation.answer == Answer::Nothing {
            return Ok(b"null".to_vec());
        }
        let text = String::from_utf8(body)
            .map_err(|error| failure::malformed(operation, format!("it is not UTF-8: {error}")))?;
        // A reader may ignore a byte order mark (RFC 8259, section 8.1).
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let text = match self.redactor.redacted(&text) {
            Cow::Owned(redacted) => redacted,
            Cow::Borrowed(_) => text,
        };
        Ok(match operation.answer {
            Answer::Text => Value::String(text).to_string().into_bytes(),
            _ if text.bytes().all(|byte| byte.is_ascii_whitespace()) => b"null".to_vec(),
            _ => text.into_bytes(),
        })
    }

    /// Sends a request and follows redirects to the same server.
    async fn send(
        &self,
        operation: &Operation,
        request: &Request,
    ) -> Result<Response, ToolFailure> {
        let started = Instant::now();
        let mut url = self.url(operation, request)?;
        let mut verb = operation.verb;
        let mut redirects = 0;
        loop {
            let is_redirected = redirects > 0;
            let sent = self.send_once(operation, request, verb, &url, is_redirected, started);
            let response = sent.await.map_err(|error| {
                failure::of_transport(operation, error, is_redirected, &self.credentials)
            })?;
            match self.redirect(&response, verb, &url) {
                Some(next) if redirects < MAX_REDIRECTS => (url, verb) = next,
                _ => return Ok(response),
            }
            redirects += 1;
        }
    }

    async fn send_once(
        &self,
        operation: &Operation,
        request: &Request,
        verb: Verb,
        url: &Url,
        is_redirected: bool,
        started: Instant,
    ) -> Result<Response, reqwest::Error> {
        let mut url = url.clone();
        let keys = self.credentials.in_query();
        let keys = keys.map(|(name, key)| format!("{}={}", encoded(name), encoded(key)));
        let keys: Vec<String> = keys.collect();
        // A redirect may repeat the keys of the request.
        let pairs = url.query().into_iter().flat_map(|query| query.split('&'));
        let pairs = pairs.map(str::to_owned).filter(|pair| !is_redirected || !keys.contains(pair));
        let query: Vec<String> = pairs.chain(keys.iter().cloned()).collect();
        url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
        let method = Method::from_bytes(verb.as_str().as_bytes()).unwrap_or_default();
        let mut sent = self.http.request(method, url);
        sent = sent.timeout(self.timeout.saturating_sub(started.elapsed()));
        sent = sent.header(ACCEPT, accepted(operation));
        // A redirect that changed the method drops the body.
        let has_body = verb == operation.verb;
        for (name, value) in &request.headers {
            if has_body || *name != reqwest::header::CONTENT_TYPE {
                sent = sent.header(name, value);
            }
        }
        if let Some(cookies) = self.cookies(request) {
            sent = sent.header(COOKIE, cookies);
        }
        if let Some(body) = request.body.as_ref().filter(|_| has_body) {
            sent = sent.body(body.clone());
        }
        let response = self.credentials.add_headers(sent).send().await?;
        Response::read(response, self.max_answer, is_redirected).await
    }

    fn url(&self, operation: &Operation, request: &Request) -> Result<Url, ToolFailure> {
        let mut url = self.base.clone();
        let path = format!("{}{}", self.base.path().trim_end_matches('/'), request.path);
        url.set_path(&path);
        url.set_query((!request.query.is_empty()).then(|| request.query.join("&")).as_deref());
        if url.path() == path {
            return Ok(url);
        }
        // The URL parser has changed the encoded path, so the request is not sent.
        let detail = format!("a URL cannot hold the path of `{}` unchanged", operation.name);
        Err(ToolFailure::internal(&PathChanged(detail)))
    }

    fn cookies(&self, request: &Request) -> Option<HeaderValue> {
        let keys = self.credentials.in_cookies();
        let keys = keys.map(|(name, key)| format!("{name}={}", encoded(key)));
        let all: Vec<String> = request.cookies.iter().cloned().chain(keys).collect();
        let mut value = HeaderValue::from_str(&all.join("; ")).ok().filter(|_| !all.is_empty())?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Returns the target and method of a redirect that may be followed: only to the same server, because it gets the
    /// credentials, and a request that may change something only if the status keeps its method (RFC 9110, section 15.4).
    fn redirect(&self, response: &Response, verb: Verb, from: &Url) -> Option<(Url, Verb)> {
        let is_read = matches!(verb, Verb::Get | Verb::Head);
        let next = match response.status.as_u16() {
            307 | 308 => verb,
            301 | 302 if is_read => verb,
            303 if verb == Verb::Head => verb,
            303 => Verb::Get,
            _ => return None,
        };
        let location = response.headers.get(LOCATION)?.to_str().ok()?;
        let to = from.join(location).ok()?;
        let is_same_server = to.origin() == self.base.origin()
            && to.username().is_empty()
            && to.password().is_none();
        is_same_server.then_some((to, next))
    }
}

fn accepted(operation: &Operation) -> &'static str {
    match operation.answer {
        Answer::Json => "application/json, */*;q=0.1",
        Answer::Text => "text/plain, */*;q=0.1",
        Answer::Nothing => "*/*",
    }
}

/// The error of a path that the URL parser changes.
#[derive(Debug)]
struct PathChanged(String);

impl fmt::Display for PathChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PathChanged {}

impl fmt::Debug for Client {
    /// Writes the address without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.shared.base.as_str()).finish_non_exhaustive()
    }
}
