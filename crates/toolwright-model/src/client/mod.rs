//! Sends questions to a provider: attempts, waits and limits of time.

mod build_error;
mod builder;
mod preset;
mod rate_limit;
mod retry;
#[cfg(feature = "sigv4")]
mod sigv4;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
#[cfg(feature = "sigv4")]
use std::time::SystemTime;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use toolwright::BoxFuture;
use toolwright::outcome::describe;

use crate::error::ModelError;
use crate::model::{Answer, Delta, Model, ModelFacts, Question, Usage};
use crate::wire::{HttpRequest, Wire};
use builder::Secret;

pub use build_error::BuildError;
pub use builder::ClientBuilder;
pub use preset::{KeyHeader, Preset};
pub use rate_limit::RateLimit;
#[cfg(feature = "sigv4")]
pub use sigv4::AwsCredentials;

/// The most bytes of an error response that are read.
const MOST_ERROR_BYTES: usize = 64 << 10;

/// The most bytes of an answer that is not streamed.
const MOST_ANSWER_BYTES: usize = 16 << 20;

/// How many times longer than without a byte an answer may be without progress.
const IDLE_TIMEOUTS: u32 = 10;

/// A model behind an HTTP API.
///
/// Transient errors are tried again, with the waits that the provider asks for, as long as nothing of the answer was shown.
/// Redirects are not followed, proxies of the environment are not used, and no error and no `Debug` output has the key.
pub struct Client {
    http: reqwest::Client,
    base: Url,
    wire: Wire,
    facts: ModelFacts,
    key: Option<(HeaderName, HeaderValue)>,
    #[cfg(feature = "sigv4")]
    credentials: Option<AwsCredentials>,
    secret: Secret,
    attempts: u32,
    rate_limit: Option<RateLimit>,
    idle_timeout: Duration,
}

