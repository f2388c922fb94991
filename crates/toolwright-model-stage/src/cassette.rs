//! Cassettes: exchanges with a provider that were recorded into a file, and are played without it.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use toolwright::untrusted::{Redactor, secrets_in_header};

use crate::reply::{Reply, Script};
use crate::request::ReceivedRequest;
use crate::wire;

/// The headers of a request that hold a secret. No header of a request is recorded; these are searched for in the rest.
const SECRET_HEADERS: [&str; 5] =
    ["authorization", "x-api-key", "x-goog-api-key", "api-key", "x-amz-security-token"];

/// The parameters of a query that hold a secret.
const SECRET_KEYS: [&str; 4] = ["key", "api_key", "api-key", "access_token"];

/// The most bytes of a cassette.
const MAX_BYTES: u64 = 64 << 20;

/// A recorded request and its response.
pub(crate) struct Exchange {
    pub(crate) path: String,
    pub(crate) request: Value,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Script {
    /// Replies as a provider did, byte for byte, from a file that [`Stage::record`](crate::Stage::record) wrote. A request gets
    /// the response of the first recorded request that equals it and was not replied to yet. Any other request is refused with
    /// status 400 and the first difference: see [`Stage::refusals`](crate::Stage::refusals).
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a cassette.
    pub fn replay(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let wrong = |what: String| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()))
        };
        let failed =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let is_file = fs::metadata(path).map_err(failed)?.is_file();
        let mut text = String::new();
        if is_file {
            // The file may grow, or become another one, in the meantime.
            let file = fs::File::open(path).map_err(failed)?;
            file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
        }
        if !is_file || text.len() as u64 > MAX_BYTES {
            return Err(wrong(format!("it is no file of at most {MAX_BYTES} bytes")));
        }
        let file: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let listed = file["exchanges"].as_array().ok_or_else(|| {
            wrong(
                "found no list `exchanges`, expected a file that `Stage::record` wrote".to_owned(),
            )
        })?;
        let exchange = |(index, value)| {
            Exchange::from_value(value).ok_or_else(|| {
                wrong(format!("exchange {index} is not as `Stage::record` writes it"))
            })
        };
        let left: VecDeque<Exchange> =
            listed.iter().enumerate().map(exchange).collect::<io::Result<_>>()?;
        let count = left.len();
        let left = Arc::new(Mutex::new(left));
        let script = (0..count).fold(Self::new(), |script, _| {
            let left = Arc::clone(&left);
            script.then(move |received| {
                reply(&mut left.lock().unwrap_or_else(PoisonError::into_inner), received)
            })
        });
        Ok(script)
    }
}

/// Takes the response to a request out of those that are left.
fn reply(left: &mut VecDeque<Exchange>, received: &ReceivedRequest) -> Reply {
    let (path, request) = without_secrets(received);
    let equal = |exchange: &Exchange| exchange.path == path && exchange.request == request;
    if let Some(index) = left.iter().position(equal)
        && let Some(exchange) = left.remove(index)
    {
        let reply = Reply::body(exchange.status, exchange.body);
        return exchange
            .headers
            .into_iter()
            .fold(reply, |reply, (name, value)| reply.with_header(name, value));
    }
    let difference = match left.front() {
        None => "no recorded request is left".to_owned(),
        Some(next) if next.path != path => {
            format!("found the path `{path}`, recorded is `{}`", next.path)
        }
        Some(next) => difference(&next.request, &request, &mut String::new())
            .unwrap_or_else(|| "it is not JSON".to_owned()),
    };
    let words = format!("the request was not recorded: {difference}; record the cassette again");
    Reply::body(400, wire::error(received.api, 400, &words)).refusing(words)
}

/// Returns the path and the body of a request without its key.
pub(crate) fn without_secrets(received: &ReceivedRequest) -> (String, Value) {
    let redactor = redactor(received);
    let body = redactor.redacted(&received.text);
    let body = serde_json::from_str(&body).unwrap_or_else(|_| Value::from(body.as_ref()));
    (redactor.redacted(&received.path).into_owned(), body)
}

