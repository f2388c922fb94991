//! Forwards requests to a provider, and records them with the responses.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use axum::body::Body;
use axum::http::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::Url;
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use toolwright::untrusted::Redactor;

use crate::cassette::Exchange;
use crate::request::ReceivedRequest;

/// The most bytes of a response.
const MOST_BYTES: usize = 64 << 20;

/// The headers of a response that a client reads.
const HEADERS: [&str; 5] =
    ["content-type", "retry-after", "retry-after-ms", "x-should-retry", "x-amzn-errortype"];

/// Headers of a request that concern the connection to the stage, or ask for a compressed response.
const DROPPED: [&str; 5] =
    ["host", "content-length", "connection", "transfer-encoding", "accept-encoding"];

pub(crate) struct Recorder {
    path: PathBuf,
    upstream: String,
    http: reqwest::Client,
    exchanges: Mutex<Vec<Exchange>>,
}

impl Recorder {
    pub(crate) fn new(path: PathBuf, upstream: &str) -> io::Result<Self> {
        let upstream = upstream.trim_end_matches('/').to_owned();
        let is_address = Url::parse(&upstream)
            .is_ok_and(|url| url.has_host() && matches!(url.scheme(), "http" | "https"));
        if !is_address {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "expected the base address of a provider, such as `https://api.openai.com/v1`",
            ));
        }
        let http = reqwest::Client::builder().redirect(Policy::none()).no_proxy().build();
        let http = http.map_err(io::Error::other)?;
        Ok(Self { path, upstream, http, exchanges: Mutex::default() })
    }

    /// Forwards a request, and records it and the response.
    ///
    /// # Errors
    ///
    /// Returns the reason if the provider cannot be reached or the file cannot be written.
    pub(crate) async fn forward(
        &self,
        received: &ReceivedRequest,
    ) -> Result<Response<Body>, String> {
        let headers = received.headers.iter().filter(|(name, _)| !DROPPED.contains(&name.as_str()));
        let headers: HeaderMap = headers
            .filter_map(|(name, value)| {
                let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
                Some((name, HeaderValue::from_str(value).ok()?))
            })
            .collect();
        let request = self.http.post(format!("{}{}", self.upstream, received.path));
        let unreachable = |error: reqwest::Error| {
            format!("the provider cannot be reached: {}", error.without_url())
        };
        let sent = request.headers(headers).body(received.text.clone()).send();
        let mut response = sent.await.map_err(unreachable)?;
        let status = response.status().as_u16();
        let header = |name: &&str| {
            let value = response.headers().get(*name)?.to_str().ok()?;
            Some(((*name).to_owned(), value.to_owned()))
        };
        let headers: Vec<(String, String)> = HEADERS.iter().filter_map(header).collect();
        let is_encoded = response.headers().contains_key(CONTENT_ENCODING);
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(unreachable)? {
            body.extend_from_slice(&piece);
            if body.len() > MOST_BYTES {
                return Err(format!("the response is larger than {MOST_BYTES} bytes"));
            }
        }
        let (path, request) = received.without_secrets();
        let redactor = received.redactor();
        let recorded = match std::str::from_utf8(&body) {
            Ok(text) => redactor.redacted(text).into_owned().into_bytes(),
            Err(_) if is_encoded || repeats_key(&redactor, &body) => {
                let reason = "the response is compressed, or repeats the key in bytes that cannot be changed";
                return Err(format!("{reason}; it is not recorded"));
            }
            Err(_) => body.clone(),
        };
        let without_key = headers
            .iter()
            .map(|(name, value)| (name.clone(), redactor.redacted(value).into_owned()));
        let headers_without_key = without_key.collect();
        let exchange =
            Exchange { path, request, status, headers: headers_without_key, body: recorded };
        {
            let mut exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
            exchanges.push(exchange);
            write(&self.path, &exchanges)
                .map_err(|error| format!("cannot write {}: {error}", self.path.display()))?;
        }
        let response =
            headers.iter().fold(Response::builder().status(status), |response, (name, value)| {
                response.header(name, value)
            });
        response.body(Body::from(body)).map_err(|error| error.to_string())
    }
}

/// Returns whether a body that is not text has the key.
fn repeats_key(redactor: &Redactor, body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    redactor.redacted(&text) != text
}

impl Exchange {
    /// The body is a list of its lines, so that changes can be read, or in Base64 if it is not text.
    fn to_value(&self) -> Value {
        let body = match std::str::from_utf8(&self.body) {
            Ok(text) => text.split('\n').collect(),
            Err(_) => json!({ "base64": BASE64.encode(&self.body) }),
        };
        let headers =
            self.headers.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        json!({
            "request": { "path": self.path, "body": self.request },
            "response": {
                "status": self.status,
                "headers": headers.collect::<serde_json::Map<_, _>>(),
                "body": body,
            },
        })
    }
}

/// Writes exchanges into a file. It is replaced as a whole, so it is never half-written. Another file beside it must not exist, so that
/// no link is followed.
fn write(path: &Path, exchanges: &[Exchange]) -> io::Result<()> {
    let exchanges: Vec<Value> = exchanges.iter().map(Exchange::to_value).collect();
    let mut cassette = json!({ "exchanges": exchanges });
    cassette.sort_all_objects();
    let text = serde_json::to_string_pretty(&cassette)?;
    let new = path.with_extension("new");
    let mut file = fs::File::create_new(&new)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    fs::rename(new, path)
}