impl Client {
    /// Asks the model once. `usage` becomes that of an answer that has begun.
    async fn attempt(
        &self,
        request: &HttpRequest,
        question: &Question<'_>,
        usage: &Mutex<Option<Usage>>,
        deltas: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<Answer, ModelError> {
        let _permit = match &self.rate_limit {
            Some(limit) => limit.admit(request.body.len()).await,
            None => None,
        };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &request.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        headers.extend(self.key.clone());
        let mut url = self.base.clone();
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        #[cfg(feature = "sigv4")]
        if let Some(credentials) = &self.credentials {
            credentials.sign(&url, &mut headers, request.body.as_bytes(), SystemTime::now())?;
        }
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        let sent = self.http.post(url).headers(headers).body(request.body.clone()).send();
        let response = self.in_time(sent).await?;
        if let Some(limit) = &self.rate_limit {
            limit.observe(|name| response.headers().get(name)?.to_str().ok());
        }
        if !response.status().is_success() {
            let error = self.refusal(response).await;
            if let Some(limit) = &self.rate_limit
                && let ModelError::Status { code: 429 | 503 | 529, retry_after: Some(time), .. } =
                    error
            {
                limit.block(time);
            }
            return Err(error);
        }
        self.read(response, question, usage, deltas).await
    }

    /// Waits for the response or its next bytes.
    async fn in_time<T>(
        &self,
        sign: impl Future<Output = reqwest::Result<T>>,
    ) -> Result<T, ModelError> {
        match timeout(self.idle_timeout, sign).await {
            Ok(Ok(sign)) => Ok(sign),
            Ok(Err(error)) => {
                let is_before = error.is_connect() || error.is_request();
                let text = describe(&error.without_url());
                Err(if is_before {
                    ModelError::Connect(text)
                } else {
                    ModelError::Interrupted(text)
                })
            }
            Err(_) => {
                let idle = self.idle_timeout;
                Err(ModelError::Timeout(format!("found nothing to read for {idle:?}")))
            }
        }
    }

    /// Returns the error of a response that is not a success.
    async fn refusal(&self, mut response: Response) -> ModelError {
        let status = response.status();
        let headers = response.headers().clone();
        // Whatever can be read of the body helps.
        let mut body = Vec::new();
        let is_whole = loop {
            match self.in_time(response.chunk()).await {
                Ok(None) => break true,
                Ok(Some(chunk)) if body.len() + chunk.len() <= MOST_ERROR_BYTES => {
                    body.extend_from_slice(&chunk);
                }
                Ok(Some(chunk)) => {
                    body.extend_from_slice(&chunk[..MOST_ERROR_BYTES - body.len()]);
                    break false;
                }
                Err(_) => break false,
            }
        };
        if status.is_redirection() {
            body = b"it redirects elsewhere, which is not followed; set the base address".to_vec();
        }
        let mut body = String::from_utf8_lossy(&body).into_owned();
        if !is_whole {
            // The key may be cut, too.
            body.push('…');
        }
        let body = self.secret.redacted(&body);
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        ModelError::of_status(status.as_u16(), header, body.as_bytes(), self.facts.dialect)
    }

    /// Reads an answer: a stream, or JSON from a server that does not stream.
    async fn read(
        &self,
        mut response: Response,
        question: &Question<'_>,
        usage: &Mutex<Option<Usage>>,
        deltas: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<Answer, ModelError> {
        let report = |known: Option<Usage>| {
            *usage.lock().unwrap_or_else(PoisonError::into_inner) = Some(known.unwrap_or_default());
        };
        report(None);
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("application/json")) {
            let mut body = Vec::new();
            while let Some(chunk) = self.in_time(response.chunk()).await? {
                if body.len() + chunk.len() > MOST_ANSWER_BYTES {
                    let most = MOST_ANSWER_BYTES >> 20;
                    let message = format!("found more than {most} MiB, expected a shorter answer");
                    return Err(ModelError::Malformed(message));
                }
                body.extend_from_slice(&chunk);
            }
            return self.wire.answer(&self.facts, question, &body);
        }
        let mut reader = self.wire.reader(&self.facts, question);
        let longest = self.idle_timeout.saturating_mul(IDLE_TIMEOUTS);
        let (mut progress, mut since) = (reader.progress(), Instant::now());
        while !reader.is_over() {
            let error = match self.in_time(response.chunk()).await {
                Ok(Some(chunk)) => {
                    reader.feed(&chunk).into_iter().for_each(deltas);
                    report(reader.usage());
                    if progress != reader.progress() {
                        (progress, since) = (reader.progress(), Instant::now());
                    }
                    // Bytes may only keep the connection open.
                    if since.elapsed() <= longest {
                        continue;
                    }
                    let message = format!("found nothing that adds to the answer for {longest:?}");
                    ModelError::Timeout(message)
                }
                Ok(None) => break,
                Err(error) => error,
            };
            // The connection may break after the last event that matters.
            return reader.end().map_err(|_| error);
        }
        reader.end()
    }

    async fn ask_within(
        &self,
        question: &Question<'_>,
        deltas: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<Answer, ModelError> {
        let request = self.wire.request(&self.facts, question, true)?;
        let deadline = question.timeout.and_then(|time| Instant::now().checked_add(time));
        let is_shown = AtomicBool::new(false);
        let shown = |delta| {
            is_shown.store(true, Ordering::Relaxed);
            deltas(delta);
        };
        let mut attempt = 1;
        loop {
            let usage = Mutex::new(None);
            let asked = self.attempt(&request, question, &usage, &shown);
            let result = match deadline {
                Some(deadline) => timeout_at(deadline, asked).await.unwrap_or_else(|_| {
                    let time = question.timeout.unwrap_or_default();
                    Err(ModelError::Timeout(format!("found no answer within {time:?}")))
                }),
                None => asked.await,
            };
            let error = match result {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let wait = retry::wait(&error, attempt, left, retry::random());
            let wait =
                wait.filter(|_| attempt < self.attempts && !is_shown.load(Ordering::Relaxed));
            let Some(wait) = wait else { return Err(error) };
            let usage = usage.into_inner().unwrap_or_else(PoisonError::into_inner);
            let error = error.map_text(|text| self.secret.redacted(text)).to_string();
            deltas(Delta::Retried { error, wait, usage });
            sleep(wait).await;
            attempt += 1;
        }
    }
}

impl Model for Client {
    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let redacted = |text: &str| self.secret.redacted(text);
            // The name of a tool is the host's, also if it has a short key in it.
            let redacted_name = |name: &str| {
                let is_tool = question.tools.tools.iter().any(|tool| tool.name == name);
                if is_tool { name.to_owned() } else { redacted(name) }
            };
            let shown = |delta| match delta {
                Delta::Call { call, name } => {
                    deltas(Delta::Call { call, name: redacted_name(&name) });
                }
                other => deltas(other),
            };
            let answer = self.ask_within(question, &shown).await;
            let answer = answer.map(|answer| answer.map_text(redacted, redacted_name));
            answer.map_err(|error| error.map_text(redacted))
        })
    }
}

impl fmt::Debug for Client {
    /// Writes no secret: the key is left out, and the base address cannot hold one.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Client");
        let shown = shown.field("base", &self.base.as_str()).field("facts", &self.facts);
        shown.field("has_key", &self.key.is_some()).finish_non_exhaustive()
    }
}