/// Returns a redactor of the key of a request.
pub(crate) fn redactor(received: &ReceivedRequest) -> Redactor {
    let query = received.path.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let in_query = query.split('&').filter_map(|pair| pair.split_once('='));
    let is_secret = |name: &str| SECRET_KEYS.iter().any(|key| key.eq_ignore_ascii_case(name));
    // A provider may repeat it decoded.
    let in_query = in_query
        .filter(|(name, _)| is_secret(name))
        .flat_map(|(_, key)| [key.to_owned(), percent_decode_str(key).decode_utf8_lossy().into()]);
    let in_headers =
        received.headers.iter().filter(|(name, _)| SECRET_HEADERS.contains(&name.as_str()));
    let in_headers = in_headers
        .flat_map(|(_, value)| secrets_in_header(value).into_iter().chain([value.clone()]));
    Redactor::new(in_query.chain(in_headers))
}

/// Describes the first difference of two JSON values. `at` is a JSON Pointer (RFC 6901).
fn difference(recorded: &Value, found: &Value, at: &mut String) -> Option<String> {
    let length = at.len();
    let pairs: Vec<(String, &Value, &Value)> = match (recorded, found) {
        (Value::Object(recorded), Value::Object(found)) => {
            let keys =
                recorded.keys().chain(found.keys().filter(|key| !recorded.contains_key(*key)));
            let of = |key: &String| {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                (
                    escaped,
                    recorded.get(key).unwrap_or(&Value::Null),
                    found.get(key).unwrap_or(&Value::Null),
                )
            };
            keys.map(of).collect()
        }
        (Value::Array(recorded), Value::Array(found)) if recorded.len() == found.len() => {
            let both = recorded.iter().zip(found).enumerate();
            both.map(|(index, (one, other))| (index.to_string(), one, other)).collect()
        }
        _ if recorded == found => return None,
        _ => {
            return Some(format!(
                "at `{at}` found {}, recorded is {}",
                excerpt(found),
                excerpt(recorded)
            ));
        }
    };
    pairs.into_iter().find_map(|(key, recorded, found)| {
        at.truncate(length);
        at.push('/');
        at.push_str(&key);
        difference(recorded, found, at)
    })
}

/// The beginning of a value's text.
fn excerpt(value: &Value) -> String {
    const MOST: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Exchange {
    fn from_value(value: &Value) -> Option<Self> {
        let (request, response) = (&value["request"], &value["response"]);
        let header =
            |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let body = match &response["body"] {
            Value::Array(lines) => {
                let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
                lines?.join("\n").into_bytes()
            }
            body => BASE64.decode(body.get("base64")?.as_str()?).ok()?,
        };
        Some(Self {
            path: request["path"].as_str()?.to_owned(),
            request: request.get("body")?.clone(),
            status: u16::try_from(response["status"].as_u64()?).ok()?,
            headers: response["headers"].as_object()?.iter().map(header).collect::<Option<_>>()?,
            body,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Api;

    #[test]
    fn the_key_of_a_request_is_found_encoded_and_decoded_and_not_shown_by_debug() {
        let header = ("authorization".to_owned(), "Bearer sk-0123456789".to_owned());
        let received = ReceivedRequest {
            number: 0,
            api: Api::Gemini,
            path: "/models?Key=ab%2Fcdefghijklm".to_owned(),
            headers: vec![header],
            text: r#""sk-0123456789""#.to_owned(),
            body: Value::from("sk-0123456789"),
        };
        let repeated = redactor(&received).redacted("ab/cdefghijklm ab%2Fcdefghijklm").into_owned();
        let shown = format!("{received:?} {repeated}");
        for secret in ["cdefghijklm", "0123456789"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
