//! The client of one service: where it is, how to sign in, how long to wait. Never knows an operation before it is
//! asked for one.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, COOKIE, HeaderValue, LOCATION};
use reqwest::{Method, Url};
use toolwright::codec::{self, Decode, Encode};
use toolwright::{Map, ToolFailure, Value};

use crate::answer::Answer;
use crate::credentials::Credentials;
use crate::failure;
use crate::operation::{self, Operation, Verb};
use crate::request::Request;
use crate::value::encoded;

/// How many redirects of one call are followed.
const MAX_REDIRECTS: usize = 5;

/// Sends the operations of one service. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    http: reqwest::Client,
    base: Url,
    credentials: Credentials,
    timeout: Duration,
    max_answer: usize,
}

impl Client {
    pub(crate) fn of(
        http: reqwest::Client,
        base: Url,
        credentials: Credentials,
        timeout: Duration,
        max_answer: usize,
    ) -> Self {
        Self { shared: Arc::new(Shared { http, base, credentials, timeout, max_answer }) }
    }

    /// Calls one operation: the payload goes where the operation says, the answer is decoded.
    ///
    /// # Errors
    ///
    /// A failure with the code of the error that the operation declares for the answer's status and what the service said
    /// as its detail; else one of the kind that the status or the broken connection stands for.
    pub async fn call<P: Encode + Sync + ?Sized, R: Decode>(
        &self,
        operation: &'static Operation,
        payload: &P,
    ) -> Result<R, ToolFailure> {
        let payload = codec::to_json(payload).map_err(|issues| ToolFailure::internal(&issues));
        // Nothing of the payload's type is kept while waiting.
        let json = self.ask(operation, payload).await?;
        codec::from_json(&json)
            .map_err(|issues| failure::of_issues(operation, &issues, &self.shared.credentials))
    }

    async fn ask(
        &self,
        operation: &Operation,
        payload: Result<String, ToolFailure>,
    ) -> Result<Vec<u8>, ToolFailure> {
        let payload: Map<Value> = codec::from_json(payload?.as_bytes())
            .map_err(|issues| ToolFailure::internal(&issues))?;
        let request = Request::of(operation, payload)?;
        let answer = self.shared.exchange(operation, &request).await?;
        if !answer.status.is_success() {
            return Err(failure::of_status(operation, &answer, &self.shared.credentials));
        }
        if answer.is_cut {
            let detail = format!("it has more than {} bytes", self.shared.max_answer);
            return Err(failure::malformed(operation, detail));
        }
        result(operation, answer.body)
    }
}

/// The JSON that a body stands for.
fn result(operation: &Operation, body: Vec<u8>) -> Result<Vec<u8>, ToolFailure> {
    match operation.answer {
        operation::Answer::Json if body.iter().all(u8::is_ascii_whitespace) => Ok(b"null".to_vec()),
        operation::Answer::Json => Ok(body),
        operation::Answer::Nothing => Ok(b"null".to_vec()),
        operation::Answer::Text => {
            let text = String::from_utf8(body).map_err(|error| {
                failure::malformed(operation, format!("it is no UTF-8 text: {error}"))
            })?;
            Ok(Value::String(text).to_string().into_bytes())
        }
    }
}

impl Shared {
    /// Sends a request, and sends it again where a redirect leads to the same place of the network.
    async fn exchange(
        &self,
        operation: &Operation,
        request: &Request,
    ) -> Result<Answer, ToolFailure> {
        let end = Instant::now() + self.timeout;
        let mut url = self.address(operation, request)?;
        let mut verb = operation.verb;
        for _ in 0..MAX_REDIRECTS {
            let answer = self.send(operation, request, verb, &url, end).await?;
            let Some((next, next_verb)) = self.redirect(&answer, verb, &url) else {
                return Ok(answer);
            };
            (url, verb) = (next, next_verb);
        }
        self.send(operation, request, verb, &url, end).await
    }

    async fn send(
        &self,
        operation: &Operation,
        request: &Request,
        verb: Verb,
        url: &Url,
        end: Instant,
    ) -> Result<Answer, ToolFailure> {
        let mut url = url.clone();
        let keys = self.credentials.in_query();
        let keys = keys.map(|(name, key)| format!("{}={}", encoded(name), encoded(key)));
        let query: Vec<String> = url.query().map(str::to_owned).into_iter().chain(keys).collect();
        url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
        let method = Method::from_bytes(verb.as_str().as_bytes()).unwrap_or_default();
        let mut sent = self.http.request(method, url);
        sent = sent.timeout(end.saturating_duration_since(Instant::now()));
        sent = sent.header(ACCEPT, accepted(operation));
        // What became a GET on the way has no body any more.
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
        let answer = async {
            let response = self.credentials.sign(sent).send().await?;
            Answer::read(response, self.max_answer).await
        };
        answer.await.map_err(|error| failure::of_transport(operation, error, &self.credentials))
    }

    fn address(&self, operation: &Operation, request: &Request) -> Result<Url, ToolFailure> {
        let mut url = self.base.clone();
        let path = format!("{}{}", self.base.path().trim_end_matches('/'), request.path);
        url.set_path(&path);
        url.set_query((!request.query.is_empty()).then(|| request.query.join("&")).as_deref());
        if url.path() == path {
            return Ok(url);
        }
        // Nothing that was checked and encoded changes in an address; what would is not sent.
        let detail = format!("the path of `{}` does not stay as it is", operation.name);
        Err(ToolFailure::internal(&Changed(detail)))
    }

    fn cookies(&self, request: &Request) -> Option<HeaderValue> {
        let keys = self.credentials.in_cookies();
        let keys = keys.map(|(name, key)| format!("{}={}", encoded(name), encoded(key)));
        let all: Vec<String> = request.cookies.iter().cloned().chain(keys).collect();
        let mut value = HeaderValue::from_str(&all.join("; ")).ok().filter(|_| !all.is_empty())?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Where an answer sends us, if we may go there: credentials never leave their host, and a request that changes
    /// something is repeated only where the service says so (RFC 9110, 15.4).
    fn redirect(&self, answer: &Answer, verb: Verb, from: &Url) -> Option<(Url, Verb)> {
        let is_read = matches!(verb, Verb::Get | Verb::Head);
        let next = match answer.status.as_u16() {
            307 | 308 => verb,
            301 | 302 if is_read => verb,
            303 if verb == Verb::Head => verb,
            303 => Verb::Get,
            _ => return None,
        };
        let place = answer.headers.get(LOCATION)?.to_str().ok()?;
        let to = from.join(place).ok()?;
        let is_same = to.origin() == self.base.origin()
            && to.username().is_empty()
            && to.password().is_none();
        is_same.then_some((to, next))
    }
}

fn accepted(operation: &Operation) -> &'static str {
    match operation.answer {
        operation::Answer::Json => "application/json, */*;q=0.1",
        operation::Answer::Text => "text/plain, */*;q=0.1",
        operation::Answer::Nothing => "*/*",
    }
}

/// A path that an address would not keep.
#[derive(Debug)]
struct Changed(String);

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Changed {}

/// The address and nothing secret.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.shared.base.as_str()).finish_non_exhaustive()
    }
}
